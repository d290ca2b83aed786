import { runCluster } from 'bench-cluster/commands/cluster';

process.exitCode = await runCluster(process.argv.slice(2));
