import { runInit } from 'bench-http/commands/init';

process.exitCode = await runInit(process.argv.slice(2));
