import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, openSync, closeSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { $, type ProcessPromise } from 'zx';
import { BenchError } from '../errors.ts';
import type { Attestation, Reason, ServerProcess } from '../model.ts';
import { makeReason } from '../reasons.ts';
import { redact } from '../redact.ts';
import { parseTime, type TimeReport } from '../time-report.ts';
import { describeListeners, findFreePort, isListening } from './ports.ts';
import type { Cgroup } from './cgroup.ts';
import { openCgroup } from './cgroup.ts';
import { childrenOf, readText } from './procfs.ts';
import type { TimeCommand } from './time.ts';

const HOST = '127.0.0.1';
const POLL_MS = 10;
/** How long a server may take over SIGTERM before it is killed. */
const GRACE_MS = 5000;
const LOG_LINES = 20;
/** A log that is longer is left as it is: reading it would take the time of the next trial. */
const MOST_REDACTED_BYTES = 2 ** 24;
/** As interpreters, frameworks and helpers write it: "ModuleNotFoundError: …", "panic: …", "FATAL: …", "[emerg] …". */
const TELLS_ERROR = /(error|exception)\b|\b(panic|fatal|emerg)|not found|permission denied/i;
const MAX_ERROR_CHARS = 200;

/** How a server is started. */
export interface LaunchSpec {
  /** The trial's id: names the files that are kept. */
  id: string;
  /** Marks every process of this run, so that a later start can prove what is its own. */
  token: string;
  /** The server's argv with `{host}`, `{port}`, `{workers}` and `{threads}` still to be filled in. */
  command: string[];
  cwd: string;
  env: Record<string, string>;
  /** Contents by environment variable: each is written to a file that the variable names. */
  files: Record<string, string>;
  workers: number;
  threads?: number | undefined;
  /** Command that pins what follows it to the server's cores; empty where nothing can pin. */
  prefix: string[];
  time: TimeCommand | undefined;
  /** A free one; found where none is given. */
  port?: number;
  /** What ends it; SIGTERM unless told. */
  stopSignal?: StopSignal;
  /** A folder of its own that goes when it has ended, also when the harness is killed. */
  scratch?: string;
  /** The run's folder: logs and time reports are kept below it. */
  folder: string;
}

/** What a server takes as the order to end. */
export type StopSignal = 'SIGTERM' | 'SIGQUIT';

/** What is left of a server when it has stopped. */
export interface Stopped {
  time?: TimeReport;
  files: string[];
  /** What was unusual about the stop. */
  trouble: Reason[];
}

/** A running server. Disposing stops it, whatever state it is in. */
export interface Server extends AsyncDisposable {
  host: string;
  port: number;
  /** Set if it runs on another machine. */
  isRemote?: true;
  /** The process of a server that was already running; absent if it is not known. */
  process?: ServerProcess;
  /** The path of its log; absent where somebody else started it. */
  logFile?: string;
  /** The server itself, not time(1); undefined where it is not known. Throws when it has ended. */
  pid(): number | undefined;
  cgroup: Cgroup | undefined;
  /** On the monotonic clock; absent where somebody else started it. */
  startedAtMs: number | undefined;
  /** Undefined while it runs; how it ended once it has. */
  ended(): string | undefined;
  log(): string;
  logTail(): string[];
  /** What its workers have said of themselves so far. */
  attestations(): Attestation[];
  /** SIGTERM to the server itself, SIGKILL to its group after a grace period; then the port must be closed. */
  stop(): Promise<Stopped>;
}

/** Starts a server under time(1) in a process group of its own. Throws a trial error when its port is taken. */
export async function launch(spec: LaunchSpec): Promise<Server> {
  const port = spec.port ?? (await findFreePort());
  const logFile = join(spec.folder, 'logs', `${spec.id}.log`);
  const timeFile = join(spec.folder, 'time', `${spec.id}.txt`);
  const dataFolder = join(spec.folder, 'data');
  for (const folder of ['logs', 'time', 'data']) mkdirSync(join(spec.folder, folder), { recursive: true });

  const [number = ''] = spec.id.split('-', 1);
  // Names of one length for all trials of a run: the size of the environment moves a server's memory (Mytkowicz et al. 2009).
  const files = Object.entries(spec.files).map(([variable, text]) => {
    const file = join(dataFolder, `${number}-${variable}.json`);
    writeFileSync(file, text);
    return [variable, file] as const;
  });
  const command = fillCommand(spec.command, { ...spec, host: HOST, port });
  const timed = spec.time === undefined ? [] : [...spec.time.argv, timeFile];
  const argv = [...timed, ...spec.prefix, ...command];
  const { cgroup } = openCgroup(`${spec.token}-${number}`);

  // Anew: the attempt that a kill cut short may have left a log of the same name.
  const log = openSync(logFile, 'w');
  rmSync(timeFile, { force: true });
  const startedAtMs = performance.now();
  const child = $({
    cwd: spec.cwd,
    detached: true,
    nothrow: true,
    quiet: true,
    stdio: ['ignore', log, log],
    env: { ...neutralEnvironment(), ...Object.fromEntries(files), ...spec.env, BENCH_TOKEN: spec.token },
    // The shell becomes time(1), so that the pid and the group are those of what is measured.
  })`for file in ${cgroup?.procsFiles ?? []}; do echo $$ > "$file"; done; ulimit -n $(ulimit -Hn) || true; exec ${argv}`;
  closeSync(log);
  return new LaunchedServer({ spec, port, logFile, timeFile, cgroup, child, startedAtMs });
}

