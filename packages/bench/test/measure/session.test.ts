import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openCgroup, readHierarchies } from '../../src/machine/cgroup.ts';
import { newToken } from '../../src/machine/scratch.ts';
import { openSession, removeLeftovers, type Purpose, type Session } from '../../src/measure/session.ts';

let folder = '';
let state = '';
let temporary = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-session-'));
  state = join(folder, 'state');
  temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  vi.stubEnv('BENCH_STATE', state);
  vi.stubEnv('TMPDIR', temporary);
  vi.stubEnv('DATABASE_URL', '');
});
afterEach(async () => {
  await Promise.all(started.splice(0).map(end));
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const open = (asked: Partial<Purpose> = {}): Promise<Session> =>
  openSession({ run: 'a-run', isAlone: true, ...asked });

/** Notes what a command does that was killed since. */
function leaveEntry(
  token: string,
  more: object = {},
  pid = spawnSync(process.execPath, ['-e', '']).pid,
): string {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const file = join(state, `${token}.json`);
  const entry = { pid, began: 'long ago', run: 'a-dead-run', token, temporary, cgroups: [], ...more };
  writeFileSync(file, JSON.stringify(entry));
  return file;
}

describe('a session', () => {
  it('takes its folders, its entry and its lock with it', async () => {
    {
      using session = await open();
      const work = session.makeFolder('work');
      expect(work).toBe(join(temporary, `bench-work-${session.token}`));
      writeFileSync(join(work, 'file'), '');
      expect(readdirSync(state).toSorted()).toEqual([`${session.token}.json`, 'host.lock'].toSorted());
    }
    expect(readdirSync(state)).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('that does not measure goes beside one that does', async () => {
    using first = await open();
    using second = await open({ isAlone: false, run: 'serve' });
    expect(second.token).not.toBe(first.token);
    await expect(open({ run: 'third' })).rejects.toThrow('run a-run is measuring on this machine');
  });

  it('that owes databases leaves its entry', async () => {
    const session = await open();
    session.owe('127.0.0.1:5432/name');
    session[Symbol.dispose]();
    expect(readdirSync(state)).toEqual([`${session.token}.json`]);
    const paid = await open();
    paid.owe('127.0.0.1:5432/name');
    paid.owe(undefined);
    paid[Symbol.dispose]();
    expect(readdirSync(state)).toEqual([`${session.token}.json`]);
  });
});

describe('what killed commands left', () => {
  it('is removed by its token, whichever command comes next; folders of others stay', async () => {
    const token = newToken();
    const entry = leaveEntry(token);
    for (const name of [
      `bench-work-${token}`,
      `bench-database-${token}`,
      `bench-work-${newToken()}`,
      `x-${token}`,
    ])
      mkdirSync(join(temporary, name));
    const told: string[] = [];
    using _ = await open({ isAlone: false, log: (line) => told.push(line) });
    expect(told.toSorted()).toEqual([
      `run a-dead-run had been killed and left ${join(temporary, `bench-database-${token}`)}: removed it`,
      `run a-dead-run had been killed and left ${join(temporary, `bench-work-${token}`)}: removed it`,
    ]);
    expect(readdirSync(temporary)).toHaveLength(2);
    expect(existsSync(entry)).toBe(false);
  });

  it('stays while its databases are owed', async () => {
    const entry = leaveEntry(newToken(), { database: '127.0.0.1:9/x' });
    expect(await removeLeftovers(state)).toEqual([
      expect.stringContaining('had been killed and left databases'),
    ]);
    expect(existsSync(entry)).toBe(true);
  });

  it.each([
    ['a name that is no token', 'x..json', { token: '../victim' }],
    ['a token that is none', '/', { token: '/../victim' }],
    ['the token of another', undefined, { token: newToken() }],
    ['a process that is none', undefined, { pid: -1 }],
  ])('is not believed of an entry with %s', async (_what, name, more) => {
    const victim = join(folder, 'victim');
    mkdirSync(victim);
    const token = newToken();
    mkdirSync(join(temporary, `bench-work-${token}`));
    leaveEntry(token, more);
    if (name !== undefined && name !== '/') writeFileSync(join(state, name), JSON.stringify(more));
    expect(await removeLeftovers(state)).toEqual([]);
    expect(existsSync(victim)).toBe(true);
    expect(readdirSync(temporary)).toHaveLength(1);
  });

  it.runIf(process.geteuid?.() === 0)('is not a folder that another user has given its name', async () => {
    const token = newToken();
    leaveEntry(token);
    const planted = join(temporary, `bench-work-${token}`);
    mkdirSync(planted);
    spawnSync('chown', ['4711', planted]);
    expect(await removeLeftovers(state)).toEqual([]);
    expect(existsSync(planted)).toBe(true);
  });

  it('is not what a killed process was about to write', async () => {
    leaveEntry(newToken());
    writeFileSync(join(state, `host.lock.${spawnSync(process.execPath, ['-e', '']).pid}.new`), '{');
    await removeLeftovers(state);
    expect(readdirSync(state)).toEqual([]);
  });

  it.skipIf(openCgroup(`probe-${process.pid}-0`).cgroup?.remove() === undefined)(
    'includes cgroups',
    async () => {
      const token = newToken();
      const { cgroup } = openCgroup(`${token}-001`);
      const own = readHierarchies().flatMap((one) => one.own ?? []);
      leaveEntry(token, { cgroups: own });
      await removeLeftovers(state);
      expect(cgroup?.procsFiles.map(existsSync)).toEqual([false]);
    },
  );
});

/** What a test has started, and ends whatever comes of it. */
const started: ChildProcess[] = [];

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** A process that does nothing until it is ended, or this one has gone, with a token of its own or without. */
async function startSleeper(token: string | undefined): Promise<ChildProcess> {
  const { BENCH_TOKEN: _, ...env } = process.env;
  const program = "console.log(1); process.stdin.on('end', () => process.exit(0)).resume()";
  const child = spawn(process.execPath, ['-e', program], {
    env: { ...env, ...(token === undefined ? {} : { BENCH_TOKEN: token }) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.push(child);
  await once(child.stdout, 'data');
  return child;
}

describe.runIf(process.platform === 'linux')('what a killed run left running', () => {
  // Where it is not ended its exit never comes, and only the time limit says so.
  it('is ended by its token, and named; nobody else is touched', { timeout: 10_000 }, async () => {
    const token = newToken();
    const left = await Promise.all([startSleeper(token), startSleeper(token)]);
    const others = await Promise.all([
      startSleeper(undefined),
      startSleeper(`${token}2`),
      startSleeper(newToken()),
    ]);
    const gone = left.map((child) => once(child, 'exit'));
    leaveEntry(token);
    const removed = await removeLeftovers(state);
    for (const exit of gone) expect(await exit).toEqual([null, 'SIGKILL']);
    expect(removed).toHaveLength(1);
    expect(removed[0]).toContain('run a-dead-run had been killed and left 2 processes running');
    for (const { pid } of left) expect(removed[0]).toContain(String(pid));
    for (const child of others) {
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
      expect(() => process.kill(child.pid!, 0)).not.toThrow();
    }
  });

  it('is left alone while its run lives', async () => {
    using session = await open();
    const child = await startSleeper(session.token);
    expect(await removeLeftovers(state)).toEqual([]);
    expect(() => process.kill(child.pid!, 0)).not.toThrow();
  });
});
