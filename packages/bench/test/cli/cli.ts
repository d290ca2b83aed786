import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Trial } from '../../src/results/record.ts';
import { environHas, listPids, readText } from '../../src/machine/procfs.ts';
import { removeLeftovers } from '../../src/measure/session.ts';
import { scratchOf } from '../../src/machine/scratch.ts';
import type { RunFile } from '../../src/results/run-file.ts';

/** The repository's folder, in which every command is started. */
export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** The stack whose variants misbehave as they are told. */
export const PLANTED = 'packages/bench/planted/stack.json';
/** Likewise, over a database. */
export const USERS = 'packages/bench/planted/users/stack.json';
/** Only Linux says which processes belong to a test. */
export const hasProc = process.platform === 'linux';

const MARK = 'BENCH_TEST';
const POLL_MS = 20;
/** How long a condition may take to come about on a machine that is busy with other things. */
const PATIENCE_MS = 30_000;

/** Options as they stand on a command line: `{ rounds: 1 }` is `--rounds 1`. */
export function flags(options: Record<string, string | number>): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** A command that has ended, and what it printed. */
export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** What the lock file of a run says. */
export interface LockFile {
  pid: number;
  run: string;
  token: string;
}

/**
 * A user's place: a results folder and a lock of its own. Every process that comes of a command started
 * here carries a mark in its environment; disposing ends those and removes the folder.
 */
