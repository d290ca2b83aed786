import { runPreflight } from 'bench-http/commands/preflight';

process.exitCode = await runPreflight(process.argv.slice(2));
