import type { DatabaseUse } from 'bench-model/companions';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { BenchError } from 'bench-model/errors';
import { findDatabase, removeDatabases, type Debt } from 'bench-http/services/database/database';
import { keepDatabase, refuseCrowd } from 'bench-http/services/database/companion';
import type { DatabaseServer } from 'bench-http/services/database/server';
import { makePlan } from 'bench-http/plan/plan';
import { METRIC_IDS } from 'bench-model/metrics';
import { needs, postgres } from '../../testing/needs.ts';
import { parseBench, samplePlan, sampleTurns } from '../../testing/samples.ts';
import { openToken } from './leftovers.ts';
import { ASKED, loadOf, openRig, reasonOf, reasonsOf, type Seen } from './rig.ts';

const token = openToken();
const rig = openRig();
const stack = readManifest(fileURLToPath(new URL('../../planted/users/stack.json', import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'bench-database-'));

let database: DatabaseServer;
let url: string;

const found = needs(postgres);
beforeAll(async () => {
  if (found.why !== undefined) return;
  database = await (await findDatabase('')).start({ token, folder, placed: {} });
  url = database.url;
});
afterAll(async () => {
  await database?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  const left = await ask('select datname from pg_database where datname like $1', ['bench%']);
  if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
});

async function ask(text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, values, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

function measure(planted: string, bench: string, holder = database): Promise<Seen> {
  return rig.measure({ planted, stack, database: holder, bench: bench.split(' ') });
}

function insertsOf({ trial }: Seen): NonNullable<DatabaseUse['inserts']> {
  const use =
    trial.status === 'failed' ? trial.partial?.companions?.database : trial.measured.companions?.database;
  if (use?.inserts === undefined) throw new Error(`no account: ${JSON.stringify(trial.reasons)}`);
  return use.inserts;
}

describe('a server that inserts', () => {
  it('has stored exactly what it acknowledged on 200 connections', async () => {
    const seen = await measure('faithful', '--workload users-insert --connections 200 --duration 0.5');
    expect(reasonsOf(seen)).toEqual([]);
    const { lifetime } = loadOf(seen);
    const stored = lifetime.ok + ASKED;
    expect(lifetime).toMatchObject({ sent: lifetime.ok, inFlight: 0 });
    expect(insertsOf(seen)).toEqual({ acknowledged: stored, stored, unanswered: 0 });
    expect(seen.trial.companions?.database).toEqual({
      kind: 'embedded',
      version: '18.4',
      maxConnections: 500,
    });
    const use = seen.trial.status === 'failed' ? undefined : seen.trial.measured.companions?.database;
    expect(use?.resources?.coresUsed).toBeGreaterThan(0);
  });

  it.each([
    ['forgetful', ['inserts'], /\d+ were lost$/],
    ['twice', ['inserts'], /stored twice/],
    ['refusing', ['inserts', 'errors'], /stored after an error response/],
  ])('fails as the variant %s', async (planted, codes, text) => {
    const seen = await measure(planted, '--workload users-insert --connections 4 --amount 200');
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(codes);
    expect(reasonOf(seen, codes[0] ?? '')).toMatchObject({
      text: expect.stringMatching(text) as string,
      invalidates: METRIC_IDS,
    });
  });

  it('loses no acknowledged insert when it is killed, and the reason says so', async () => {
    const seen = await measure('dying', '--workload users-insert --connections 8 --duration 5');
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['trial', 'inserts']);
    expect(reasonOf(seen, 'trial').text).toContain('ended by signal 9');
    const { acknowledged, stored, unanswered } = insertsOf(seen);
    expect(stored).toBeGreaterThanOrEqual(50);
    expect(acknowledged).toBeLessThan(stored);
    expect(stored).toBeLessThanOrEqual(acknowledged + unanswered);
    expect(reasonOf(seen, 'inserts').text).toContain('no acknowledged insert was lost');
  });

  it('has a separate table in a duel', async () => {
    const targets = ['users/faithful', 'users/forgetful'];
    const words = '--workload users-insert --rounds 1 --connections 4 --warmup 0.2 --duration 0.5';
    const plan = makePlan(
      { ...parseBench([...targets, ...words.split(' ')]), interleave: true },
      [stack],
      'known',
      1,
    );
    const all = await rig.measureAll(plan, [stack], [keepDatabase(database)]);
    for (const seen of all) {
      const { acknowledged, stored } = insertsOf(seen);
      expect(acknowledged).toBe(loadOf(seen).lifetime.ok + ASKED);
      expect(acknowledged - stored).toBe(
        seen.trial.target.variant === 'forgetful' ? Math.floor(acknowledged / 50) : 0,
      );
    }
    expect(all).toHaveLength(2);
  });
});

describe('a server that reads', () => {
  it.each([0, 100])('answers with the %i rows of the table, in order', async (rows) => {
    const seen = await measure(
      'faithful',
      `--workload users --param rows=${rows} --connections 4 --amount 100`,
    );
    expect(reasonsOf(seen)).toEqual([]);
    expect(loadOf(seen).counts.ok).toBe(100);
  });
});

describe('DATABASE_URL', () => {
  it('selects the database server, and the run leaves nothing on it', async () => {
    const program = await findDatabase(url);
    expect(program).toMatchObject({ kind: 'external', version: '18.4' });
    await using holder = await program.start({ token, folder, placed: {} });
    const seen = await measure('faithful', '--workload users-insert --connections 4 --amount 100', holder);
    expect(reasonsOf(seen)).toEqual([]);
    expect(seen.trial.companions?.database?.kind).toBe('external');
    const stored = loadOf(seen).lifetime.ok + ASKED;
    expect(insertsOf(seen)).toEqual({ acknowledged: stored, stored, unanswered: 0 });
  });

  const cases: [string, () => string, RegExp][] = [
    ['is not a URL', () => 'localhost:5432/secret', /^DATABASE_URL: not a PostgreSQL address$/],
    [
      'has the scheme of another database',
      () => 'mysql://u:secret@127.0.0.1/x',
      /^DATABASE_URL: not a PostgreSQL address$/,
    ],
    ['names no database', () => 'postgres://u:secret@127.0.0.1/', /^DATABASE_URL: not a PostgreSQL address$/],
    [
      'cannot be reached',
      () => 'postgresql://u:secret@127.0.0.1:9/x',
      /^DATABASE_URL: 127\.0\.0\.1:9\/x: .*ECONNREFUSED/,
    ],
    ['has a wrong password', () => url.replace(/:[^:@]+@/, ':secret@'), /password authentication failed/],
  ];
  it.each(cases)('is refused if it %s, without showing the password', async (_, databaseUrl, message) => {
    const error = await findDatabase(databaseUrl()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BenchError);
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(message) as string });
    expect(`${(error as BenchError).message} ${(error as BenchError).hint}`).not.toContain('secret');
  });

  it('is refused for a user who may not create databases', async () => {
    await ask(`create role guest login password 'guest'`);
    const guest = Object.assign(new URL(url), { username: 'guest', password: 'guest' }).href;
    await expect(findDatabase(guest)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('cannot create databases') as string,
    });
  });
});

