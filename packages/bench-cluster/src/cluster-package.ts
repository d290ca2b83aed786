/** What `bench-http` loads of this package for a run on several hosts. */
import type { ClusterPackage } from 'bench-http/cluster';
import { openCluster } from './cluster.ts';
import { measureSpread } from './commands/spread.ts';

({ openCluster, measureSpread }) satisfies ClusterPackage;

export { openCluster, measureSpread };
