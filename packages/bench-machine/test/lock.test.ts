import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BenchError } from 'bench-model/errors';
import { lockHost, type LockOptions, type HostLock } from '../src/lock.ts';
import { isToken, newToken, scratchOf } from '../src/scratch.ts';
import { openState } from '../src/state.ts';
import { run, start, type Child } from '../src/subprocess.ts';
import { deadPid } from '../../bench-lab/testing/dead.ts';

let state = '';
let file = '';

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'bench-lock-'));
  file = join(state, 'host.lock');
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

/** For a loop that looks twice a second. */
const PATIENCE = { timeout: 10_000 };

const take = (name: string, options: Partial<LockOptions> = {}): Promise<HostLock> =>
  lockHost({ run: name, token: newToken(), state, ...options });

/** Leaves the lock of a killed run. */
function leaveStale(pid = deadPid()): void {
  writeFileSync(file, JSON.stringify({ pid, began: 'long ago', run: 'a-dead-run', token: newToken() }));
}

const holderOf = (): { run: string; token: string; pid: number } =>
  JSON.parse(readFileSync(file, 'utf8')) as { run: string; token: string; pid: number };

async function refusalOf(taking: Promise<HostLock>): Promise<BenchError> {
  const error: unknown = await taking.then(
    (lock) => {
      lock[Symbol.dispose]();
      return undefined;
    },
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof BenchError)) throw new Error('not refused', { cause: error });
  expect(error.code).toBe('usage');
  return error;
}

describe('a token', () => {
  it('is 16 hexadecimal digits', () => {
    expect(isToken(newToken())).toBe(true);
    for (const wrong of [
      '',
      'dead',
      '/../victim',
      `${newToken()}/..`,
      newToken().toUpperCase().replace(/\d/g, 'A'),
      7,
    ]) {
      expect(isToken(wrong)).toBe(false);
    }
    expect(() => scratchOf('/../victim')).toThrow('is not a token');
  });
});

describe('lockHost', () => {
  it('takes a free lock, and releases it', async () => {
    {
      using _ = await take('a-run');
      expect(holderOf()).toMatchObject({ run: 'a-run', pid: process.pid });
    }
    expect(readdirSync(state)).toEqual([]);
  });

  it('refuses a lock whose holder is alive, and names the holder and its remaining time', async () => {
    using first = await take('first');
    const { message, hint } = await refusalOf(take('second'));
    expect(message).toBe(
      `run first is measuring on this machine (process ${process.pid}); it does not know yet for how long`,
    );
    expect(hint).toContain('--wait starts this one later');
    first.expect(600);
    expect((await refusalOf(take('second'))).message).toMatch(
      /\(process \d+\), until about \d\d:\d\d \(10 min\)$/,
    );
    first.expect(20);
    expect((await refusalOf(take('second'))).message).toMatch(/ \((19|20) s\)$/);
    expect(holderOf().run).toBe('first');
    expect(readdirSync(state)).toEqual(['host.lock']);
  });

  it('waits for the holder with --wait, and names it once', async () => {
    const first = await take('first');
    const told: string[] = [];
    const { promise: isTold, resolve } = Promise.withResolvers<void>();
    const second = take('second', {
      wait: true,
      log(line) {
        told.push(line);
        resolve();
      },
    });
    await isTold;
    expect(holderOf().run).toBe('first');
    first[Symbol.dispose]();
    using _ = await second;
    expect(holderOf().run).toBe('second');
    expect(told).toEqual([
      `waiting: run first is measuring on this machine (process ${process.pid}); it does not know yet for how long`,
    ]);
  });

  it('says until about when it waits, again when that becomes known or moves', async () => {
    const first = await take('first');
    const told: string[] = [];
    const second = take('second', { wait: true, log: (line) => told.push(line) });
    const ends = [300, 310, 900];
    for (const [index, seconds] of ends.entries()) {
      first.expect(seconds);
      const known = [1, 1, 2][index] as number;
      await expect
        .poll(() => told.filter((line) => line.includes('until about')).length, PATIENCE)
        .toBe(known);
    }
    first[Symbol.dispose]();
    using _ = await second;
    expect(told.filter((line) => line.includes('until'))).toEqual([
      expect.stringMatching(/^waiting: run first is .*, until about \d\d:\d\d \([56] min\)$/),
      expect.stringMatching(/, until about \d\d:\d\d \(1[56] min\)$/),
    ]);
  });

  it('takes over a lock whose holder is dead', async () => {
    leaveStale();
    using _ = await take('a-run');
    expect(holderOf().run).toBe('a-run');
    expect(readdirSync(state)).toEqual(['host.lock']);
  });

  it('takes over a lock whose process id belongs to another process now', async () => {
    leaveStale(process.pid);
    using _ = await take('a-run');
    expect(holderOf().run).toBe('a-run');
  });

  it.each(['', '{', 'null', '[]', '{"pid":"x"}', '{"pid":1,"began":"1","run":"r","token":"/../victim"}'])(
    'takes over an unreadable lock: %j',
    async (text) => {
      writeFileSync(file, text);
      using _ = await take('a-run');
      expect(holderOf().run).toBe('a-run');
    },
  );

  it('releases only its own lock', async () => {
    const lock = await take('a-run');
    writeFileSync(file, JSON.stringify({ ...holderOf(), token: newToken() }));
    lock[Symbol.dispose]();
    expect(existsSync(file)).toBe(true);
  });

  it('fails if the lock cannot be written', async () => {
    const { message } = await refusalOf(take('a-run', { state: join(state, 'none') }));
    expect(message).toContain('cannot be written');
  });

  it('names a file in its place that is not a lock', async () => {
    mkdirSync(file);
    expect((await refusalOf(take('a-run'))).message).toBe(`${file} is not a file, so it is not a lock`);
    rmSync(file, { recursive: true });
    symlinkSync('/etc/hostname', file);
    expect((await refusalOf(take('a-run'))).message).toBe(`${file} is not a file, so it is not a lock`);
  });

  it.runIf(process.geteuid?.() === 0)('names the other user who owns the lock', async () => {
    leaveStale();
    await run(['chown', '65534', file]);
    const { message, hint } = await refusalOf(take('a-run'));
    expect(message).toBe(`${file} belongs to another user (uid 65534, not 0)`);
    expect(hint).toBe('remove it');
  });
});