describe('databases that a killed run left', () => {
  const DEAD = '00000000deadbeef';
  const debt = (): Debt => {
    const { host, pathname } = new URL(url);
    return { run: 'a-run', token: DEAD, database: `${host}${pathname}` };
  };

  it('are dropped by their token, and named; other databases stay', async () => {
    const names = [`bench_${DEAD}_1`, `bench_${DEAD}1_1`, `bench_${DEAD}_other`];
    for (const name of names) await ask(`create database ${name}`);
    expect(await removeDatabases({ run: 'a-run', token: DEAD }, url)).toEqual({ lines: [], isOwed: false });
    expect(await removeDatabases(debt(), url)).toEqual({
      lines: [`run a-run had been killed and left the database bench_${DEAD}_1: dropped it`],
      isOwed: false,
    });
    const left = await ask(`select datname from pg_database where datname like 'bench%'`);
    expect(new Set(left)).toEqual(new Set(names.slice(1)));
    for (const name of left) await ask(`drop database ${String(name)}`);
  });

  it.each([
    ['DATABASE_URL is empty', '', 'the next command with that DATABASE_URL drops them'],
    [
      'DATABASE_URL names another server',
      'postgresql://u:secret@127.0.0.1:9/x',
      'the next command with that',
    ],
  ])('are left for a later command if %s', async (_where, databaseUrl, why) => {
    const { lines, isOwed } = await removeDatabases(debt(), databaseUrl);
    expect(lines).toEqual([expect.stringContaining(why)]);
    expect(lines[0]).toContain(
      `run a-run had been killed and left databases (bench_${DEAD}_…) on 127.0.0.1:`,
    );
    expect(isOwed).toBe(true);
  });

  it('are left for a later command if the server cannot be reached', async () => {
    const databaseUrl = 'postgresql://u:secret@127.0.0.1:9/x';
    const { lines, isOwed } = await removeDatabases({ ...debt(), database: '127.0.0.1:9/x' }, databaseUrl);
    expect(lines).toEqual([expect.stringMatching(/ on 127\.0\.0\.1:9\/x: .*ECONNREFUSED/)]);
    expect(isOwed).toBe(true);
  });

  it.each([`${DEAD}|.*`, '%', '../../victim', '', 'DEADBEEF00000000'])(
    'are not dropped by %j, which is not a token',
    async (wrong) => {
      await ask('create database bench_victim_1');
      await expect(removeDatabases({ ...debt(), token: wrong }, url)).rejects.toThrow('is not a token');
      expect(await ask(`select datname from pg_database where datname = 'bench_victim_1'`)).toHaveLength(1);
      await ask('drop database bench_victim_1');
    },
  );
});

const planOf = (line: string) => samplePlan(`--workload users ${line}`);

describe('a plan', () => {
  it('is refused if it needs more connections than the database accepts', () => {
    expect(() => refuseCrowd(planOf('--workers 33'), database)).not.toThrow();
    expect(() => refuseCrowd(planOf('--workers 34'), database)).toThrow(
      'the plan needs 510 connections, and the database accepts 500',
    );
    expect(() => refuseCrowd(sampleTurns('--workload users --workers 17'), database)).toThrow(
      '510 connections',
    );
    expect(() => refuseCrowd(planOf('--param pool=400 --param overflow=96'), database)).toThrow(
      '496 connections',
    );
  });
});
