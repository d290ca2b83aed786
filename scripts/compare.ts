import { runCompare } from 'bench-http/commands/compare';

process.exitCode = await runCompare(process.argv.slice(2));