const open = (env: NodeJS.ProcessEnv): string => openState(env, join(state, 'home'));

describe('the state folder of a user', () => {
  it('is shared by all sessions of a user, and closed to others', async () => {
    const folder = open({});
    expect(folder.startsWith(join(state, 'home', '.local', 'state', 'bench-http'))).toBe(true);
    expect(open({ XDG_STATE_HOME: join(state, 'mine') }).startsWith(join(state, 'mine', 'bench-http'))).toBe(
      true,
    );
    expect(open({ XDG_STATE_HOME: 'relative' })).toBe(folder);
    expect((await run(['ls', '-ld', folder])).stdout).toMatch(/^drwx------/);
  });

  it('is refused if it cannot be created', () => {
    writeFileSync(join(state, 'home'), '');
    expect(() => open({})).toThrow(/cannot be created: ENOTDIR/);
  });

  it('is refused if others could have written to it', () => {
    const folder = open({});
    chmodSync(folder, 0o777);
    expect(() => open({})).toThrow(`${folder} is writable for other users, so its locks cannot be trusted`);
  });

  it('is refused if it is not a folder', () => {
    writeFileSync(join(state, 'file'), '');
    expect(() => open({ BENCH_STATE: join(state, 'file') })).toThrow('is not a folder');
    symlinkSync('/etc', join(state, 'link'));
    expect(() => open({ BENCH_STATE: join(state, 'link') })).toThrow('is not a folder');
  });

  it.runIf(process.geteuid?.() === 0)('is refused if it belongs to another user', async () => {
    const folder = open({});
    await run(['chown', '65534', folder]);
    expect(() => open({})).toThrow(`${folder} belongs to another user (uid 65534, not 0)`);
  });
});

/** The processes that a test started; they end with the test. */
const started: Child[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map(end));
});

async function end(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

interface Taker {
  ask(order: string): Promise<string>;
}

function startTaker(): Taker {
  const program = fileURLToPath(new URL('taker.ts', import.meta.url));
  const child = start({ stdio: ['pipe', 'pipe', 'inherit'] })`exec ${[process.execPath, program, state]}`;
  started.push(child);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    async ask(order) {
      child.stdin!.write(`${order}\n`);
      return String((await lines.next()).value);
    },
  };
}

describe('processes that take a lock at the same time', () => {
  const ROUNDS = 25;

  it.each([
    ['a free lock', () => {}],
    ['the lock of a dead run', () => leaveStale()],
  ])('take %s: one of them wins', async (_what, prepare) => {
    const takers = Array.from({ length: 4 }, startTaker);
    await Promise.all(takers.map((taker) => taker.ask('release')));
    for (let round = 0; round < ROUNDS; round++) {
      prepare();
      const tokens = takers.map(() => newToken());
      const answers = await Promise.all(takers.map((taker, index) => taker.ask(`take ${tokens[index]}`)));
      expect(answers.toSorted(), `round ${round}`).toEqual(['refused', 'refused', 'refused', 'taken']);
      expect(holderOf().token).toBe(tokens[answers.indexOf('taken')]);
      await Promise.all(takers.map((taker) => taker.ask('release')));
      expect(readdirSync(state)).toEqual([]);
    }
  });
});
