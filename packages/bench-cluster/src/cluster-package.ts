/** What `bench-http` loads of this package for a run on several hosts. */
import { measureSpread } from './spread.ts';
import type { ClusterPackage } from 'bench-http/cluster';
import { openCluster } from './cluster.ts';

({ openCluster, measureSpread }) satisfies ClusterPackage;

export { openCluster, measureSpread };
