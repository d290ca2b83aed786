import { runClean } from 'bench-http/commands/clean';

process.exitCode = await runClean(process.argv.slice(2));
