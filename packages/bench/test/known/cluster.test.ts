import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterFile } from '../../src/catalogue/cluster/definition.ts';
import { readCluster } from '../../src/catalogue/cluster/file.ts';
import { readStacks } from '../../src/catalogue/stacks.ts';
import type { Draw } from '../../src/catalogue/workloads/workload.ts';
import type { LoadEngine, LoadSession } from '../../src/load/engine.ts';
import { openCluster, type OpenCluster } from '../../src/load/cluster/cluster.ts';
import { inspectCluster } from '../../src/load/cluster/inspect.ts';
import { ClusterDriver } from '../../src/load/cluster/driver.ts';
import { provideProgram } from '../../src/load/cluster/program.ts';
import { choosePlacement } from '../../src/machine/placement.ts';
import {
  addressesOf,
  environHas,
  familyOf,
  listPids,
  readProcess,
  readText,
} from '../../src/machine/procfs.ts';
import type { Target } from '../../src/model.ts';
import { sum } from '../../src/numbers.ts';
import type { CompanionNeeds, RunningCompanion } from '../../src/services/companion.ts';
import { findDistant } from '../../src/services/index.ts';
import { startLocalNodes, type LocalNodes } from '../load/cluster/nodes.ts';
import { needs } from '../needs.ts';
import { samplePlan } from '../samples.ts';
import { openToken } from './leftovers.ts';
import { accountOf, ASKED, loadOf, openRig, reasonOf, reasonsOf, sumOf, type Seen } from './rig.ts';

const ray = needs(() => provideProgram());
const rig = openRig();
const folder = mkdtempSync(join(tmpdir(), 'bench-cluster-'));
/** The state of programs on the hosts. */
const programState = mkdtempSync(join(folder, 'state-'));
const token = openToken();
const vanilla = readStacks().find(({ name }) => name === 'vanilla');

let nodes: LocalNodes | undefined;
/** Every process that sent load. */
const senders = new Set<number>();

beforeAll(async () => {
  if (ray.why === undefined) nodes = await startLocalNodes(4, { BENCH_STATE: programState });
}, 300_000);

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await nodes?.[Symbol.asyncDispose]();
}, 60_000);

/** The local addresses of the connections to a port, from `/proc/net/tcp`: in hex, the last byte first. */
function sourcesOf(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((line) => {
    const [, local = '', remote = '', state] = line.trim().split(/\s+/);
    if (state !== ESTABLISHED || !remote.endsWith(suffix)) return [];
    const bytes = local.slice(0, 8).match(/../g) ?? [];
    return bytes
      .toReversed()
      .map((byte) => Number.parseInt(byte, 16))
      .join('.');
  });
}

const ESTABLISHED = '01';

function isRunning(pid: number): boolean {
  const found = readProcess(pid);
  return found !== undefined && !found.zombie;
}

