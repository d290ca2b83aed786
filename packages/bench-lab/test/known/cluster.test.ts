import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cluster, ClusterFile } from 'bench-model/cluster';
import { readCluster } from 'bench-targets/catalogue/cluster';
import type { LoadEngine, LoadSession } from 'bench-load/engine';
import { openCluster } from 'bench-cluster/cluster';
import type { OpenCluster } from 'bench-http/cluster';
import { nameHosts } from 'bench-cluster/inspect';
import { provideProgram } from 'bench-cluster/program';
import { choosePlacement } from 'bench-machine/placement';
import { environHas, familyOf, listPids, readProcess, readText } from 'bench-machine/procfs';
import { sum } from 'bench-statistics/numbers';
import { Place } from '../../../bench/test/cli/cli.ts';
import { startLocalNodes, type LocalNodes } from '../../../bench-cluster/test/nodes.ts';
import { needs } from '../../testing/needs.ts';
import { listConnectionsTo } from './established.ts';
import { accountOf, ASKED, loadOf, openRig, reasonOf, reasonsOf, sumOf, type Seen } from './rig.ts';
import { testSpread } from './spread.ts';

const ray = needs(() => provideProgram());
const rig = openRig();
const folder = mkdtempSync(join(tmpdir(), 'bench-cluster-'));
/** Its state is that of programs on the hosts. */
const place = new Place();

/** One is the server's; the others generate load. */
const NODES = 3;
let nodes: LocalNodes | undefined;
/** Every process that sent load. */
const senders = new Set<number>();

beforeAll(async () => {
  if (ray.why === undefined) nodes = await startLocalNodes(NODES, { BENCH_STATE: place.state });
}, 300_000);

afterAll(async () => {
  await nodes?.[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function isRunning(pid: number): boolean {
  const found = readProcess(pid);
  return found !== undefined && !found.zombie;
}

/** Writes the file of a cluster: two generators, or what differs from that. */
function write(file: Partial<ClusterFile>): string {
  const path = join(mkdtempSync(join(folder, 'file-')), 'bench.cluster.json');
  const content = {
    address: nodes?.address,
    generators: 2,
    server: '127.0.0.1',
    // On a busy machine an order may take this long.
    leadMs: 1000,
    skewMs: 1000,
    ...file,
  };
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** Reads the file of a cluster whose hosts send load. */
function readSpec(path: string): Cluster {
  const read = readCluster(path);
  if (!('cluster' in read)) throw new Error('the file spreads rounds');
  return read.cluster;
}

/** A cluster that trials have joined, and its file. */
interface Joined {
  path: string;
  opened: OpenCluster;
}

/**
 * One trial by hosts of the cluster. `onOpened` is called when the window has opened, with the generators that this machine
 * runs and the port of the server.
 */
async function measureBy(
  { path, opened }: Joined,
  onOpened: (pids: number[], port: number) => unknown,
): Promise<Seen> {
  const placed = await choosePlacement({ serverCores: 1, generators: 1 });
  const engine = opened.engine.create({ placed, token: '' });
  const watched: LoadEngine = {
    ...engine,
    open: (spec, processes) => watch(engine.open(spec, processes), (pids) => onOpened(pids, spec.port)),
  };
  return rig.measure({
    // It answers slowly: load at full speed costs much CPU.
    planted: ['--delay-ms', '5'],
    bench: ['--cluster', path, '--connections', '12', '--duration', '1'],
    wrap: (effects) => ({ ...effects, load: () => watched }),
  });
}

/** Calls `onOpened` with the generators of a session when its window opens. */
function watch(session: LoadSession, onOpened: (pids: number[]) => unknown): LoadSession {
  const fire = session.fire.bind(session);
  session.fire = (window, mark) =>
    fire(window, (edge) => {
      const agents = session.pids;
      const pids = [...familyOf(agents)].filter((pid) => !agents.includes(pid));
      for (const pid of pids) senders.add(pid);
      if (edge === 'opened') void onOpened(pids);
      mark(edge);
    });
  return session;
}

/** The programs that agents have started. */
function programs(): number[] {
  return listPids().filter((pid) => {
    const words = (readText(`/proc/${pid}/cmdline`) ?? '').split('\0');
    return words.includes('host') && environHas(pid, 'BENCH_STATE', place.state);
  });
}

describe('a trial by hosts of a cluster', () => {
  let joined: Joined;
  /** By the name of the host. */
  let addresses: Record<string, string[]>;
  beforeAll(async () => {
    if (ray.why !== undefined) return;
    const host = { hostname: hostname(), address: '127.0.0.1' };
    const names = nameHosts(Array.from({ length: NODES }, () => host));
    addresses = Object.fromEntries(
      names.map((name, index) => [name, [`127.0.1.${index + 1}`, `127.0.2.${index + 1}`]]),
    );
    const path = write({ addresses });
    joined = { path, opened: await openCluster(readSpec(path)) };
  }, 60_000);
  afterAll(() => joined?.opened[Symbol.asyncDispose]());

  it('counts what the server counts, and says who sent how much from which addresses', async () => {
    let sources: string[] = [];
    const seen = await measureBy(joined, (_, port) => {
      sources = listConnectionsTo(port).map(({ source }) => source);
    });
    const { counts, lifetime, cluster, connect } = loadOf(seen);
    expect(reasonsOf(seen)).toEqual([]);
    expect(seen.trial.status).not.toBe('failed');
    expect(sumOf(counts)).toBe(counts.sent);
    expect(accountOf(seen).requests.answered.ok).toBe(lifetime.ok + ASKED);
    expect(connect).toMatchObject({ planned: 12, established: 12 });
    expect(cluster?.parts.map(({ connections }) => connections)).toEqual([6, 6]);
    expect(sum((cluster?.parts ?? []).map((part) => part.counts.ok))).toBe(counts.ok);
    expect(new Set(cluster?.hosts.map(({ name }) => name)).size).toBe(2);
    expect(sources).toHaveLength(12);
    const sending = cluster?.hosts.flatMap(({ name }) => addresses[name] ?? []) ?? [];
    expect(sending).toHaveLength(4);
    expect([...new Set(sources)].toSorted()).toEqual(sending.toSorted());
  });

  it('fails if a generator is killed, and keeps what the others sent', async () => {
    const seen = await measureBy(joined, ([first]) => first !== undefined && process.kill(first, 'SIGKILL'));
    expect(seen.trial.status).toBe('failed');
    const { missing = [], parts = [] } = loadOf(seen).cluster ?? {};
    expect([missing.length, parts.length]).toEqual([1, 1]);
    expect(reasonOf(seen, 'host-lost').text).toContain(
      `${missing[0]?.host} did not report what one of its 2 generators sent`,
    );
    expect(loadOf(seen).counts.ok).toBe(parts[0]?.counts.ok);
  });

  it('leaves no generator behind', async () => {
    await joined.opened[Symbol.asyncDispose]();
    expect(senders.size).toBeGreaterThan(0);
    expect([...senders].filter(isRunning)).toEqual([]);
  });
});

describe('a run that is spread over hosts of a cluster', () => {
  testSpread({ place, nodes: () => nodes, programs, last: NODES - 1 });
});
