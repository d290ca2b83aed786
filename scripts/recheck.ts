import { runRecheck } from 'bench-http/commands/recheck';

process.exitCode = await runRecheck(process.argv.slice(2));
