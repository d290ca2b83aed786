/** What a run on several hosts needs of `bench-cluster`, which builds on this package and is found beside it. */
import type { Job, MeasuredRun } from './conduct/job.ts';
import type { FoundEngine } from 'bench-load/engines';
import type { Cluster } from 'bench-model/cluster';
import { extname } from 'node:path';

/** A cluster that a run has joined. Disposing leaves it. */
export interface OpenCluster extends AsyncDisposable {
  engine: FoundEngine;
  /** The address that servers listen on. */
  host: string;
}

/** The package that speaks to other hosts. */
export interface ClusterPackage {
  /** Joins the cluster of a plan. Throws a usage error if that is not possible. */
  openCluster: (spec: Cluster, log?: (line: string) => void) => Promise<OpenCluster>;
  /** Measures whole rounds on other hosts, and stores the run here. */
  measureSpread: (job: Job) => Promise<MeasuredRun>;
}

/** Loads it. */
export async function loadCluster(): Promise<ClusterPackage> {
  const module = new URL(
    `../../bench-cluster/src/cluster-package${extname(import.meta.url)}`,
    import.meta.url,
  );
  return (await import(module.href)) as ClusterPackage;
}
