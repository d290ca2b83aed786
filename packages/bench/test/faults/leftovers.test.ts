import { globSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findDatabase } from '../../src/services/database/database.ts';
import type { DatabaseServer } from '../../src/services/database/server.ts';
import { findFreePort } from 'bench-machine/ports';
import { newToken } from 'bench-machine/scratch';
import { PLANTED, USERS, Place, flags, hasProc, until, type Running } from '../cli/cli.ts';

/** Its delays leave the cores to the other tests. */
const DELAYED = ['planted/delays-5-ms', '--stack', PLANTED];
const LONG = flags({ connections: 1, warmup: 0, duration: 60 });
/** An amount, because a busy machine may answer nothing in a short window. */
const SHORT = flags({ connections: 1, amount: 50, warmup: 0, rounds: 1 });

const folder = mkdtempSync(join(tmpdir(), 'bench-leftovers-'));
let database: DatabaseServer;
/** The URL of a database server that no command started. */
let url = '';

beforeAll(async () => {
  database = await (await findDatabase('')).start({ token: newToken(), folder, placed: {} });
  url = database.url;
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function listDatabases(): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select datname as name from pg_database where datname like 'bench%'`,
    );
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Lists everything that a command made and left outside of results and caches. */
async function listOf(place: Place, tokens: string[]): Promise<string[]> {
  return [
    ...place.stateLeft(),
    ...readdirSync(place.temporary).filter((name) => !/^(tsx-|node-compile-cache$)/.test(name)),
    ...tokens.flatMap((token) => globSync(`/sys/fs/cgroup/**/bench-${token}-*`)),
    ...place.pids().map(String),
    ...(await listDatabases()),
  ];
}

const tokensOf = (place: Place): string[] =>
  globSync('*.json', { cwd: place.state }).map((name) => basename(name, '.json'));

/** A command, and the moment from which it has something to leave. */
interface Way {
  script: string;
  args: string[];
  env?: () => Record<string, string>;
  reached: (place: Place, running: Running) => unknown;
}

const hasWork = (place: Place): boolean =>
  globSync('bench-work-*', { cwd: place.temporary }).length > 0 && place.pidsOf('generator.ts').length > 0;

const USERS_OWN = 'bench on the database of a user';

const WAYS: Record<string, Way> = {
  [USERS_OWN]: {
    script: 'bench',
    args: ['users', '--stack', USERS, '--workload', 'users', ...LONG],
    env: () => ({ DATABASE_URL: url }),
    reached: (place) => place.pidsOf('generator.ts').length > 0,
  },
  'serve on the database of a user': {
    script: 'serve',
    args: ['users', '--stack', USERS, '--workload', 'users'],
    env: () => ({ DATABASE_URL: url }),
    reached: (_place, running) => running.output.includes('Ctrl-C stops it'),
  },
  power: { script: 'power', args: ['--tests', '1'], reached: hasWork },
};

/** Starts a command and waits until it has something to leave. */
async function startWay(place: Place, way: Way): Promise<{ running: Running; tokens: string[] }> {
  const port = way.script === 'serve' ? ['--port', String(await findFreePort())] : [];
  const running = place.start(way.script, [...way.args, ...port, ...pool(place, way)], way.env?.() ?? {});
  await running.until(() => way.reached(place, running), 'something to leave');
  const tokens = tokensOf(place);
  expect(tokens).toHaveLength(1);
  expect((await listOf(place, tokens)).length).toBeGreaterThan(1);
  return { running, tokens };
}

const pool = (place: Place, { script }: Way): string[] =>
  script === 'power' ? ['--pool', join(place.folder, 'pool')] : [];

describe.skipIf(!hasProc)('nothing is left but results and caches', () => {
  it.each([
    ['done', [...DELAYED, ...SHORT], 0],
    ['refused', ['http://127.0.0.1:9/'], 2],
  ])('by a run that is %s', async (_what, args, status) => {
    await using place = new Place({ hasTemporary: true });
    const before = await listOf(place, []);
    const running = place.start('bench', args);
    const tokens = new Set<string>();
    let isOver = false;
    void running.ended.then(() => {
      isOver = true;
    });
    await until(() => {
      for (const token of tokensOf(place)) tokens.add(token);
      return isOver;
    }, 'its end');
    expect((await running.ended).status).toBe(status);
    expect(await listOf(place, [...tokens])).toEqual(before);
  });

  it.each([USERS_OWN, 'power'])('by SIGINT to %s', async (name) => {
    await using place = new Place({ hasTemporary: true });
    const { running, tokens } = await startWay(place, WAYS[name]!);
    running.signal('SIGINT');
    expect((await running.ended).status).toBe(130);
    await place.untilGone();
    expect(await listOf(place, tokens)).toEqual([]);
  });

  it.each(['serve on the database of a user'])('by SIGKILL to %s, and the next command', async (name) => {
    await using place = new Place({ hasTemporary: true });
    const { running, tokens } = await startWay(place, WAYS[name]!);
    running.signal('SIGKILL');
    await running.ended;
    await place.untilGone();
    // The watchdog does this without a next command.
    expect((await listOf(place, tokens)).filter((left) => left.startsWith('/sys/'))).toEqual([]);
    const next = await place.run('prune', [], { ...place.ownCache, ...WAYS[name]!.env?.() });
    expect(next.status).toBe(0);
    expect(await listOf(place, tokens)).toEqual([]);
  });

  it('by SIGKILL and next commands without and with DATABASE_URL', async () => {
    await using place = new Place({ hasTemporary: true });
    const { running, tokens } = await startWay(place, WAYS[USERS_OWN]!);
    running.signal('SIGKILL');
    await running.ended;
    await place.untilGone();
    const name = `bench_${tokens[0]}_1`;
    const blind = await place.run('prune', [], { ...place.ownCache, DATABASE_URL: '' });
    expect(blind.stderr).toContain(`left databases (bench_${tokens[0]}_…) on ${new URL(url).host}/postgres`);
    expect(`${blind.stdout}${blind.stderr}`).not.toContain(new URL(url).password);
    expect(await listDatabases()).toEqual([name]);
    const { stderr } = await place.run('prune', [], { ...place.ownCache, DATABASE_URL: url });
    expect(stderr).toContain(`left the database ${name}: dropped it`);
    expect(await listOf(place, tokens)).toEqual([]);
  });
});

describe.skipIf(!hasProc)('--wait', () => {
  it('starts when the other run has ended', async () => {
    await using place = new Place();
    const first = place.start('bench', [...DELAYED, ...LONG]);
    await first.until(() => place.pidsOf('generator.ts').length > 0, 'the first window');
    const second = place.start('bench', [...DELAYED, ...SHORT, '--wait']);
    await second.until(() => second.output.includes('waiting: run '), 'its wait');
    expect(second.output).toMatch(/until about \d\d:\d\d \(\d+ (s|min)\)/);
    first.signal('SIGINT');
    expect((await first.ended).status).toBe(130);
    expect((await second.ended).status).toBe(0);
  });
});
