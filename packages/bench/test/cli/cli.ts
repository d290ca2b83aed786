import { randomUUID } from 'node:crypto';
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { findCommands, loadCommand, runCommand } from '../../src/cli/main.ts';
import { findHome, HOME } from 'bench-machine/home';
import type { Trial } from 'bench-model/record';
import { readAllowedCores, readCores } from 'bench-machine/placement';
import { hidden } from 'bench-machine/redact';
import { listPids, readText } from 'bench-machine/procfs';
import { run, start, type Child } from 'bench-machine/subprocess';
import { removeLeftovers } from '../../src/conduct/session.ts';
import { scratchOf } from 'bench-machine/scratch';
import type { RunFile } from 'bench-model/run';
import { COMMAND, isOfTest, type Ended } from '../../../bench-lab/testing/user.ts';

/** The root of the repository, where every command starts. */
export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** The stack with planted faults. */
export const PLANTED = 'packages/bench-lab/planted/stack.json';
/** The stack with planted faults that uses a database. */
export const USERS = 'packages/bench-lab/planted/users/stack.json';
/** Starts `bench` so that a Ctrl-C in the terminal reaches it twice, as under `npx pnpm`. */
export const FORWARDER = 'node packages/bench/test/cli/forwarder.ts bench';
/** True on Linux, where /proc shows which processes belong to a test. */
export const hasProc = process.platform === 'linux';

const MARK = 'BENCH_TEST';
const POLL_MS = 50;
/** The longest wait for a condition on a busy machine. */
const PATIENCE_MS = 120_000;

/** Returns options as words of a command line: `{ rounds: 1 }` is `--rounds 1`. */
export function flags(options: Record<string, string | number>): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** The same, after a word that names what is measured. */
export function at(thing: string, options: Record<string, string | number>): string[] {
  return [thing, ...flags(options)];
}

/**
 * Runs a command in this process, which costs much less CPU than a process for it. The environment and the home of this
 * process decide where it writes.
 */
