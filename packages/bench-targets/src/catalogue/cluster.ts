/** Reads `bench.cluster.json`. */
import { readFileSync } from 'node:fs';
import { BenchError } from 'bench-model/errors';
import { createCheck } from 'bench-model/json-schema';
import { describeSchemaError, readJsonFile } from './json-file.ts';
import type { Cluster, ClusterFile, Spread } from 'bench-model/cluster';

const SCHEMA = new URL('../../../bench-model/schema/cluster.schema.json', import.meta.url);
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
const DEFAULT_THRESHOLD = 0.05;

/** The fields that say how several hosts load one server. */
const OF_LOAD = [
  'generators',
  'processes',
  'leadMs',
  'skewMs',
  'connectSeconds',
  'server',
  'addresses',
] as const satisfies (keyof ClusterFile)[];

/** A file as plans see it: hosts that send the load of each trial, or hosts that the rounds are spread over. */
export type ReadCluster = ({ cluster: Cluster } | { spread: Spread }) & { connections?: number[] };

/**
 * Reads a file, and returns its part of a plan and the numbers of connections that it names. Throws a usage error with
 * file and line if it is not right.
 */
export function readCluster(file: string): ReadCluster {
  const read = readJsonFile(file, { missing: 'e.g. --cluster bench.cluster.json', wrong: HINT });
  const schema = JSON.parse(readFileSync(SCHEMA, 'utf8')) as object;
  const [first] = createCheck({ schema })(read.value);
  if (first !== undefined)
    throw new BenchError('usage', describeSchemaError(read, first, 'the cluster'), HINT);
  const { $schema: _schema, connections, spread, generators, ...given } = read.value as ClusterFile;
  const roles = { ...DEFAULTS.roles, ...given.roles };
  const named = connections === undefined ? {} : { connections };
  const refuse = (field: string, problem: string, hint: string): never => {
    throw new BenchError('usage', `${read.at(field.split('.'))}: ${problem}`, hint);
  };
  if (spread !== undefined) {
    const wrong = OF_LOAD.find((field) => (read.value as ClusterFile)[field] !== undefined);
    if (wrong !== undefined) {
      return refuse(
        wrong,
        `"${wrong}" has no effect with "spread", whose hosts load their own servers`,
        `omit "${wrong}", or "spread"`,
      );
    }
    const beside = Object.keys(roles).find((name) => !Object.hasOwn(DEFAULTS.roles, name));
    if (beside !== undefined) {
      return refuse(
        `roles.${beside}`,
        `the role "${beside}" has no effect with "spread", whose hosts run whole rounds`,
        `omit "${beside}" from "roles", or "spread"`,
      );
    }
    const { address, deadlineSeconds = DEFAULTS.deadlineSeconds, checkout } = given;
    return {
      spread: {
        address,
        role: roles.server,
        hosts: spread.hosts,
        threshold: spread.threshold ?? DEFAULT_THRESHOLD,
        deadlineSeconds,
        ...(checkout === undefined ? {} : { checkout }),
      },
      ...named,
    };
  }
  if (generators === undefined) {
    return refuse(
      'address',
      'neither "generators" nor "spread" says what the hosts do',
      'e.g. "generators": 2',
    );
  }
  const cluster = { ...DEFAULTS, ...given, generators, roles };
  if (cluster.skewMs > cluster.leadMs) {
    return refuse(
      'skewMs',
      `"skewMs" ${cluster.skewMs} is longer than the lead of ${cluster.leadMs} ms`,
      'orders that arrive after the start are refused: raise "leadMs"',
    );
  }
  return { cluster, ...named };
}
