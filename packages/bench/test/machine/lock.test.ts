import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
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
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BenchError } from '../../src/errors.ts';
import { lockHost, type LockOptions, type HostLock } from '../../src/machine/lock.ts';
import { findFreePort } from '../../src/machine/ports.ts';
import { isToken, newToken, scratchOf } from '../../src/machine/scratch.ts';
import { openState } from '../../src/machine/state.ts';

let state = '';
let file = '';

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'bench-lock-'));
  file = join(state, 'host.lock');
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const take = (run: string, asked: Partial<LockOptions> = {}): Promise<HostLock> =>
  lockHost({ run, token: newToken(), state, port: false, ...asked });

/** The id of a process that has been and is gone. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

/** Leaves behind what a run that was killed does. */
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
  it('is 16 hexadecimal digits and nothing else', () => {
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
  it('takes a lock that is free, and gives it back', async () => {
    {
      using _ = await take('a-run');
      expect(holderOf()).toMatchObject({ run: 'a-run', pid: process.pid });
    }
    expect(readdirSync(state)).toEqual([]);
  });

  it('refuses one whose holder lives, names it and how long it takes, and leaves it alone', async () => {
    using first = await take('first');
    const { message, hint } = await refusalOf(take('second'));
    expect(message).toBe(`run first is measuring on this machine (process ${process.pid})`);
    expect(hint).toContain('--wait starts after it');
    first.expect(600);
    expect((await refusalOf(take('second'))).message).toMatch(/\(process \d+\), for about 10 min more$/);
    first.expect(20);
    expect((await refusalOf(take('second'))).message).toMatch(/, for about (19|20) s more$/);
    expect(holderOf().run).toBe('first');
    expect(readdirSync(state)).toEqual(['host.lock']);
  });

  it('waits for its holder when told to, and says once for whom', async () => {
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
    expect(told).toEqual([`waiting: run first is measuring on this machine (process ${process.pid})`]);
  });

  it('takes over one whose holder is dead', async () => {
    leaveStale();
    using _ = await take('a-run');
    expect(holderOf().run).toBe('a-run');
    expect(readdirSync(state)).toEqual(['host.lock']);
  });

  it('takes over one whose process id was given to another process since', async () => {
    leaveStale(process.pid);
    using _ = await take('a-run');
    expect(holderOf().run).toBe('a-run');
  });

  it.each(['', '{', 'null', '[]', '{"pid":"x"}', '{"pid":1,"began":"1","run":"r","token":"/../victim"}'])(
    'takes over one that says nothing: %j',
    async (text) => {
      writeFileSync(file, text);
      using _ = await take('a-run');
      expect(holderOf().run).toBe('a-run');
    },
  );

  it('gives back its own only', async () => {
    const lock = await take('a-run');
    writeFileSync(file, JSON.stringify({ ...holderOf(), token: newToken() }));
    lock[Symbol.dispose]();
    expect(existsSync(file)).toBe(true);
  });

  it('says when it cannot be written', async () => {
    const { message } = await refusalOf(take('a-run', { state: join(state, 'none') }));
    expect(message).toContain('cannot be written');
  });

  it('says what is in its place and is no lock', async () => {
    mkdirSync(file);
    expect((await refusalOf(take('a-run'))).message).toBe(`${file} is not a file, so it is not a lock`);
    rmSync(file, { recursive: true });
    symlinkSync('/etc/hostname', file);
    expect((await refusalOf(take('a-run'))).message).toBe(`${file} is not a file, so it is not a lock`);
  });

  it.runIf(process.geteuid?.() === 0)('says whose it is where another user has put it there', async () => {
    leaveStale();
    spawnSync('chown', ['65534', file]);
    const { message, hint } = await refusalOf(take('a-run'));
    expect(message).toBe(`${file} belongs to another user (uid 65534, not 0)`);
    expect(hint).toBe('remove it');
  });
});

