import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openCgroup, readHierarchies } from 'bench-machine/cgroup';
import { newToken } from 'bench-machine/scratch';
import { run, start, type Child } from 'bench-machine/subprocess';
import { openSession, removeLeftovers, type Session } from '../../src/conduct/session.ts';
import { programVoice } from '../../src/terminal/voice.ts';
import { deadPid } from '../../../bench-lab/testing/dead.ts';

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

const open = ({ name = 'a-run', isAlone = true, told = [] as string[] } = {}): Promise<Session> =>
  openSession(name, { isAlone, voice: programVoice((line) => told.push(line)) });

/** Writes the entry of a command that was killed. */
function leaveEntry(token: string, more: object = {}, pid = deadPid()): string {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const file = join(state, `${token}.json`);
  const entry = { pid, began: 'long ago', run: 'a-dead-run', token, temporary, cgroups: [], ...more };
  writeFileSync(file, JSON.stringify(entry));
  return file;
}

describe('a session', () => {
  it('removes its folders, its entry and its lock at its end', async () => {
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

  it('that does not measure can run beside one that does', async () => {
    using first = await open();
    using second = await open({ isAlone: false, name: 'serve' });
    expect(second.token).not.toBe(first.token);
    await expect(open({ name: 'third' })).rejects.toThrow('run a-run');
  });

  it('that could not drop its databases leaves its entry', async () => {
    const session = await open();
    session.recordLeftoverServer('127.0.0.1:5432/name');
    session[Symbol.dispose]();
    expect(readdirSync(state)).toEqual([`${session.token}.json`]);
    const paid = await open();
    paid.recordLeftoverServer('127.0.0.1:5432/name');
    paid.recordLeftoverServer(undefined);
    paid[Symbol.dispose]();
    expect(readdirSync(state)).toEqual([`${session.token}.json`]);
  });
});

describe('the remains of killed commands', () => {
  it('are removed by token by the next command; other folders stay', async () => {
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
    using _ = await open({ isAlone: false, told });
    expect(told.toSorted()).toEqual([
      `run a-dead-run had been killed and left ${join(temporary, `bench-database-${token}`)}: removed it`,
      `run a-dead-run had been killed and left ${join(temporary, `bench-work-${token}`)}: removed it`,
    ]);
    expect(readdirSync(temporary)).toHaveLength(2);
    expect(existsSync(entry)).toBe(false);
  });

  it('stay listed until their databases are dropped', async () => {
    const entry = leaveEntry(newToken(), { database: '127.0.0.1:9/x' });
    expect(await removeLeftovers(state)).toEqual([
      expect.stringContaining('had been killed and left databases'),
    ]);
    expect(existsSync(entry)).toBe(true);
  });

  it.each([
    ['a name that is not a token', 'x..json', { token: '../victim' }],
    ['an invalid token', '/', { token: '/../victim' }],
    ['a token of another name', undefined, { token: newToken() }],
    ['an invalid process id', undefined, { pid: -1 }],
  ])('are not removed for an entry with %s', async (_what, name, more) => {
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

  it.runIf(process.geteuid?.() === 0)(
    'do not include a folder of that name that belongs to another user',
    async () => {
      const token = newToken();
      leaveEntry(token);
      const planted = join(temporary, `bench-work-${token}`);
      mkdirSync(planted);
      await run(['chown', '4711', planted]);
      expect(await removeLeftovers(state)).toEqual([]);
      expect(existsSync(planted)).toBe(true);
    },
  );

  it('include a half-written entry', async () => {
    leaveEntry(newToken());
    writeFileSync(join(state, `host.lock.${deadPid()}.new`), '{');
    await removeLeftovers(state);
    expect(readdirSync(state)).toEqual([]);
  });

  it.skipIf(openCgroup(`probe-${process.pid}-0`).cgroup?.remove() === undefined)(
    'include cgroups',
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

/** The processes that a test started; they end with the test. */
const started: Child[] = [];

async function end(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Starts a process that does nothing until it or this process ends, with or without a token. */
async function startSleeper(token: string | undefined): Promise<Child> {
  const { BENCH_TOKEN: _, ...env } = process.env;
  const program = "console.log(1); process.stdin.on('end', () => process.exit(0)).resume()";
  const child = start({
    env: { ...env, ...(token === undefined ? {} : { BENCH_TOKEN: token }) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })`exec ${[process.execPath, '-e', program]}`;
  started.push(child);
  await once(child.stdout!, 'data');
  return child;
}

describe.runIf(process.platform === 'linux')('the processes of a killed run', () => {
  // If the process is not ended, only the time limit reports it.
  it('are ended by token, and named; other processes stay', { timeout: 10_000 }, async () => {
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
    expect(removed).toEqual([expect.stringMatching(/^run a-dead-run .* left 2 processes running/)]);
    for (const { pid } of left) expect(removed[0]).toContain(String(pid));
    for (const child of others) {
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
      expect(() => process.kill(child.pid!, 0)).not.toThrow();
    }
  });

  it('stay while the run is alive', async () => {
    using session = await open();
    const child = await startSleeper(session.token);
    expect(await removeLeftovers(state)).toEqual([]);
    expect(() => process.kill(child.pid!, 0)).not.toThrow();
  });
});
