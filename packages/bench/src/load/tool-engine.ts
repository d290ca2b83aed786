import { spawn, type ChildProcess } from 'node:child_process';
import { engineNamed } from '../catalogue/engines.ts';
import { BenchError } from '../errors.ts';
import type { LoadResult } from '../results/record.ts';
import { watchGroup } from '../machine/launch.ts';
import type { LoadEngine, LoadSession, Window } from './engine.ts';
import { summarise } from '../histogram.ts';
import { countCompletions } from '../counts.ts';
import type { LoadSpec } from './protocol.ts';
import type { Tool, ToolRun } from './tools/tool.ts';
import { toAuthority } from '../machine/ports.ts';

/** How a tool is run. */
export interface ToolSpec {
  tool: Tool;
  /** The command that pins it to its cores. */
  prefix: string[];
  /** How many those are. */
  cores: number;
  /** Marks its processes, so that a later start can prove what is its own. */
  token: string;
}

/** A tool of others as an engine: it connects by itself, warms up in a run of its own, and its second run is the window. */
export function createToolEngine(spec: ToolSpec): LoadEngine {
  return {
    name: spec.tool.name,
    open: (load, threads) => new ToolSession(spec, load, threads),
  };
}

/** What one run of the tool printed and cost. */
interface Ran {
  stdout: string;
  cpuUs: number;
  seconds: number;
}

class ToolSession implements LoadSession {
  readonly #spec: ToolSpec;
  readonly #load: LoadSpec;
  readonly #threads: number;
  readonly #shell: Shell;

  constructor(spec: ToolSpec, load: LoadSpec, threads: number) {
    this.#spec = spec;
    this.#load = load;
    this.#threads = threads;
    this.#shell = new Shell(spec);
  }

  get pids(): number[] {
    return this.#shell.pids;
  }

  async arm(): Promise<void> {}

  async fire(
    { warmupSeconds, windowSeconds }: Window,
    mark: (edge: 'opened' | 'closed') => void,
  ): Promise<LoadResult> {
    if (warmupSeconds > 0) await this.#run(warmupSeconds);
    const openedAtMs = Date.now();
    mark('opened');
    const ran = await this.#run(windowSeconds);
    mark('closed');
    return this.#tell(ran, openedAtMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#shell.end();
  }

  #run(seconds: number): Promise<Ran> {
    const { host, port, requests, connections, timeoutSeconds } = this.#load;
    const { path = '/', headers = {} } = requests[0] ?? {};
    const run: ToolRun = {
      url: `http://${toAuthority({ host, port })}${path}`,
      headers,
      connections,
      threads: this.#threads,
      seconds,
      timeoutSeconds,
    };
    return this.#shell.run(this.#spec.tool.argv(run));
  }

  #tell({ stdout, cpuUs, seconds }: Ran, openedAtMs: number): LoadResult {
    const { tool, cores } = this.#spec;
    const { connections, timeoutSeconds } = this.#load;
    const { windowSeconds, counts, refused, statusCodes, latency } = readOutput(tool, stdout);
    const used = engineNamed(tool.name)?.generators === 'threads' ? Math.min(cores, this.#threads) : cores;
    return {
      engine: tool.name,
      connect: { asked: connections, ...(refused === undefined ? {} : { refused }) },
      windowSeconds,
      openedAtMs,
      closedAtMs: Date.now(),
      counts,
      ...(statusCodes === undefined ? {} : { statusCodes }),
      goodputPerSecond: counts.ok / windowSeconds,
      completionsPerSecond: countCompletions(counts) / windowSeconds,
      latencyUs: summarise(latency, counts.timeout ?? 0, timeoutSeconds),
      generators: [{ cpuUs, seconds, ...(used > 1 ? { cores: used } : {}) }],
    };
  }
}

function readOutput(tool: Tool, stdout: string): ReturnType<Tool['read']> {
  try {
    const told = tool.read(stdout);
    if (!(told.windowSeconds > 0 && told.counts.ok >= 0)) throw new Error('no window');
    return told;
  } catch (error) {
    const start = stdout.trim().slice(0, 200);
    throw new BenchError(
      'trial',
      `${tool.name} did not print what is known of its versions (${(error as Error).message}): ${start}`,
    );
  }
}

const STATUS = 'bench-status ';
const END = 'bench-end';

/**
 * A shell that runs one command after the other and outlives each, so that their CPU is found with it: whoever samples
 * a window reads it when the tool has already ended. It ends with the harness, and what it runs too.
 */
class Shell {
  readonly #child: ChildProcess;
  readonly #watchdog: ChildProcess | undefined;
  readonly #tool: string;
  #stdout = '';
  #stderr = '';
  /** Of the commands so far. */
  #cpuUs = 0;
  #waiting = Promise.withResolvers<string>();

  constructor({ prefix, token, tool }: ToolSpec) {
    this.#tool = tool.name;
    const [command, ...args] = [...prefix, '/bin/sh', '-s'];
    this.#child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, LC_ALL: 'C', BENCH_TOKEN: token },
    });
    this.#watchdog = this.#child.pid === undefined ? undefined : watchGroup(this.#child.pid);
    this.#waiting.promise.catch(() => {});
    this.#child.stdin?.on('error', () => {});
    this.#child.on('error', (error) => this.#break(error.message));
    this.#child.on('exit', (status, signal) => this.#break(`it ended (${signal ?? status})`));
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      if (this.#stdout.endsWith(`${END}\n`)) this.#waiting.resolve(this.#stdout);
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2000);
    });
  }

  get pids(): number[] {
    return this.#child.pid === undefined ? [] : [this.#child.pid];
  }

  /** Runs one command to its end. Throws a trial error when it fails. */
  async run(argv: string[]): Promise<Ran> {
    this.#stdout = '';
    const startedAt = performance.now();
    this.#child.stdin?.write(
      `${argv.map(quote).join(' ')} </dev/null; echo "\n${STATUS}$?"; times; echo ${END}\n`,
    );
    const printed = await this.#waiting.promise;
    const seconds = (performance.now() - startedAt) / 1000;
    this.#waiting = Promise.withResolvers();
    this.#waiting.promise.catch(() => {});
    const at = printed.lastIndexOf(STATUS);
    const [status = '', , children = ''] = printed.slice(at + STATUS.length).split('\n');
    if (status !== '0')
      throw new BenchError('trial', `${this.#tool} failed (exit status ${status}): ${this.#stderr.trim()}`);
    const before = this.#cpuUs;
    this.#cpuUs = readTimes(children);
    return { stdout: printed.slice(0, at), cpuUs: this.#cpuUs - before, seconds };
  }

  async end(): Promise<void> {
    this.#child.removeAllListeners('exit');
    this.#watchdog?.stdin?.end('done\n');
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => {
      this.#child.once('exit', resolve);
    });
    process.kill(-pid, 'SIGKILL');
    await gone;
  }

  #break(why: string): void {
    this.#waiting.reject(
      new BenchError('trial', `the load generator broke: ${`${why}. ${this.#stderr}`.trim()}`),
    );
  }
}

/** User and system time as `times` prints them, `0m1.20s 0m0.30s`, in µs together. */
function readTimes(line: string): number {
  const spans = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  if (spans.length !== 2) throw new BenchError('trial', `the shell does not tell its times: ${line}`);
  return spans.reduce((sum, [, minutes, seconds]) => sum + (Number(minutes) * 60 + Number(seconds)) * 1e6, 0);
}

/** A word as a POSIX shell takes it for one. */
function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
