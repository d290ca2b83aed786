import { runSelf } from 'bench-http/commands/self';

process.exitCode = await runSelf(process.argv.slice(2));
