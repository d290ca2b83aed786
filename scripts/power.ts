import { runPower } from 'bench-lab/commands/power';

process.exitCode = await runPower(process.argv.slice(2));
