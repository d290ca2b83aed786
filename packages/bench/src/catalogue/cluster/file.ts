/** Reads `bench.cluster.json`. */
import { readFileSync } from 'node:fs';
import { BenchError } from '../../errors.ts';
import { createCheck } from '../../json-schema.ts';
import { describeSchemaError, readJsonFile } from '../json-file.ts';
import type { Cluster, ClusterFile } from './definition.ts';

const SCHEMA = new URL('../../../schema/cluster.schema.json', import.meta.url);
const HINT = 'docs/cluster.md shows a complete bench.cluster.json';

/** The defaults of a file. */
const DEFAULTS = {
  roles: { server: 'server', generator: 'generator' },
  processes: 1,
  leadMs: 500,
  skewMs: 100,
  deadlineSeconds: 10,
  connectSeconds: 30,
};

/**
 * Reads a file, and returns the cluster of a plan and the numbers of connections that it names. Throws a usage error with
 * file and line if it is not right.
 */
export function readCluster(file: string): { cluster: Cluster; connections?: number[] } {
  const read = readJsonFile(file, { missing: 'e.g. --cluster bench.cluster.json', wrong: HINT });
  const schema = JSON.parse(readFileSync(SCHEMA, 'utf8')) as object;
  const [first] = createCheck({ schema, options: { strict: false, verbose: true } })(read.value);
  if (first !== undefined)
    throw new BenchError('usage', describeSchemaError(read, first, 'the cluster'), HINT);
  const { $schema: _schema, connections, ...given } = read.value as ClusterFile;
  const cluster = { ...DEFAULTS, ...given };
  if (cluster.skewMs > cluster.leadMs) {
    throw new BenchError(
      'usage',
      `${read.at(['skewMs'])}: "skewMs" ${cluster.skewMs} is longer than the lead of ${cluster.leadMs} ms`,
      'orders that arrive after the start are refused: raise "leadMs"',
    );
  }
  return { cluster, ...(connections === undefined ? {} : { connections }) };
}