describe('the port where the users of a machine meet', () => {
  it('lets one of them measure, and tells the others who and for how long', async () => {
    const port = await findFreePort();
    const other = mkdtempSync(join(tmpdir(), 'bench-lock-'));
    {
      using first = await take('first', { port });
      first.expect(300);
      const { message } = await refusalOf(take('second', { port, state: other }));
      expect(message).toBe(
        `run first is measuring on this machine (process ${process.pid}), for about 5 min more`,
      );
      expect(readdirSync(other)).toEqual([]);
    }
    using _ = await take('second', { port, state: other });
    expect(readdirSync(other)).toEqual(['host.lock']);
    rmSync(other, { recursive: true });
  });

  it('names the user of another run', async () => {
    const port = await findFreePort();
    await using _ = await openImpostor(port, '{"bench":1,"pid":7,"run":"theirs","uid":4711}\n');
    expect((await refusalOf(take('mine', { port }))).message).toBe(
      'run theirs is measuring on this machine (process 7 of user 4711)',
    );
  });

  it.each(['', 'HTTP/1.1 400 Bad Request\r\n\r\n', '{"bench":1,"pid":"x","run":7}'])(
    'does not stop a run where a stranger listens: %j',
    async (said) => {
      const port = await findFreePort();
      await using stranger = await openImpostor(port, said);
      expect(stranger).toBeDefined();
      const told: string[] = [];
      using _ = await take('mine', { port, log: (line) => told.push(line) });
      expect(told).toEqual([
        `warning: a program other than Bench uses port ${port}, so other users cannot see this run`,
      ]);
    },
  );

  it('keeps nobody from measuring who only listens in', async () => {
    const port = await findFreePort();
    using _ = await take('mine', { port });
    const socket = connect(port, '127.0.0.1');
    const [said] = (await once(socket, 'data')) as [Buffer];
    expect(JSON.parse(said.toString())).toMatchObject({ bench: 1, run: 'mine', pid: process.pid });
    // The token is nobody's business.
    expect(said.toString()).not.toContain(holderOf().token);
    socket.destroy();
  });
});

/** Somebody who listens there and says this to whoever comes. */
async function openImpostor(port: number, said: string): Promise<AsyncDisposable> {
  const server = createServer((socket) => socket.on('error', () => {}).end(said));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

const open = (env: NodeJS.ProcessEnv): string => openState(env, join(state, 'home'));

describe('the folder of the user', () => {
  it('is one for all sessions of a user on a machine, and open to nobody else', () => {
    const folder = open({ XDG_RUNTIME_DIR: join(state, 'runtime') });
    expect(folder.startsWith(join(state, 'home', '.local', 'state', 'bench-http'))).toBe(true);
    expect(open({})).toBe(folder);
    expect(open({ XDG_STATE_HOME: join(state, 'mine') }).startsWith(join(state, 'mine', 'bench-http'))).toBe(
      true,
    );
    expect(open({ XDG_STATE_HOME: 'relative' })).toBe(folder);
    expect(spawnSync('ls', ['-ld', folder], { encoding: 'utf8' }).stdout).toMatch(/^drwx------/);
  });

  it('is the runtime folder where there is no home', () => {
    writeFileSync(join(state, 'home'), '');
    const runtime = join(state, 'runtime');
    mkdirSync(runtime);
    expect(open({ XDG_RUNTIME_DIR: runtime })).toBe(join(runtime, 'bench-http'));
    expect(() => open({})).toThrow(/cannot be created: ENOTDIR/);
  });

  it('is refused where others could have written to it', () => {
    const folder = open({});
    chmodSync(folder, 0o777);
    expect(() => open({})).toThrow(`${folder} is writable for other users, so its locks cannot be trusted`);
  });

  it('is refused where it is no folder', () => {
    writeFileSync(join(state, 'file'), '');
    expect(() => open({ BENCH_STATE: join(state, 'file') })).toThrow('is not a folder');
    symlinkSync('/etc', join(state, 'link'));
    expect(() => open({ BENCH_STATE: join(state, 'link') })).toThrow('is not a folder');
  });

  it.runIf(process.geteuid?.() === 0)('is refused where it is another user’s', () => {
    const folder = open({});
    spawnSync('chown', ['65534', folder]);
    expect(() => open({})).toThrow(`${folder} belongs to another user (uid 65534, not 0)`);
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

interface Taker {
  ask(order: string): Promise<string>;
}

function startTaker(): Taker {
  const program = fileURLToPath(new URL('taker.ts', import.meta.url));
  const child = spawn(process.execPath, [program, state], { stdio: ['pipe', 'pipe', 'inherit'] });
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
      const tokens = takers.map(() => newToken());
      const answers = await Promise.all(takers.map((taker, index) => taker.ask(`take ${tokens[index]}`)));
      expect(answers.toSorted(), `round ${round}`).toEqual(['refused', 'refused', 'refused', 'taken']);
      expect(holderOf().token).toBe(tokens[answers.indexOf('taken')]);
      await Promise.all(takers.map((taker) => taker.ask('release')));
      expect(readdirSync(state)).toEqual([]);
    }
  });
});