/** Undefined while it runs; else how it ended, and the error that its log tells last. */
export function describeEnd(server: Pick<Server, 'ended' | 'logTail'>): string | undefined {
  const end = server.ended();
  if (end === undefined) return undefined;
  const error = server.logTail().findLast((line) => TELLS_ERROR.test(line));
  return error === undefined ? end : `${end}: ${error.trim().slice(0, MAX_ERROR_CHARS)}`;
}

/** A command with its placeholders filled in; words with `{threads}` are left out where none were asked for. */
export function fillCommand(
  command: string[],
  { host, port, workers, threads }: Pick<LaunchSpec, 'workers' | 'threads'> & { host: string; port: number },
): string[] {
  return command
    .filter((word) => threads !== undefined || !word.includes('{threads}'))
    .map((word) =>
      word
        .replaceAll('{host}', host)
        .replaceAll('{port}', String(port))
        .replaceAll('{workers}', String(workers))
        .replaceAll('{threads}', String(threads)),
    );
}

interface Parts {
  spec: LaunchSpec;
  port: number;
  logFile: string;
  timeFile: string;
  cgroup: Cgroup | undefined;
  child: ProcessPromise;
  startedAtMs: number;
}

class LaunchedServer implements Server {
  readonly host = HOST;
  readonly port: number;
  readonly cgroup: Cgroup | undefined;
  readonly startedAtMs: number;
  readonly logFile: string;
  readonly #parts: Parts;
  readonly #group: number;
  readonly #watchdog: ChildProcess;
  readonly #exit: Promise<unknown>;
  #ended: string | undefined;
  #stopped: Promise<Stopped> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.port = parts.port;
    this.cgroup = parts.cgroup;
    this.startedAtMs = parts.startedAtMs;
    this.logFile = parts.logFile;
    if (parts.child.pid === undefined)
      throw new BenchError('trial', `${parts.spec.command[0]} could not be started`);
    this.#group = parts.child.pid;
    this.#watchdog = watchGroup(this.#group, { ...parts.spec, cgroup: parts.cgroup });
    this.#exit = parts.child.then(({ exitCode, signal }) => {
      // time(1) and shells report a signal as 128 + its number.
      const killed = signal ?? (exitCode !== null && exitCode > 128 ? `signal ${exitCode - 128}` : undefined);
      this.#ended = killed === undefined ? `exit status ${exitCode}` : `ended by ${killed}`;
    });
  }

  pid(): number {
    if (this.#ended !== undefined)
      throw new BenchError('trial', `the server is not running (${this.#ended})`);
    if (this.#parts.spec.time === undefined) return this.#group;
    return childOf(this.#group) ?? this.#group;
  }

  ended(): string | undefined {
    return this.#ended;
  }

  log(): string {
    return readText(this.#parts.logFile) ?? '';
  }

  logTail(): string[] {
    return this.log()
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith(ATTEST))
      .slice(-LOG_LINES);
  }

  attestations(): Attestation[] {
    return this.log()
      .split('\n')
      .filter((line) => line.startsWith(ATTEST))
      .flatMap((line) => {
        try {
          return [JSON.parse(line.slice(ATTEST.length)) as Attestation];
        } catch {
          return [];
        }
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
      // Before time(1) has forked there is nothing to keep a report of.
      const { stopSignal = 'SIGTERM' } = this.#parts.spec;
      sendSignal(server, stopSignal);
      if (!(await this.#endsWithin(GRACE_MS))) {
        trouble.push(makeReason('ignored-sigterm', { signal: stopSignal, seconds: GRACE_MS / 1000 }));
        sendSignal(server, 'SIGKILL');
        await this.#endsWithin(GRACE_MS);
      }
    }
    sendSignal(-this.#group, 'SIGKILL');
    for (const pid of this.cgroup?.pids() ?? []) sendSignal(pid, 'SIGKILL');
    await this.#exit;
    await this.#emptyCgroup();
    this.#watchdog.stdin?.end('done\n');
    this.#redactLog();
    const { scratch } = this.#parts.spec;
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
    if (await isListening(this.host, this.port)) {
      trouble.push(makeReason('port-held', { port: this.port, by: describeListeners(this.port) }));
    }
    return { trouble, ...this.#readTime() };
  }

  /** Ends what has left the group and is still in the cgroup, and removes that. A process is there until it is reaped. */
  async #emptyCgroup(): Promise<void> {
    const deadline = performance.now() + GRACE_MS;
    for (;;) {
      const held = (await this.cgroup?.remove()) ?? [];
      if (held.length === 0 || performance.now() > deadline) return;
      for (const pid of held) sendSignal(pid, 'SIGKILL');
      await sleep(POLL_MS);
    }
  }

  /** A server that says where its database is says its password. */
  #redactLog(): void {
    const { logFile } = this.#parts;
    const bytes = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > MOST_REDACTED_BYTES) return;
    const log = this.log();
    const clean = redact(log);
    if (clean !== log) writeFileSync(logFile, clean);
  }

  async #endsWithin(milliseconds: number): Promise<boolean> {
    const deadline = performance.now() + milliseconds;
    while (this.#ended === undefined && performance.now() < deadline) {
      await sleep(POLL_MS);
    }
    return this.#ended !== undefined;
  }

  #readTime(): Pick<Stopped, 'time' | 'files'> {
    const { spec, logFile, timeFile } = this.#parts;
    const files = [relative(spec.folder, logFile)];
    const text = readText(timeFile);
    if (text === undefined) return { files };
    files.push(relative(spec.folder, timeFile));
    try {
      return { files, time: parseTime(text) };
    } catch {
      return { files };
    }
  }
}

const ATTEST = 'bench-attest ';

/** How many workers have told what they are: one a line, or as many as the threads that a process says it serves with. */
export function countWorkers(told: Attestation[]): number {
  return told.reduce((sum, { workers }) => sum + (typeof workers === 'number' ? workers : 1), 0);
}

/** The user's environment without what would change a runtime unseen. */
function neutralEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(PYTHON|NODE_|UV_|VIRTUAL_ENV|PG[A-Z]|DATABASE_URL$|GO(GC|DEBUG|MAXPROCS|MEMLIMIT)$)/.test(name),
    ),
  );
}

