/** Reads `bench.cluster.json`. */
import { UsageError } from 'bench-model/errors';
import { checkBy } from 'bench-model/json-schema';
import { present } from 'bench-model/options';
import { documentOf } from 'bench-machine/home';
import { readJsonFile, refuseErrors } from './json-file.ts';
import type { Cluster, ClusterFile, Spread } from 'bench-model/cluster';

const HINT = `${documentOf('guides/several-machines.md')} shows a complete bench.cluster.json`;

/** The defaults of a file. */
const ROLES = { server: 'server', generator: 'generator' };
const DEADLINE = { deadlineSeconds: 10 };
const PACE = { processes: 1, leadMs: 500, skewMs: 100, connectSeconds: 30 };
const DEFAULT_THRESHOLD = 0.05;

/** A file as plans see it: hosts that send the load of each trial, or hosts that the rounds are spread over. */
type ReadCluster = ({ cluster: Cluster } | { spread: Spread }) & { connections?: number[] };

/**
 * Reads a file, and returns its part of a plan and the numbers of connections that it names. Throws a usage error with
 * file and line if it is not right.
 */
export function readCluster(file: string): ReadCluster {
  const read = readJsonFile(file, { missing: 'e.g. --cluster bench.cluster.json', wrong: HINT });
  refuseErrors(checkBy('cluster')(read.value), read, { what: 'the cluster', hint: HINT });
  const { $schema: _schema, connections, roles: given, ...fields } = read.value as ClusterFile;
  const roles = { ...ROLES, ...given };
  if ('spread' in fields) {
    const { spread, ...others } = fields;
    const hosts = { threshold: DEFAULT_THRESHOLD, ...spread, role: roles.server };
    return { spread: { ...DEADLINE, ...hosts, ...others }, ...present({ connections }) };
  }
  const cluster = { ...DEADLINE, ...PACE, ...fields, roles };
  if (cluster.skewMs > cluster.leadMs)
    throw new UsageError(
      `${read.at(['skewMs'])}: "skewMs" ${cluster.skewMs} is longer than the lead of ${cluster.leadMs} ms`,
      'orders that arrive after the start are refused: raise "leadMs"',
    );
  return { cluster, ...present({ connections }) };
}