export class Place implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'bench-cli-'));
  readonly results = join(this.folder, 'results');
  readonly state = join(this.folder, 'state');
  readonly lock = join(this.state, 'host.lock');
  /** Its temporary folder, that of all places unless it has one of its own. */
  readonly temporary: string;
  readonly #mark = randomUUID();

  constructor({ hasTemporary = false } = {}) {
    mkdirSync(this.state, { mode: 0o700 });
    this.temporary = hasTemporary ? join(this.folder, 'tmp') : tmpdir();
    if (!hasTemporary) return;
    mkdirSync(this.temporary);
    // PostgreSQL, which runs as nobody where we are root, has its folder there.
    for (const folder of [this.folder, this.temporary]) chmodSync(folder, 0o755);
    // What tsx has compiled already is not compiled again.
    const compiled = `tsx-${process.geteuid?.()}`;
    mkdirSync(join(tmpdir(), compiled), { recursive: true });
    symlinkSync(join(tmpdir(), compiled), join(this.temporary, compiled));
  }

  /** Runs `scripts/<script>.ts` to its end. */
  run(script: string, args: string[] = [], env: Record<string, string> = {}): Promise<Ended> {
    return this.start(script, args, env).ended;
  }

  /** Starts `scripts/<script>.ts` as the scripts of package.json do. */
  start(script: string, args: string[] = [], env: Record<string, string> = {}): Running {
    return this.#spawn(
      process.execPath,
      ['--import', './scripts/runtime.mjs', `scripts/${script}.ts`, ...args],
      env,
    );
  }

  /** Starts a command line in a terminal: what is typed there goes through it, so that ^C is a Ctrl-C. */
  startInTerminal(line: string): Running {
    const args = process.platform === 'linux' ? ['-qec', line] : ['-q', '/dev/null', 'sh', '-c', line];
    return this.#spawn('script', process.platform === 'linux' ? [...args, '/dev/null'] : args, {});
  }

  #spawn(command: string, args: string[], env: Record<string, string>): Running {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|NODE_ENV$|DEBUG$)/.test(name),
    );
    const own = {
      BENCH_RESULTS: this.results,
      BENCH_STATE: this.state,
      TMPDIR: this.temporary,
      [MARK]: this.#mark,
      // The tests run from a checkout whose packages are there: pnpm need not look again.
      pnpm_config_verify_deps_before_run: 'false',
    };
    return new Running(
      spawn(command, args, { cwd: ROOT, env: { ...Object.fromEntries(inherited), ...own, ...env } }),
    );
  }

  /** Every living process that came of what was started here. */
  pids(): number[] {
    return hasProc ? listPids().filter((pid) => environHas(pid, MARK, this.#mark)) : [];
  }

  /** Those of them whose command line holds these words. */
  pidsOf(words: string): number[] {
    return this.pids().filter((pid) =>
      (readText(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').includes(words),
    );
  }

  /** Resolves when no process is left; throws with their command lines when some stay. */
  async untilGone(): Promise<void> {
    await until(() => this.pids().length === 0, 'the end of all processes').catch((error: unknown) => {
      const lines = this.pids().map((pid) => `${pid} ${readText(`/proc/${pid}/cmdline`)}`);
      throw new Error(`${String(error)}:\n${lines.join('\n').replaceAll('\0', ' ')}`, { cause: error });
    });
  }

  /** The folder of the one run there is. */
  runFolder(): string {
    const [name, ...more] = readdirSync(this.results);
    if (name === undefined || more.length > 0) throw new Error(`not one run but ${more.length + 1}`);
    return join(this.results, name);
  }

  runFile(): RunFile {
    return JSON.parse(readFileSync(join(this.runFolder(), 'run.json'), 'utf8')) as RunFile;
  }

  /** The records that have been kept whole so far, none before the first. */
  trials(): Trial[] {
    const [file] = globSync('*/trials.jsonl', { cwd: this.results });
    if (file === undefined) return [];
    const lines = readFileSync(join(this.results, file), 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Trial);
  }

  /** The path of the data of the database of the run that has the lock. */
  scratch(): string {
    return scratchOf(this.holder()?.token ?? '', 'database', this.temporary);
  }

  holder(): LockFile | undefined {
    const text = readText(this.lock);
    return text === undefined ? undefined : (JSON.parse(text) as LockFile);
  }

  /** How many servers have been launched so far. */
  countLaunched(): number {
    return globSync('*/logs/*.log', { cwd: this.results }).length;
  }

  /** What the newest planted server says it has done so far; undefined until it is there. */
  async readAccount(): Promise<Account | undefined> {
    const log = globSync('*/logs/*.log', { cwd: this.results }).toSorted().at(-1);
    const text = log === undefined ? undefined : readText(join(this.results, log));
    const port = /"accountPort":(\d+)/.exec(text ?? '')?.[1];
    if (port === undefined) return undefined;
    const answer = await fetch(`http://127.0.0.1:${port}/account`).catch(() => undefined);
    return (await answer?.json().catch(() => undefined)) as Account | undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.pids()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
    await this.untilGone();
    await removeLeftovers(this.state);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface Account {
  connections: { accepted: number };
  requests: { read: number };
}

/** A command that has been started. */
export class Running {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  #status: number | null | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<Ended>();
    this.ended = promise;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    child.stdin?.on('error', () => {});
    child.once('error', reject);
    child.once('close', (status) => {
      this.#status = status;
      resolve({ status, stdout: this.#stdout, stderr: this.#stderr });
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('it could not be started');
    return this.#child.pid;
  }

  /** All that it has printed so far. */
  get output(): string {
    return this.#stdout + this.#stderr;
  }

  /** Sends a signal to this process alone. */
  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name);
  }

  /** Types into its terminal: `\u0003` is Ctrl-C. */
  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Waits for a condition to come about while this runs; throws with its output when it ends before. */
  until<T>(condition: () => Condition<T>, what: string): Promise<T> {
    return until(async () => {
      const seen = await condition();
      if (!isTrue(seen) && this.#status !== undefined)
        throw new Error(`it ended (${this.#status}) before ${what}:\n${this.output}`);
      return seen;
    }, what).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.output}`, { cause: error });
    });
  }
}

type Condition<T> = T | false | undefined | Promise<T | false | undefined>;

/** Waits until a condition holds and gives what it was; throws when it has not come about after a long time. */
export async function until<T>(condition: () => Condition<T>, what: string): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const seen = await condition();
    if (isTrue(seen)) return seen;
    await sleep(POLL_MS);
  }
  throw new Error(`waited ${PATIENCE_MS / 1000} s in vain for ${what}`);
}

function isTrue<T>(seen: T | false | undefined): seen is T {
  return seen !== undefined && seen !== false;
}

/** Whether a process is there, zombies left out. */
export function isAlive(pid: number): boolean {
  return (readText(`/proc/${pid}/environ`) ?? '') !== '';
}
