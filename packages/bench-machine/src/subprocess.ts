/** Subprocesses: every program that Bench runs or starts goes through this file, and through zx. */

import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import { $ } from 'zx/core';
import { TrialError } from 'bench-model/errors';
import { findProgram } from './path.ts';
import { familyOf, readProcess } from './procfs.ts';

/** The longest time that a program may take to stop after SIGTERM at its time limit, before it is killed, and to end then. */
const GRACE_MS = 2000;
/** The exit statuses of a shell that cannot find a program, or cannot execute it. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** The output of a program that ended with exit status 0. */
export interface Output {
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** Its working folder; that of Bench by default. */
  cwd?: string;
  /** Its whole environment; that of Bench by default. */
  env?: NodeJS.ProcessEnv;
  /** The time limit in ms; none by default. */
  timeoutMs?: number;
}

/** A program that did not end with exit status 0. The message is one line without its output. */
export class SubprocessError extends Error {
  override readonly name = 'SubprocessError';
  readonly why: 'missing' | 'not-executable' | 'not-started' | 'timeout' | 'killed' | 'failed';
  /** Null if it did not end by itself. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;

  constructor(
    why: SubprocessError['why'],
    message: string,
    { stdout, stderr, status = null }: Output & { status?: number | null },
  ) {
    super(message);
    this.why = why;
    this.status = status;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/** zx with every setting that a ZX_… variable of the user could change. Its own quotes need Bash. */
const zx = $({
  // Bash keeps environment variables with unusual names; not every sh does.
  shell: findProgram('bash') ?? '/bin/sh',
  quote,
  prefix: '',
  postfix: '',
  preferLocal: false,
  detached: false,
  timeout: 0,
  nothrow: true,
  quiet: true,
});

/**
 * Runs a program to its end and returns its output. Its stdin is empty. Throws a SubprocessError if it cannot be
 * started, fails, or does not end within the time limit.
 */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Output> {
  const { timeoutMs } = options;
  // The shell becomes the program, so a signal reaches the program.
  const running = zx(surroundings(options))`exec ${argv}`;
  awaited.set(running, '');
  for (const stream of [running.stdout, running.stderr]) stream.on('data', notePrinted(running));
  let isLate = false;
  // zx' own time limit needs ps, and does not end a program that ignores SIGTERM.
  const end = (signal: NodeJS.Signals): void => {
    isLate = true;
    running.child?.kill(signal);
    // A child of the program may hold its output open for longer.
    if (signal === 'SIGKILL') for (const stream of [running.stdout, running.stderr]) stream.destroy();
  };
  const timers =
    timeoutMs === undefined
      ? []
      : [setTimeout(end, timeoutMs, 'SIGTERM'), setTimeout(end, timeoutMs + GRACE_MS, 'SIGKILL')];
  const ended = await running;
  awaited.delete(running);
  for (const timer of timers) clearTimeout(timer);
  if (!isLate) return outputOf(argv, ended);
  const limit = `${argv[0]} did not end within ${(timeoutMs ?? 0) / 1000} s`;
  throw new SubprocessError('timeout', limit, ended);
}

/** Runs a program in the same way. Returns what it printed; undefined if it failed. */
export async function tryRun(argv: readonly string[], options: RunOptions = {}): Promise<string | undefined> {
  return (await run(argv, options).catch(() => undefined))?.stdout;
}

/** A program that `run` waits for. */
interface Program {
  child: ChildProcess | undefined;
}

/** The programs that `run` waits for, and the last line of each, in the order in which these were printed. */
const awaited = new Map<Program, string>();

// An interruption that ends this process must not leave an installer at work.
process.once('exit', stopPrograms);

/** Asks the programs that `run` waits for to end, with all that they have started: package managers wait for their scripts. */
export function stopPrograms(): void {
  const pids = [...awaited.keys()].flatMap(({ child }) => child?.pid ?? []);
  for (const pid of familyOf(pids)) sendSignal(pid, 'SIGTERM');
}

/** Sends a signal to a process, or to a group by its negative id. Ignores processes that have ended. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Returns a function that takes the pieces of an output, which may end within a line. */
function notePrinted(program: Program): (piece: Buffer) => void {
  let rest = '';
  return (piece) => {
    // A bar of progress returns to the begin of its line.
    const lines = (rest + String(piece)).split(/[\r\n]+/);
    rest = lines.pop() ?? '';
    const shown = [...(awaited.get(program) === '' ? [rest] : []), ...lines].map((line) =>
      stripVTControlCharacters(line).trim(),
    );
    const line = shown.findLast((one) => one !== '');
    if (line === undefined) return;
    awaited.delete(program);
    awaited.set(program, line);
  };
}

/** Returns the last line that a program has printed which still runs; undefined if there is none. */
export function lastPrinted(): string | undefined {
  return [...awaited.values()].findLast((line) => line !== '');
}

/** The same for the few places that cannot wait. Blocks the event loop. */
export function runSync(argv: readonly string[], options: Omit<RunOptions, 'timeoutMs'> = {}): Output {
  return outputOf(argv, zx({ ...surroundings(options), sync: true })`exec ${argv}`);
}

/** A program that runs beside Bench. Its id is also that of its process group. */
export type Child = ChildProcess;

/** The surroundings of a program that runs beside Bench. */
interface StartOptions extends Pick<RunOptions, 'cwd' | 'env'> {
  stdio: StdioOptions;
}

/**
 * Starts a shell command in a separate process group, so that a Ctrl-C in the terminal does not reach it. The command
 * ends with `exec`: the shell becomes the program. Words that are inserted are quoted.
 */
export function start(options: StartOptions): (pieces: TemplateStringsArray, ...words: unknown[]) => Child {
  return (pieces, ...words) => {
    const spawn = (): Child => {
      const { child } = zx({ ...surroundings(options), detached: true })(pieces, ...words);
      if (child === undefined) throw new TrialError('a process could not be started');
      return child;
    };
    let child = spawn();
    while (wasInterrupted(child)) child = spawn();
    return child;
  };
}

/**
 * True if a Ctrl-C has killed a program before it left the process group of the terminal, where `spawn` forks it. `spawn`
 * returns once a program runs or is dead. False without /proc.
 */
function wasInterrupted({ pid = 0 }: Child): boolean {
  return readProcess(pid)?.waitStatus === constants.signals.SIGINT;
}

/** Returns true if a program has ended, or never ran. */
export function hasEnded({ exitCode, signalCode, pid }: Child): boolean {
  return exitCode !== null || signalCode !== null || pid === undefined;
}

/** Kills a program and what it has started, unless it has ended, and waits for its end, but not for one that the kernel holds. */
export async function killAndWait(child: Child): Promise<void> {
  const { pid } = child;
  if (pid === undefined || hasEnded(child)) return;
  const gone = once(child, 'exit', { signal: AbortSignal.timeout(GRACE_MS) }).catch(() => {});
  sendSignal(-pid, 'SIGKILL');
  await gone;
}

const SILENT: Output = { stdout: '', stderr: '' };

/**
 * Variables by which Bash runs code of its user before a program, or another one in its place: a script, switches, functions.
 * `ENV` stays: only an interactive shell reads it, and servers have a setting of that name. So do the variables of languages, such
 * as RUBYOPT: they belong to programs that the user named.
 */
const OF_BASH = /^(BASH_ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/;

/**
 * Returns the options of zx for a program. Bash does not run the user's `~/.bashrc` in this environment: with a pipe as its stdin
 * it takes itself for a remote shell, unless SHLVL shows a shell above it. A terminal sets SHLVL; cron, systemd and `exec` do not.
 */
function surroundings({
  cwd = process.cwd(),
  env = process.env,
  stdio = ['ignore', 'pipe', 'pipe'],
}: Partial<StartOptions>) {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !OF_BASH.test(name)));
  return { cwd, env: Number(env['SHLVL']) >= 1 ? kept : { ...kept, SHLVL: '1' }, stdio };
}

/** Quotes a word for a POSIX shell. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

interface Ended extends Output {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  cause: unknown;
}

function outputOf([program = '']: readonly string[], ended: Ended): Output {
  const { stdout, stderr, exitCode, signal, cause } = ended;
  if (exitCode === 0) return { stdout, stderr };
  if (cause instanceof Error)
    throw new SubprocessError('not-started', `${program} could not be started: ${cause.message}`, SILENT);
  // The words of the shell would only repeat the message.
  if (exitCode === NOT_FOUND) throw new SubprocessError('missing', `${program} was not found`, SILENT);
  if (exitCode === NOT_EXECUTABLE)
    throw new SubprocessError('not-executable', `${program} cannot be executed`, SILENT);
  const printed = { stdout, stderr };
  if (signal !== null) throw new SubprocessError('killed', `${program} was ended by ${signal}`, printed);
  throw new SubprocessError('failed', `${program} failed with exit status ${exitCode}`, {
    ...printed,
    status: exitCode,
  });
}
