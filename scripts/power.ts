import { runPower } from 'bench-http/commands/power';

process.exitCode = await runPower(process.argv.slice(2));
