import { runHost } from 'bench-http/commands/host';

process.exitCode = await runHost();
