import { runWarm } from 'bench-http/commands/warm';

process.exitCode = await runWarm(process.argv.slice(2));
