import { runStacks } from 'bench-http/commands/stacks';

process.exitCode = await runStacks(process.argv.slice(2));
