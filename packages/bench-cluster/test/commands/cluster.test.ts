import { describe, expect, it } from 'vitest';
import type { Cluster } from 'bench-model/cluster';
import { findProblems } from '../../src/commands/cluster.ts';
import { nameHosts, type CheckedHost } from '../../src/inspect.ts';

const CLUSTER: Cluster = {
  address: '10.0.0.1:6379',
  roles: { server: 'server', generator: 'generator' },
  generators: 2,
  processes: 1,
  leadMs: 500,
  skewMs: 20,
  deadlineSeconds: 10,
  connectSeconds: 30,
};

const HOST: CheckedHost = {
  name: 'b',
  agent: 1,
  task: 'generator',
  role: 'generator',
  isHere: false,
  node: { node: 'n', address: '10.0.0.2', hostname: 'b', resources: ['generator'], alive: true },
  facts: {
    pid: 1,
    release: '6.1',
    cores: 4,
    openFiles: 20_000,
    ports: 28_232,
    load: 0.1,
    niceness: 0,
    node: { path: 'node', version: process.version },
  },
};
const CLOCK = { offsetMs: 3, errorMs: 0.5, roundTripMs: 1 };

function problemsOf(
  connections: number,
  {
    host = {},
    cluster = {},
    errorMs = 0.5,
  }: { host?: Partial<CheckedHost>; cluster?: Partial<Cluster>; errorMs?: number } = {},
): string[] {
  const found = findProblems(
    { ...HOST, ...host },
    { ...CLOCK, errorMs },
    { ...CLUSTER, ...cluster },
    connections,
  );
  return found.map(({ what }) => what);
}

const at = (hostname: string, address: string) => ({ hostname, address });

describe('pnpm cluster check', () => {
  it('finds nothing wrong with a host that can do its part', () => {
    expect(problemsOf(16_000)).toEqual([]);
    expect(problemsOf(16_000, { host: { task: 'server' } })).toEqual([]);
  });

  it('names a host that may not open enough files: the server needs one for each connection', () => {
    expect(problemsOf(40_000)).toEqual([
      'b: a process may open 20000 files, and its share of 40000 connections needs 20200',
    ]);
    expect(problemsOf(40_000, { cluster: { processes: 2 } })).toEqual([]);
    expect(problemsOf(20_000, { host: { task: 'server' } })).toHaveLength(1);
  });

  it('names a host without enough ports, unless it has more addresses', () => {
    const facts = { ...HOST.facts, openFiles: 100_000 };
    expect(problemsOf(60_000, { host: { facts } })).toEqual([
      'b: 28232 ports on 1 address for 30000 connections',
    ]);
    const addresses = { b: ['10.0.0.2', '10.0.0.3'] };
    expect(problemsOf(60_000, { host: { facts }, cluster: { addresses } })).toEqual([]);
  });

  it('names a host whose clock is known too roughly, and one that does not fit', () => {
    expect(problemsOf(10, { errorMs: 30, host: { unfit: 'its Node is v1' } })).toEqual([
      'b: its Node is v1',
      'b: its clock is known only to ± 30.0 ms, and 20 ms are allowed',
    ]);
  });
});

describe('nameHosts', () => {
  it('adds an address or a number only where names are not unique', () => {
    expect(nameHosts([at('a', '1'), at('b', '2'), at('b', '3'), at('c', '4'), at('c', '4')])).toEqual([
      'a',
      'b (2)',
      'b (3)',
      'c #3',
      'c #4',
    ]);
  });
});
