import { runCluster } from 'bench-http/commands/cluster';

process.exitCode = await runCluster(process.argv.slice(2));