/** A cluster that trials have joined, and the file that describes it. */
interface Joined extends AsyncDisposable {
  path: string;
  engine: OpenCluster['engine'];
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
function readSpec(path: string): Parameters<typeof openCluster>[0] {
  const read = readCluster(path);
  if (!('cluster' in read)) throw new Error('the file spreads rounds');
  return read.cluster;
}

async function joinCluster(file: Partial<ClusterFile> = {}): Promise<Joined> {
  const path = write(file);
  const cluster = await openCluster(readSpec(path));
  return {
    path,
    engine: cluster.engine,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** One trial by hosts of the cluster. */
interface ByHosts {
  planted?: string[];
  /** Called when the first window has opened, with the generators that this machine runs and the port of the server. */
  onOpened?: (pids: number[], port: number) => unknown;
}

async function measureBy(
  { path, engine: found }: Joined,
  { planted = [], onOpened }: ByHosts = {},
): Promise<Seen> {
  const placed = await choosePlacement({ serverCores: 1, generators: 1 });
  const engine = found.create({ placed, token: '' });
  const watched: LoadEngine = {
    ...engine,
    open: (spec, processes) => watch(engine.open(spec, processes), (pids) => onOpened?.(pids, spec.port)),
  };
  return rig.measure({
    planted,
    bench: ['--cluster', path, '--connections', '12', '--duration', '1'],
    wrap: (effects) => ({ ...effects, load: () => watched }),
  });
}

/** Joins the cluster for one trial. */
async function measure({ file, ...asked }: ByHosts & { file?: Partial<ClusterFile> } = {}): Promise<Seen> {
  await using joined = await joinCluster(file);
  // The cluster is left when the trial has ended.
  return await measureBy(joined, asked);
}

/** The names of all hosts that can generate load. */
async function namesOfGenerators(): Promise<string[]> {
  const cluster = readSpec(write({ generators: 3 }));
  await using driver = await ClusterDriver.join(await provideProgram(), cluster.address);
  const hosts = await inspectCluster(driver, cluster);
  return hosts.filter(({ role }) => role === cluster.roles.generator).map(({ name }) => name);
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

describe('trials by hosts that stay from one to the next', () => {
  let joined: Joined;
  /** By the name of the host. */
  let addresses: Record<string, string[]>;
  beforeAll(async () => {
    if (ray.why !== undefined) return;
    const names = await namesOfGenerators();
    addresses = Object.fromEntries(
      names.map((name, index) => [name, [`127.0.1.${index + 1}`, `127.0.2.${index + 1}`]]),
    );
    joined = await joinCluster({ addresses });
  }, 60_000);
  afterAll(() => joined?.[Symbol.asyncDispose]());

  it('counts what the server counts, and says who sent how much from which addresses', async () => {
    let sources: string[] = [];
    const seen = await measureBy(joined, {
      onOpened: (_, port) => {
        sources = sourcesOf(readText('/proc/net/tcp') ?? '', port);
      },
    });
    const { counts, lifetime, cluster, connect } = loadOf(seen);
    expect(reasonsOf(seen)).toEqual([]);
    expect(seen.trial.status).not.toBe('failed');
    expect(sumOf(counts)).toBe(counts.sent);
    expect(accountOf(seen).requests.answered.ok).toBe(lifetime.ok + ASKED);
    expect(connect).toMatchObject({ asked: 12, stood: 12 });
    expect(cluster?.parts.map(({ connections }) => connections)).toEqual([6, 6]);
    expect(sum((cluster?.parts ?? []).map((part) => part.counts.ok))).toBe(counts.ok);
    expect(new Set(cluster?.hosts.map(({ name }) => name)).size).toBe(2);
    expect(sources).toHaveLength(12);
    // Any two of the three hosts send.
    const sending = cluster?.hosts.flatMap(({ name }) => addresses[name] ?? []) ?? [];
    expect(sending).toHaveLength(4);
    expect([...new Set(sources)].toSorted()).toEqual(sending.toSorted());
  });

  it('fails if the server dies', async () => {
    const seen = await measureBy(joined, { planted: ['--die-after-requests', '300'] });
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial.reasons[0]?.text).toContain('the server died under load');
  });

  it('fails if a generator is killed, and keeps what the others sent', async () => {
    const seen = await measureBy(joined, {
      onOpened: ([first]) => first !== undefined && process.kill(first, 'SIGKILL'),
    });
    expect(seen.trial.status).toBe('failed');
    const { missing = [], parts = [] } = loadOf(seen).cluster ?? {};
    expect([missing.length, parts.length]).toEqual([1, 1]);
    expect(reasonOf(seen, 'generators-missing').text).toContain(`${missing[0]?.host}: the generator on`);
    expect(loadOf(seen).counts.ok).toBe(parts[0]?.counts.ok);
  });
});

/** The programs that agents have started. */
function programs(): number[] {
  return listPids().filter((pid) => {
    const words = (readText(`/proc/${pid}/cmdline`) ?? '').split('\0');
    return (
      words.some((word) => word.endsWith('scripts/host.ts')) && environHas(pid, 'BENCH_STATE', programState)
    );
  });
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
      bench: [...gather.split(' '), '--connections', '4', '--duration', '1'],
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
    const seen = await measureGather((running) => {
      for (const pid of familyOf(running)) kept.add(pid);
      listens = addressesOf(familyOf(running)).map(({ address }) => address);
    });
    expect(reasonsOf(seen)).toEqual([]);
    const { trial } = seen;
    expect(listens).toEqual([nodes?.address.split(':')[0]]);
    expect(trial.companions?.upstream).toMatchObject({
      kind: 'embedded',
      host: { cores: expect.any(Number) },
    });
    const used = trial.status === 'failed' ? undefined : trial.measured.companions?.upstream;
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
  it('fails if the order to fire arrives too late', async () => {
    const seen = await measure({ file: { leadMs: 0.001, skewMs: 0.001 } });
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial.reasons[0]?.text).toMatch(/got its order to fire [\d.]+ ms too late/);
  });

  it('fails if a host has another checkout', async () => {
    const other = join(folder, 'other');
    mkdirSync(join(other, 'packages/bench/src'), { recursive: true });
    writeFileSync(join(other, 'packages/bench/src/a.ts'), '');
    writeFileSync(join(other, 'pnpm-lock.yaml'), '');
    const seen = await measure({ file: { checkout: other } });
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial.reasons[0]?.text).toMatch(/: its checkout [\da-f]{12} differs from [\da-f]{12} here/);
  });

  it('fails if a host is lost; later trials need fewer hosts', async () => {
    const lost = await measure({ file: { generators: 3 }, onOpened: () => nodes?.remove(2) });
    expect(lost.trial.status).toBe('failed');
    expect(reasonOf(lost, 'generators-missing').text).toContain('its host was lost');
    expect(loadOf(lost).cluster?.parts).toHaveLength(2);
    const few = await measure({ file: { generators: 3, deadlineSeconds: 2 } });
    expect(few.trial.status).toBe('failed');
    expect(few.trial.reasons[0]?.text).toContain('2 of 3 hosts with the role generator');
    const enough = await measure();
    expect(reasonsOf(enough)).toEqual([]);
    expect(enough.trial.status).not.toBe('failed');
  });

  it('leaves no generator behind', () => {
    expect(senders.size).toBeGreaterThan(0);
    expect([...senders].filter(isRunning)).toEqual([]);
  });
});
