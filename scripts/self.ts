import { runSelf } from 'bench-lab/commands/self';

process.exitCode = await runSelf(process.argv.slice(2));
