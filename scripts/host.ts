import { runHost } from 'bench-cluster/commands/host';

process.exitCode = await runHost();
