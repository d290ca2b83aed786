import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cluster, ClusterFile } from 'bench-model/cluster';
import { readCluster } from 'bench-targets/catalogue/cluster';
import { readStacks } from 'bench-targets/catalogue/stacks';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import type { LoadEngine, LoadSession } from 'bench-load/engine';
import { openCluster } from 'bench-cluster/cluster';
import type { OpenCluster } from 'bench-http/cluster';
import { nameHosts } from 'bench-cluster/inspect';
import { provideProgram } from 'bench-cluster/program';
import { choosePlacement } from 'bench-machine/placement';
import { addressesOf, environHas, familyOf, listPids, readProcess, readText } from 'bench-machine/procfs';
import type { Target } from 'bench-model/target';
import { sum } from 'bench-statistics/numbers';
import type { CompanionNeeds, RunningCompanion } from 'bench-http/services/companion';
import { findDistant } from 'bench-http/services/index';
import { Place } from '../../../bench/test/cli/cli.ts';
import { startLocalNodes, type LocalNodes } from '../../../bench-cluster/test/nodes.ts';
import { needs } from '../../testing/needs.ts';
import { samplePlan } from '../../testing/samples.ts';
import { openToken } from './leftovers.ts';
import { listConnectionsTo } from './established.ts';
import { accountOf, ASKED, loadOf, openRig, reasonOf, reasonsOf, sumOf, type Seen } from './rig.ts';
import { testSpread } from './spread.ts';

const ray = needs(() => provideProgram());
const rig = openRig();
const folder = mkdtempSync(join(tmpdir(), 'bench-cluster-'));
/** Its state is that of programs on the hosts. */
const place = new Place();
const token = openToken();
const vanilla = readStacks().find(({ name }) => name === 'vanilla');

/** One is the server's; the others generate load, or have companions. */
const NODES = 4;
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

function useOf({ trial }: Seen) {
  return trial.status === 'failed' ? undefined : trial.measured.companions?.upstream;
}

describe('companions on other hosts', () => {
  let cluster: OpenCluster;
  let upstream: RunningCompanion;
  const roles = { upstream: 'generator', database: 'generator' };
  const kept = new Set<number>();
  const needsOf = (line: string): CompanionNeeds => ({
    ...samplePlan(line),
    cluster: readSpec(write({ generators: 1, roles })),
  });
  const start = async (line: string): Promise<RunningCompanion> => {
    const [found] = await findDistant(needsOf(line), cluster.companions);
    if (found === undefined) throw new Error('it is not needed');
    return found.start({ token, folder, placed: {} });
  };
  const gather = '--workload gather --upstream embedded --param fixtures=2 --param items=3';
  /** One trial; `onOpened` gets the programs of the hosts when the window opens. */
  const measureGather = (onOpened: (running: number[]) => void = () => {}): Promise<Seen> => {
    const { engine } = cluster;
    return rig.measure({
      planted: 'node',
      ...(vanilla && { stack: vanilla }),
      companions: [upstream],
      bench: [...gather.split(' '), '--connections', '1', '--duration', '1'],
      wrap: (effects) => ({
        ...effects,
        load() {
          const created = engine.create({
            placed: { placement: { kind: 'unpinned' }, generator: [] },
            token,
          });
          return {
            ...created,
            open: (spec, processes) => watch(created.open(spec, processes), () => onOpened(programs())),
          };
        },
      }),
    });
  };

  beforeAll(async () => {
    if (ray.why !== undefined) return;
    cluster = await openCluster(readSpec(write({ generators: 1, roles })), {
      companions: ['upstream', 'database'],
    });
    upstream = await start(gather);
  }, 120_000);
  afterAll(async () => {
    await upstream?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  }, 60_000);

  it('serve on the address of their host, are sampled there, and are named in the record', async () => {
    let listens: string[] = [];
    const measureOnce = () =>
      measureGather((running) => {
        for (const pid of familyOf(running)) kept.add(pid);
        listens = addressesOf(familyOf(running)).map(({ address }) => address);
      });
    let seen = await measureOnce();
    // A host that is too busy to sample the window in time gives no figures of it.
    for (let more = 0; more < 3 && useOf(seen)?.resources === undefined; more++) seen = await measureOnce();
    expect(reasonsOf(seen)).toEqual([]);
    expect(listens).toEqual([nodes?.address.split(':')[0]]);
    expect(seen.trial.companions?.upstream).toMatchObject({
      kind: 'embedded',
      host: { cores: expect.any(Number) },
    });
    const used = useOf(seen);
    expect(used?.resources?.coresUsed).toBeGreaterThan(0);
    expect(used?.requests).toBe(2 * loadOf(seen).lifetime.ok);
  });

  it('fail the trial if their host is lost, and are on a host again in the next', async () => {
    const lost = await measureGather((running) => {
      for (const pid of familyOf(running)) kept.add(pid);
      for (const pid of running) process.kill(readProcess(pid)?.ppid ?? 0, 'SIGKILL');
    });
    expect(lost.trial.status).toBe('failed');
    const name = lost.trial.companions?.upstream?.host?.name;
    expect(reasonOf(lost, 'host-lost').text).toContain(
      `${name} did not keep the upstream running: its host was lost`,
    );
    expect(loadOf(lost).counts.sent).toBeGreaterThan(0);
    const next = await measureGather();
    expect(reasonsOf(next)).toEqual([]);
  });

  it('are a database that only the host of the servers reaches, with a password', async () => {
    const database = await start('--workload users');
    try {
      const draw = { table: { rows: [{ name: 'Ada', email: 'ada@example.com' }] } } as unknown as Draw;
      const target = needsOf('').targets[0] as Target;
      await using trial = await database.begin(draw, { id: '1', target, prepared: undefined });
      const url = new URL(trial.env?.['DATABASE_URL'] ?? '');
      expect(url.hostname).toBe(nodes?.address.split(':')[0]);
      const rows = await query(url.href, 'select count(*)::int as rows from users');
      expect(rows).toEqual([{ rows: 1 }]);
      for (const pid of familyOf(programs())) kept.add(pid);
      url.password = 'wrong';
      await expect(query(url.href, 'select 1')).rejects.toThrow('password authentication failed');
    } finally {
      await database[Symbol.asyncDispose]();
    }
  });

  it('leave nothing behind', async () => {
    await upstream[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
    expect(kept.size).toBeGreaterThan(0);
    await pWaitFor(() => [...kept].every((pid) => !isRunning(pid)), { timeout: 20_000 });
    expect(programs()).toEqual([]);
  });
});

async function query(connectionString: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
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
    expect(reasonOf(seen, 'generators-missing').text).toContain(`${missing[0]?.host}: the generator on`);
    expect(loadOf(seen).counts.ok).toBe(parts[0]?.counts.ok);
  });

  it('leaves no generator behind', async () => {
    await joined.opened[Symbol.asyncDispose]();
    expect(senders.size).toBeGreaterThan(0);
    expect([...senders].filter(isRunning)).toEqual([]);
  });
});

describe('a run that is spread over hosts of a cluster', () => {
  // Two are left, of which the run loses one.
  beforeAll(() => nodes?.remove(NODES - 1));
  testSpread({ place, nodes: () => nodes, programs, last: NODES - 2 });
});
