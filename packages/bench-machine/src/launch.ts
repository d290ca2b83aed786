import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import pWaitFor from 'p-wait-for';
import { cureForFull, orUndefined, TrialError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { Attestation } from 'bench-model/target';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { ServerProcess, TimeReport } from 'bench-model/record';
import { readEnd, redactFile, trimFile } from './log-file.ts';
import { parseTime } from './time-report.ts';
import { describeListeners, findFreePort, haveListenersStarted, isListening } from './ports.ts';
import { type Cgroup, openCgroup } from './cgroup.ts';
import {
  addressesOf,
  childrenOf,
  environHas,
  familyOf,
  listenersOn,
  listPids,
  readProcess,
  readText,
  socketPathsOf,
  TICKS_PER_SECOND,
  type Listening,
} from './procfs.ts';
import { runSync, sendSignal, start, type Child } from './subprocess.ts';
import type { Tls } from './tls.ts';
import { sum } from 'bench-statistics/numbers';

const HOST = '127.0.0.1';
/** A server on one of these accepts connections to every address of its machine. */
const ALL_ADDRESSES = new Set(['0.0.0.0', '::']);
const POLL_MS = 10;
/** The longest time that a server may take to stop after SIGTERM before it is killed. */
const GRACE_MS = 5000;
const LOG_LINES = 20;
/** The part of a log that is read: a server may print gigabytes. */
const LOG_BYTES = 2 ** 26;
const TAIL_BYTES = 2 ** 16;
/** The part of a log that is kept at each end: a server may print 1 MB a second. */
const KEPT_BYTES = 2 ** 20;
/** The size that a log may have while its server runs, and the interval at which that is looked at. */
const MOST_LOG_BYTES = 2 ** 24;
const LOG_POLL_MS = 200;
/** The longest line that is shown. */
const LINE_CHARS = 1000;
/** The forms of interpreters, frameworks and helpers: "ModuleNotFoundError: …", "panic: …", "FATAL: …", "[emerg] …". */
const TELLS_ERROR = /(error|exception)\b(?!' event)|\b(panic|fatal|emerg)|not found|permission denied/i;
/** The head of a dump by Go or V8: the goroutines or frames that follow can be hundreds of lines. */
const CRASH = /^(panic|fatal error): /i;
/** The frames that some programs draw around their errors: a line of them, and what ends a line. */
const FRAME = /^[─-╿\s]*[─-╿][─-╿\s]*$/;
const FRAME_END = /\s*[│┃]?\s*$/;
const IN_FRAME = /^[─-╿\s]+|[─-╿\s]+$/g;
/** A frame in Node itself: about ten of them hide the error above, such as of a port that is taken. */
const OF_NODE = /^\s+at .*\bnode:[\w/]+:\d+:\d+/;
const HEADING = /^(error|exception)s?$/i;
/** Says that a server ends because of an error, which is in an earlier line. */
const TELLS_ONLY_END =
  /application startup failed|worker failed to boot|exception in worker|exited with code|shutting down/i;
const OF_DUMP = /^goroutine \d+ |^created by \S+ in goroutine \d|^ *\d+: 0x[\da-f]+ /;
const MAX_ERROR_CHARS = 200;

export interface LaunchSpec {
  /** The id of the trial: it names the kept files. */
  id: string;
  /** Marks every process of this run, so that a later start can recognise leftovers. */
  token: string;
  /** The argv of the server, with the placeholders `{host}`, `{port}`, `{workers}` and `{threads}`. */
  command: string[];
  cwd: string;
  /** Its variables; their values may contain `{host}` and `{port}`. */
  env: Record<string, string>;
  /** True for a server of the user: it keeps the user's variables for databases and for its own settings. */
  isOfUser?: boolean;
  /** Contents by environment variable: each is written to a file that the variable names. */
  files?: Record<string, string>;
  /** 1 by default. */
  workers?: number;
  threads?: number | undefined;
  /** The command prefix that pins the server to its cores; absent if pinning is not possible. */
  prefix?: readonly string[] | undefined;
  /** The words of `timeCommand`; absent without a report. */
  time?: readonly string[] | undefined;
  /** The address that it listens on; by default one that only this machine reaches. */
  host?: string | undefined;
  /** A free port; chosen if absent. */
  port?: number;
  /** How clients speak TLS to it; absent for plain HTTP. */
  tls?: Tls | undefined;
  /** The signal that stops the server; SIGTERM by default. */
  stopSignal?: StopSignal;
  /** A private folder that is removed when the server ends, also if Bench is killed. */
  scratch?: string;
  /** True if it prints where Bench prints, and not to its log. */
  isShown?: boolean;
  /** The folder of the run: logs and time reports are kept below it. */
  folder: string;
  /** Aborted when the run is interrupted; requests to the server end with it. */
  stopped?: AbortSignal | undefined;
}

/** The signals that a server accepts as a request to stop. */
type StopSignal = 'SIGTERM' | 'SIGQUIT';

/** The traces of a server that has stopped. */
export interface Stopped {
  time?: TimeReport;
  files: string[];
  /** Irregularities of the stop. */
  trouble: Reason[];
}

/** A running server. Disposing stops it in any state. */
export interface Server extends AsyncDisposable {
  host: string;
  port: number;
  /** Absent for plain HTTP. */
  tls?: Tls;
  /** Set if it runs on another machine. */
  isRemote?: true;
  /** The process of a server that was already running; absent if unknown. */
  process?: ServerProcess;
  /** Aborted when the run is interrupted. */
  stopped?: AbortSignal | undefined;
  /** Returns the process of the server itself, not of time(1); undefined if unknown. Throws if it has ended. */
  pid(): number | undefined;
  cgroup: Cgroup | undefined;
  /** The start on the monotonic clock; absent if somebody else started it. */
  startedAtMs: number | undefined;
  /** Returns the addresses that its processes listen on; empty if unknown. */
  listensOn?(): Listening[];
  /** Returns the paths of the Unix sockets that its processes listen on. */
  socketPaths?(): string[];
  /** True if its command does not name its port, so it may choose another one. */
  mayIgnorePort?: boolean;
  /** Returns how it ended; undefined while it runs. */
  ended(): string | undefined;
  /** Describes the program that has listened on its port since before it started; undefined if there is none, or it is unknown. */
  stranger?(): string | undefined;
  log(): string;
  logTail(): string[];
  /** Returns the attestations that its workers have printed so far. */
  attestations(): Attestation[];
  /** Sends SIGTERM to the server and SIGKILL to its group after a grace period, then checks that the port is closed. */
  stop(): Promise<Stopped>;
}

/** Starts a server under time(1) in its own process group. Throws a trial error if its port is taken. */
export async function launch(spec: LaunchSpec): Promise<Server> {
  const port = spec.port ?? (await findFreePort(spec.host));
  if (spec.port !== undefined && (await isListening(spec.host ?? HOST, port)))
    throw new TrialError(
      `port ${port} is taken, and the server listens on no other`,
      'stop what listens there',
    );
  try {
    return new LaunchedServer(port, spec);
  } catch (error) {
    const failed = error as NodeJS.ErrnoException;
    if (failed.errno === undefined || cureForFull(failed) !== undefined) throw error;
    throw new TrialError(`the server could not be launched: ${(error as Error).message}`);
  }
}

/** The variable that marks the processes of one server: some leave its process group. */
const MARK = 'BENCH_SERVER';

function markOf(spec: Pick<LaunchSpec, 'id' | 'token'>): string {
  return `${spec.token}-${numberOf(spec)}`;
}

/** Lists the last lines of a log that are not empty, or says that there are none; `indent` stands before the first words. */
export function describeTail(tail: readonly string[], indent = ''): string[] {
  const lines = tail.filter((line) => line !== '');
  return lines.length === 0
    ? [`${indent}it printed nothing`]
    : [`${indent}its last lines:`, ...lines.map((line) => `  | ${line}`)];
}

/** Returns the lines of a log to show: the last ones or, if those are in the middle of a dump, its head. */
export function tailOf(log: string): string[] {
  // Colours and moves of the cursor are for a terminal.
  const lines = stripVTControlCharacters(log)
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith(ATTEST) && !FRAME.test(line) && !OF_NODE.test(line))
    .map((line) => line.replace(FRAME_END, ''))
    .map((line) => (line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line));
  const last = lines.slice(-LOG_LINES);
  const crash = lines.findLastIndex((line) => CRASH.test(line));
  return crash >= 0 && last.some((line) => OF_DUMP.test(line)) ? lines.slice(crash, crash + LOG_LINES) : last;
}

/** Describes how a server ended, with the last error of its log; undefined while it runs. */
export function describeEnd(server: Pick<Server, 'ended' | 'logTail'>): string | undefined {
  const end = server.ended();
  if (end === undefined) return undefined;
  const error = lastError(server.logTail());
  if (error === undefined) return end;
  return `${end}: ${error.length > MAX_ERROR_CHARS ? `${error.slice(0, MAX_ERROR_CHARS - 1)}…` : error}`;
}

/** Returns the line of a log that says why its server ended, with the settings that it misses; undefined if none does. */
function lastError(tail: readonly string[]): string | undefined {
  const lines = tail.map((line) => line.replaceAll(IN_FRAME, '')).filter((line) => line !== '');
  const told = lines.flatMap((line, index) => {
    if (!TELLS_ERROR.test(line)) return [];
    return [HEADING.test(line) ? (lines[index + 1] ?? line) : line];
  });
  const found =
    lines.findLast((line) => CRASH.test(line)) ??
    told.findLast((line) => !TELLS_ONLY_END.test(line)) ??
    told.at(-1);
  if (found === undefined) return undefined;
  const missing = lines.filter((_, index) => /^field required\b/i.test(lines[index + 1] ?? ''));
  return missing.length === 0 ? found : `${found} (it misses ${missing.join(', ')})`;
}

/**
 * Returns the addresses that a server listens on instead of its own: on other ports, or on its own port of other
 * interfaces. Empty if it listens on its own, or nowhere.
 */
export function listensElsewhere(server: Pick<Server, 'host' | 'port' | 'listensOn'>): Listening[] {
  const all = server.listensOn?.() ?? [];
  const own = all.filter(({ port }) => port === server.port);
  if (own.some(({ address }) => address === server.host || ALL_ADDRESSES.has(address))) return [];
  return own.length > 0 ? own : all;
}

/** Writes the files of a server, and returns the variables that name them. */
function writeFiles(spec: LaunchSpec): Record<string, string> {
  // Names of one length in all trials: the size of the environment affects the memory layout of a server (Mytkowicz
  // et al. 2009).
  return Object.fromEntries(
    Object.entries(spec.files ?? {}).map(([variable, text]) => {
      const file = join(spec.folder, 'data', `${numberOf(spec)}-${variable}.json`);
      writeFileSync(file, text);
      return [variable, file];
    }),
  );
}

/** The part of an id that is unique in a run. */
function numberOf({ id }: Pick<LaunchSpec, 'id'>): string {
  return id.split('-', 1)[0] ?? id;
}

/** Describes what a program left behind that ended by itself, as a daemon does; empty if nothing. */
function describeLeft(pids: readonly number[]): string {
  const [first] = pids.map(readProcess).filter((one) => one !== undefined && !one.zombie);
  if (first === undefined) return '';
  return `, but its process ${first.pid} (${first.command}) still runs: it must stay in the foreground`;
}

/** Fills in the placeholders of a command. Without a number of threads, words with `{threads}` are omitted. */
export function fillCommand(
  command: string[],
  values: { workers: number; threads?: number | undefined; host: string; port: number },
): string[] {
  return command
    .filter((word) => values.threads !== undefined || !word.includes('{threads}'))
    .map((word) => fill(word, values));
}

/** Replaces the placeholders of these names. */
function fill(text: string, values: object): string {
  return Object.entries(values).reduce(
    (filled, [name, value]) => filled.replaceAll(`{${name}}`, String(value)),
    text,
  );
}

/** A server under time(1), with its log, its files and its cgroup. */
class LaunchedServer implements Server {
  readonly host: string;
  readonly port: number;
  readonly tls?: Tls;
  readonly cgroup: Cgroup | undefined;
  readonly startedAtMs: number;
  readonly mayIgnorePort: boolean;
  readonly stopped: AbortSignal | undefined;
  readonly #spec: LaunchSpec;
  readonly #logFile: string;
  readonly #timeFile: string;
  /** The id of its first process, and of its process group. */
  readonly #group: number;
  readonly #watchdog: Child;
  readonly #logBound: NodeJS.Timeout;
  /** A time before its first process started, in ticks since the boot. */
  readonly #bornAt = (uptime() - 1) * TICKS_PER_SECOND;
  readonly #exit: Promise<void>;
  #ended: string | undefined;
  #stopped: Promise<Stopped> | undefined;

  /** Starts it on this port. Throws what node:fs throws, as for a full disk. */
  constructor(port: number, spec: LaunchSpec) {
    const { host = HOST, folder, token, time, workers = 1, threads, prefix = [] } = spec;
    this.host = host;
    this.port = port;
    if (spec.tls !== undefined) this.tls = spec.tls;
    this.stopped = spec.stopped;
    this.mayIgnorePort = !spec.command.some((word) => word.includes('{port}'));
    this.#spec = spec;
    this.#logFile = join(folder, 'logs', `${spec.id}.log`);
    this.#timeFile = join(folder, 'time', `${spec.id}.txt`);
    for (const name of ['logs', 'time', 'data']) mkdirSync(join(folder, name), { recursive: true });
    // An attempt that was killed may have left files of the same names.
    for (const file of [this.#logFile, this.#timeFile]) rmSync(file, { force: true });
    // The server appends to it, also after it was shortened.
    const log = openSync(this.#logFile, 'a');
    const output = spec.isShown === true ? 'inherit' : log;
    const timed = time === undefined ? [] : [...time, this.#timeFile];
    const argv = [...timed, ...prefix, ...fillCommand(spec.command, { workers, threads, host, port })];
    const variables = Object.entries(spec.env).map(([name, value]) => [name, fill(value, { host, port })]);
    this.cgroup = openCgroup(markOf(spec)).cgroup;
    this.startedAtMs = performance.now();
    const child = start({
      cwd: spec.cwd,
      stdio: ['ignore', output, output],
      env: {
        ...neutralEnvironment(spec.isOfUser),
        ...writeFiles(spec),
        ...Object.fromEntries(variables),
        BENCH_TOKEN: token,
        [MARK]: markOf(spec),
      },
      // The shell becomes time(1), so that the pid and the group are those of the measured server.
    })`set -e; for file in ${this.cgroup?.procsFiles ?? []}; do echo $$ > "$file"; done; ulimit -n $(ulimit -Hn) || true; exec ${argv}`;
    closeSync(log);
    if (child.pid === undefined) throw new TrialError(`${spec.command[0]} could not be started`);
    this.#group = child.pid;
    this.#watchdog = watchGroup(this.#group, {
      ...spec,
      mark: `${MARK}=${markOf(spec)}`,
      cgroup: this.cgroup,
    });
    // As far as the file system can: a failure must not end the run.
    const boundLog = (): void => orUndefined(() => trimFile(this.#logFile, KEPT_BYTES, MOST_LOG_BYTES));
    this.#logBound = setInterval(boundLog, LOG_POLL_MS).unref();
    this.#exit = new Promise((resolve) => {
      child.once('exit', (status, signal) => {
        // time(1) and shells report a signal as 128 + its number.
        const killed = signal ?? (status !== null && status > 128 ? `signal ${status - 128}` : undefined);
        // A daemon ends its first process rightly, and goes on in another one.
        const mayBeDaemon = status === 0 && this.#stopped === undefined;
        const left = mayBeDaemon ? describeLeft(this.#strays()) : '';
        this.#ended = killed === undefined ? `exit status ${status}${left}` : `ended by ${killed}`;
        resolve();
      });
    });
  }

  pid(): number {
    if (this.#ended !== undefined) throw new TrialError(`the server is not running (${this.#ended})`);
    if (this.#spec.time === undefined) return this.#group;
    return childOf(this.#group) ?? this.#group;
  }

  listensOn(): Listening[] {
    return this.#ended === undefined ? addressesOf(familyOf([this.#group])) : [];
  }

  socketPaths(): string[] {
    return this.#ended === undefined ? socketPathsOf(familyOf([this.#group])) : [];
  }

  ended(): string | undefined {
    return this.#ended;
  }

  stranger(): string | undefined {
    const begin = readProcess(this.#group)?.startTicks;
    // To look at the sockets of all processes takes longer the more there are.
    if (listenersOn(this.port, [...familyOf([this.#group])]).length > 0) return undefined;
    const areOlder = begin !== undefined && haveListenersStarted(this.port, (ticks) => ticks < begin);
    return areOlder ? describeListeners(this.port) : undefined;
  }

  log(): string {
    return readEnd(this.#logFile, LOG_BYTES);
  }

  logTail(): string[] {
    return tailOf(readEnd(this.#logFile, TAIL_BYTES));
  }

  attestations(): Attestation[] {
    return this.log()
      .split('\n')
      .filter((line) => line.startsWith(ATTEST))
      .flatMap((line) => {
        const told = orUndefined<unknown>(() => JSON.parse(line.slice(ATTEST.length)));
        const isObject = typeof told === 'object' && told !== null && !Array.isArray(told);
        return isObject ? [told as Attestation] : [];
      });
  }

  stop(): Promise<Stopped> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(): Promise<Stopped> {
    const trouble: Stopped['trouble'] = [];
    if (this.#ended === undefined) {
      const server = this.pid();
      // Before time(1) has forked there is no report to keep.
      const { stopSignal = 'SIGTERM' } = this.#spec;
      sendSignal(server, stopSignal);
      // A stopped process (SIGSTOP) takes the signal only when it goes on.
      sendSignal(server, 'SIGCONT');
      if (!(await this.#endsWithin(GRACE_MS))) {
        trouble.push(makeReason('ignored-sigterm', { signal: stopSignal, seconds: GRACE_MS / 1000 }));
        sendSignal(server, 'SIGKILL');
        await this.#endsWithin(GRACE_MS);
      }
    }
    sendSignal(-this.#group, 'SIGKILL');
    for (const pid of this.#strays()) sendSignal(pid, 'SIGKILL');
    // A process that waits for a disk or a network file system dies later.
    if (!(await this.#endsWithin(GRACE_MS)))
      trouble.push(
        makeReason('not-stopped', { message: `it did not end ${GRACE_MS / 1000} s after SIGKILL` }),
      );
    await this.#endStrays();
    const endedAt = uptime() * TICKS_PER_SECOND;
    this.#watchdog.stdin?.end('done\n');
    clearInterval(this.#logBound);
    // A server that prints its requests also prints their tokens, and its command line can hold a password.
    trimFile(this.#logFile, KEPT_BYTES);
    for (const file of [this.#logFile, this.#timeFile]) redactFile(file);
    const { scratch } = this.#spec;
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
    // Another program may have taken the free port meanwhile: it is no child of the server, which did not live when it started.
    const isOther = (ticks: number): boolean => ticks < this.#bornAt || ticks > endedAt;
    if ((await isListening(this.host, this.port)) && !haveListenersStarted(this.port, isOther)) {
      trouble.push(
        makeReason('not-stopped', {
          message: `port ${this.port} is still open: ${describeListeners(this.port)}`,
        }),
      );
    }
    return { trouble, ...this.#readTime() };
  }

  /**
   * Kills the processes that left the group, and removes the cgroup. A process stays in it until it is reaped; without a
   * cgroup, the processes are found by their mark.
   */
  async #endStrays(): Promise<void> {
    const areGone = async (): Promise<boolean> => {
      const left = (await this.cgroup?.remove()) ?? this.#strays();
      for (const pid of left) sendSignal(pid, 'SIGKILL');
      return left.length === 0;
    };
    await pWaitFor(areGone, { interval: POLL_MS, timeout: { milliseconds: GRACE_MS, fallback: () => {} } });
  }

  /** Returns the processes of a server, of which some may have left its process group. */
  #strays(): number[] {
    if (this.cgroup !== undefined) return this.cgroup.pids();
    if (process.platform !== 'linux') return [];
    const mark = markOf(this.#spec);
    return listPids().filter((pid) => environHas(pid, MARK, mark) && readProcess(pid)?.zombie === false);
  }

  async #endsWithin(milliseconds: number): Promise<boolean> {
    await Promise.race([this.#exit, sleep(milliseconds, undefined, { ref: false })]);
    return this.#ended !== undefined;
  }

  #readTime(): Pick<Stopped, 'time' | 'files'> {
    const text = readText(this.#timeFile);
    const kept = text === undefined ? [this.#logFile] : [this.#logFile, this.#timeFile];
    const files = kept.map((file) => relative(this.#spec.folder, file));
    return { files, ...present({ time: orUndefined(() => parseTime(text ?? '')) }) };
  }
}

const ATTEST = 'bench-attest ';

/** Counts the attested workers: one per line, or the number of threads that a process names. */
export function countWorkers(told: Attestation[]): number {
  return sum(told.map(({ workers }) => (typeof workers === 'number' ? workers : 1)));
}

/** Variables that silently change a runtime. */
const OF_RUNTIMES = /^(PYTHON|NODE_(?!ENV$)|UV_|VIRTUAL_ENV|GO(GC|DEBUG|MAXPROCS|MEMLIMIT)$)/;
/** Variables that choose another database or mode; a server of the user needs those of the user. */
const OF_SERVERS = /^(PG[A-Z]|DATABASE_URL$|NODE_ENV$)/;

/** Returns the user's environment without variables that would silently change a measurement. */
function neutralEnvironment(isOfUser = false): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !OF_RUNTIMES.test(name) && (isOfUser || !OF_SERVERS.test(name)),
    ),
  );
}

function childOf(pid: number): number | undefined {
  if (process.platform === 'linux') return childrenOf(pid)[0];
  // pgrep fails if there is none.
  return orUndefined(() => Number(runSync(['pgrep', '-P', String(pid)]).stdout.split('\n')[0]));
}

/** The leftovers that a watchdog removes; none by default. */
interface Watched extends Pick<LaunchSpec, 'stopSignal' | 'scratch'> {
  /** The variable, with its value, of the processes that it ends although they have left the group. */
  mark?: string;
  cgroup?: Pick<Cgroup, 'procsFiles'> | undefined;
}

/**
 * The script of a watchdog: the group, the signal, the private folder and the mark are its first words, the folders of cgroups
 * the others. `-s`, because dash parses the `--` of `kill -TERM -- -1` as a number.
 */
const WATCH = `read -r word; [ "$word" = done ] && exit 0
kill -s "$2" -- "-$1"; sleep 1; kill -s KILL -- "-$1"; rm -rf -- "$3"; mark=$4; shift 4
for try in 1 2 3 4 5 6 7 8 9; do
  left=$(
    for folder; do cat "$folder/cgroup.procs"; done
    [ -z "$mark" ] || grep -lzxF -- "$mark" /proc/[0-9]*/environ | cut -d / -f 3
  )
  [ -z "$left" ] && { [ $# = 0 ] || rmdir "$@"; } && break
  kill -s KILL $left; sleep 0.1
done`;

/**
 * Starts a watchdog. If Bench is killed, it stops the server's group and what has left it, and removes the folder and cgroup of
 * the server. The line `done` on its stdin ends it.
 */
export function watchGroup(
  group: number,
  { stopSignal = 'SIGTERM', scratch = '', mark = '', cgroup }: Watched = {},
): Child {
  const cgroups = cgroup?.procsFiles.map((file) => dirname(file)) ?? [];
  const words = [String(group), stopSignal.slice(3), scratch, mark, ...cgroups];
  const dog = start({ stdio: ['pipe', 'ignore', 'ignore'] })`exec /bin/sh -c ${WATCH} sh ${words}`;
  dog.on('error', () => {});
  dog.stdin?.on('error', () => {});
  dog.unref();
  return dog;
}