export async function runHere(command: Command<unknown>, words: readonly string[]): Promise<Ended> {
  hidden.clear();
  const printed = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    }),
  );
  try {
    return { status: await runCommand(command, words), ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Loads the command of this name. */
function named(name: string): Promise<Command<unknown>> {
  const file = findCommands().get(name);
  if (file === undefined) throw new Error(`no command ${name}`);
  return loadCommand(file);
}

let before: Promise<unknown> = Promise.resolve();
/** The environment of the tests, while a command in this process has another one. */
let ofTests: NodeJS.ProcessEnv | undefined;

/** Runs one after the other: they share the environment, the home and the output of this process. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = before.then(work);
  before = done.catch(() => {});
  return done;
}

/** Works in a folder and an environment, and with the home that follows from them. */
async function withEnvironment<T>(
  folder: string,
  env: NodeJS.ProcessEnv,
  work: () => Promise<T>,
): Promise<T> {
  const [old, home, cwd] = [{ ...process.env }, { ...HOME }, process.cwd()];
  try {
    ofTests = old;
    setVariables(env);
    process.chdir(folder);
    Object.assign(HOME, findHome(folder));
    return await work();
  } finally {
    setVariables(old);
    ofTests = undefined;
    process.chdir(cwd);
    Object.assign(HOME, home);
  }
}

function setVariables(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
}

/** Runs a command to its end in this process, in a folder and an environment, which is read when its turn has come. */
export function runIn(folder: string, words: string[], env: () => NodeJS.ProcessEnv): Promise<Ended> {
  const [name = '', ...args] = words;
  return inTurn(async () => {
    const command = await named(name);
    // Some modules keep folders of the home in which they are imported first: it must not be that of a user.
    await import('../../src/conduct/outcome.ts');
    return withEnvironment(folder, env(), () => withCores(() => runHere(command, args)));
  });
}

/** Works, and gives this process all cores back after a command that has pinned it. */
async function withCores<T>(work: () => Promise<T>): Promise<T> {
  const cores = readCores().map(({ id }) => id);
  try {
    return await work();
  } finally {
    const words = ['taskset', '--all-tasks', '--cpu-list', '--pid', cores.join(','), String(process.pid)];
    if ((readAllowedCores(process.pid)?.length ?? 0) < cores.length) await run(words).catch(() => {});
  }
}

/** Places of one file that exist at the same time; more than its tests that run at the same time. */
const PARTS = 8;
let places = 0;

/** Returns a part of the ports of this worker: commands that look for one at the same moment must not find the same. */
function nextPorts(): string {
  const [part = 1, parts = 1] = (process.env['BENCH_PORTS'] ?? '1/1').split('/').map(Number);
  return `${(part - 1) * PARTS + 1 + (places++ % PARTS)}/${parts * PARTS}`;
}

/** The contents of the lock file of a run. */
export interface LockFile {
  pid: number;
  run: string;
  token: string;
}

/**
 * A separate results folder, state folder and lock. Every process of a command that starts here has a mark in its
 * environment. Disposal ends these processes and removes the folder.
 */
export class Place implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'bench-cli-'));
  readonly results = join(this.folder, 'results');
  readonly state = join(this.folder, 'state');
  readonly lock = join(this.state, 'host.lock');
  /** The environment of a command with a separate cache: to list that of this checkout takes a second. */
  readonly ownCache = { BENCH_CACHE: join(this.folder, 'cache') };
  /** The temporary folder: shared by all places, or separate with `hasTemporary`. */
  readonly temporary: string;
  readonly #mark = randomUUID();
  readonly #ports = nextPorts();
  /** Processes from before this place: their environment need not be read again and again. */
  #others = new Set(listPids());

  constructor({ hasTemporary = false } = {}) {
    mkdirSync(this.state, { mode: 0o700 });
    this.temporary = hasTemporary ? join(this.folder, 'tmp') : tmpdir();
    if (!hasTemporary) return;
    mkdirSync(this.temporary);
    // PostgreSQL has its folder there, and runs as another user if the tests run as root.
    for (const folder of [this.folder, this.temporary]) chmodSync(folder, 0o755);
  }

  /** Runs a command to its end in this process, which remembers what it found on PATH and in `BENCH_TIME`. */
  run(command: string, args: string[] = [], env: Record<string, string> = {}, folder = ROOT): Promise<Ended> {
    return runIn(folder, [command, ...args], () => this.#env(env));
  }

  /** Starts `bench-http <command>` in a process, under the program of `prefix` if there is one. */
  start(
    command: string,
    args: string[] = [],
    env: Record<string, string> = {},
    prefix: readonly string[] = [],
  ): Running {
    const [program = '', ...words] = [...prefix, process.execPath, COMMAND, command, ...args];
    return this.#spawn(program, words, env);
  }

  /** Starts a command line in a terminal, so that a typed ^C is a Ctrl-C. */
  startInTerminal(line: string): Running {
    const args = process.platform === 'linux' ? ['-qec', line] : ['-q', '/dev/null', 'sh', '-c', line];
    return this.#spawn('script', process.platform === 'linux' ? [...args, '/dev/null'] : args, {});
  }

  #spawn(command: string, args: string[], env: Record<string, string>): Running {
    return new Running(start({ cwd: ROOT, env: this.#env(env), stdio: 'pipe' })`exec ${[command, ...args]}`);
  }

  #env(env: Record<string, string>): NodeJS.ProcessEnv {
    const inherited = Object.entries(ofTests ?? process.env).filter(([name]) => !isOfTest(name));
    return {
      ...Object.fromEntries(inherited),
      BENCH_RESULTS: this.results,
      BENCH_STATE: this.state,
      TMPDIR: this.temporary,
      [MARK]: this.#mark,
      BENCH_PORTS: this.#ports,
      NO_COLOR: '1',
      // The packages of this checkout are installed: pnpm need not check.
      pnpm_config_verify_deps_before_run: 'false',
      ...env,
    };
  }

  /** Returns all living processes of the commands that started here. */
  pids(): number[] {
    if (!hasProc) return [];
    const all = listPids();
    this.#others = new Set(all.filter((pid) => this.#others.has(pid)));
    return all.filter((pid) => !this.#others.has(pid) && this.#isOwn(pid));
  }

  /** True if a process has the mark. One without it never gets it: what starts here has it from its first program on. */
  #isOwn(pid: number): boolean {
    const environ = readText(`/proc/${pid}/environ`) ?? '';
    const isOwn = environ.split('\0').includes(`${MARK}=${this.#mark}`);
    // It is empty while a program is loaded, and once it has ended.
    if (!isOwn && environ !== '') this.#others.add(pid);
    return isOwn;
  }

  /** Returns those processes whose command line contains these words. */
  pidsOf(words: string): number[] {
    return this.pids().filter((pid) =>
      (readText(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').includes(words),
    );
  }

  /** Resolves when no process is left. Throws with the command lines of those that stay. */
  async untilGone(): Promise<void> {
    await until(() => this.pids().length === 0, 'the end of all processes').catch((error: unknown) => {
      const lines = this.pids().map((pid) => `${pid} ${readText(`/proc/${pid}/cmdline`)}`);
      throw new Error(`${String(error)}:\n${lines.join('\n').replaceAll('\0', ' ')}`, { cause: error });
    });
  }

  /** Returns the folder of the only run. */
  runFolder(): string {
    const [name, ...more] = readdirSync(this.results);
    if (name === undefined || more.length > 0) throw new Error(`not one run but ${more.length + 1}`);
    return join(this.results, name);
  }

  runFile(): RunFile {
    return JSON.parse(readFileSync(join(this.runFolder(), 'run.json'), 'utf8')) as RunFile;
  }

  /** Returns the complete records so far. */
  trials(): Trial[] {
    const [file] = globSync('*/trials.jsonl', { cwd: this.results });
    if (file === undefined) return [];
    const lines = readFileSync(join(this.results, file), 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Trial);
  }

  /** Returns the data folder of the database of the run that holds the lock. */
  scratch(): string {
    return scratchOf(this.holder()?.token ?? '', 'database', this.temporary);
  }

  /** Lists what is in the state folder but the list of the runs that its user began, which stays. */
  stateLeft(): string[] {
    return readdirSync(this.state).filter((name) => name !== 'runs');
  }

  /** Returns true once a command has opened its session, after which it handles a Ctrl-C. */
  hasSession(): boolean {
    return globSync('*.json', { cwd: this.state }).length > 0;
  }

  holder(): LockFile | undefined {
    const text = readText(this.lock);
    return text === undefined ? undefined : (JSON.parse(text) as LockFile);
  }

  /** Returns the number of servers launched so far. */
  countLaunched(): number {
    return globSync('*/logs/*.log', { cwd: this.results }).length;
  }

  /** Returns the account of the newest planted server; undefined until it answers. */
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
        // It has ended.
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
  readonly #child: Child;
  #stdout = '';
  #stderr = '';
  #status: number | null | undefined;

  constructor(child: Child) {
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

  /** The output so far. */
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

  /** Waits for a condition. Throws with the output if the command ends first. */
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

/** Waits for a condition and returns its value. Throws after a long time. */
export async function until<T>(condition: () => Condition<T>, what: string): Promise<T> {
  const look = async () => {
    const seen = await condition();
    return isTrue(seen) && pWaitFor.resolveWith(seen);
  };
  const message = `waited ${PATIENCE_MS / 1000} s in vain for ${what}`;
  return pWaitFor(look, { interval: POLL_MS, timeout: { milliseconds: PATIENCE_MS, message } });
}

function isTrue<T>(seen: T | false | undefined): seen is T {
  return seen !== undefined && seen !== false;
}

/** Returns true if a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  return (readText(`/proc/${pid}/environ`) ?? '') !== '';
}
