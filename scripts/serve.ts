import { runServe } from 'bench-http/commands/serve';

process.exitCode = await runServe(process.argv.slice(2));
