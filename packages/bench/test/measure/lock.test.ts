import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockHost } from '../../src/measure/lock.ts';
import { errorOf } from '../samples.ts';

let folder = '';
let file = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-lock-'));
  file = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The id of a process that has been and is gone. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

/** Leaves behind what a run that was killed does. */
function leaveStale(token = 'dead', pid = deadPid()): void {
  writeFileSync(file, JSON.stringify({ pid, began: 'long ago', run: 'a-dead-run', token }));
}

const holderOf = (): { run: string; token: string; pid: number } =>
  JSON.parse(readFileSync(file, 'utf8')) as { run: string; token: string; pid: number };

describe('lockHost', () => {
  it('takes a lock that is free, and gives it back', () => {
    {
      using lock = lockHost('a-run', 'mine', file);
      expect(lock.removed).toEqual([]);
      expect(holderOf()).toMatchObject({ run: 'a-run', token: 'mine', pid: process.pid });
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('refuses one whose holder lives, names it, and leaves it alone', () => {
    using first = lockHost('first', 'one', file);
    expect(first.removed).toEqual([]);
    const { code, message, hint } = errorOf(() => lockHost('second', 'two', file));
    expect(code).toBe('usage');
    expect(message).toBe(`run first is measuring on this machine (process ${process.pid})`);
    expect(hint).toContain('wait for it');
    expect(holderOf().token).toBe('one');
    expect(readdirSync(folder)).toEqual(['lock']);
  });

  it('takes over one whose holder is dead', () => {
    leaveStale();
    using lock = lockHost('a-run', 'mine', file);
    expect(lock.removed).toEqual([]);
    expect(holderOf().token).toBe('mine');
    expect(readdirSync(folder)).toEqual(['lock']);
  });

  it('takes over one whose process id was given to another process since', () => {
    leaveStale('dead', process.pid);
    using _ = lockHost('a-run', 'mine', file);
    expect(holderOf().token).toBe('mine');
  });

  it.each(['', '{', 'null', '[]', '{"pid":"x"}'])('takes over one that says nothing: %j', (text) => {
    writeFileSync(file, text);
    using _ = lockHost('a-run', 'mine', file);
    expect(holderOf().token).toBe('mine');
  });

  it('gives back its own only', () => {
    const lock = lockHost('a-run', 'mine', file);
    writeFileSync(file, JSON.stringify({ ...holderOf(), token: "another's" }));
    lock[Symbol.dispose]();
    expect(existsSync(file)).toBe(true);
  });

  it('says when it cannot be written', () => {
    const { code, message, hint } = errorOf(() => lockHost('a-run', 'mine', join(folder, 'none', 'lock')));
    expect(code).toBe('usage');
    expect(message).toContain('cannot be written');
    expect(hint).toContain('TMPDIR');
  });
});

/** What a test has started, and ends whatever comes of it. */
const started: ChildProcess[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map(end));
});

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
    const left = await Promise.all([startSleeper('dead-token'), startSleeper('dead-token')]);
    const others = await Promise.all([
      startSleeper(undefined),
      startSleeper('dead-token-2'),
      startSleeper('dead'),
    ]);
    const gone = left.map((child) => once(child, 'exit'));
    leaveStale('dead-token');
    using lock = lockHost('a-run', 'mine', file);
    for (const exit of gone) expect(await exit).toEqual([null, 'SIGKILL']);
    expect(lock.removed).toHaveLength(1);
    expect(lock.removed[0]).toContain('run a-dead-run had been killed and left 2 processes running');
    for (const { pid } of left) expect(lock.removed[0]).toContain(String(pid));
    for (const child of others) {
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
      expect(() => process.kill(child.pid!, 0)).not.toThrow();
    }
  });

  it('is left alone while its run lives', async () => {
    const child = await startSleeper('live-token');
    using _ = lockHost('a-run', 'live-token', file);
    errorOf(() => lockHost('another', 'mine', file));
    expect(() => process.kill(child.pid!, 0)).not.toThrow();
  });
});

interface Taker {
  ask(order: string): Promise<string>;
}

function startTaker(): Taker {
  const program = fileURLToPath(new URL('taker.ts', import.meta.url));
  const child = spawn(process.execPath, [program, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(order) {
      child.stdin.write(`${order}\n`);
      return String((await lines.next()).value);
    },
  };
}

describe('takers at the same moment', () => {
  const ROUNDS = 25;

  it.each([
    ['a lock that is free', () => {}],
    ['the lock of a dead run', () => leaveStale()],
  ])('of %s: one wins', async (_what, prepare) => {
    const takers = Array.from({ length: 4 }, startTaker);
    await Promise.all(takers.map((taker) => taker.ask('release')));
    for (let round = 0; round < ROUNDS; round++) {
      prepare();
      const answers = await Promise.all(takers.map((taker, index) => taker.ask(`take ${round}-${index}`)));
      expect(answers.toSorted(), `round ${round}`).toEqual(['refused', 'refused', 'refused', 'taken']);
      expect(holderOf().token).toBe(`${round}-${answers.indexOf('taken')}`);
      await Promise.all(takers.map((taker) => taker.ask('release')));
      expect(readdirSync(folder)).toEqual([]);
    }
  });
});
