import { runCi } from 'bench-http/commands/ci';

process.exitCode = await runCi(process.argv.slice(2));