function childOf(pid: number): number | undefined {
  if (process.platform === 'linux') return childrenOf(pid)[0];
  const found = spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .split('\n')[0];
  return found ? Number(found) : undefined;
}

/** Sends a signal to a process, or to a group by its negative id; one that is gone is fine. */
function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** What a watchdog removes: where it is told nothing, nothing. */
interface Watched extends Pick<LaunchSpec, 'stopSignal' | 'scratch'> {
  cgroup?: Pick<Cgroup, 'procsFiles'> | undefined;
}

/**
 * Outlives the harness by as long as it takes to end the server's group and to remove its folder and its cgroup, should
 * the harness be killed. A line `done` on its stdin sends it home.
 */
export function watchGroup(
  group: number,
  { stopSignal = 'SIGTERM', scratch = '', cgroup }: Watched = {},
): ChildProcess {
  // `-s`: dash takes the `--` of `kill -TERM -- -1` for a number.
  const script = [
    'read -r word; [ "$word" = done ] && exit 0; kill -s "$2" -- "-$1"; sleep 1; kill -s KILL -- "-$1"',
    'rm -rf -- "$3"; shift 3',
    'for folder; do for try in 1 2 3 4 5 6 7 8 9; do rmdir "$folder" && break',
    'kill -s KILL $(cat "$folder/cgroup.procs"); sleep 0.1; done; done',
  ].join('; ');
  const cgroups = cgroup?.procsFiles.map((file) => dirname(file)) ?? [];
  const words = [String(group), stopSignal.slice(3), scratch, ...cgroups];
  const dog = spawn('/bin/sh', ['-c', script, 'sh', ...words], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  dog.on('error', () => {});
  dog.stdin?.on('error', () => {});
  dog.unref();
  return dog;
}
