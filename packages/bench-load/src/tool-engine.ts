import { engineNamed } from 'bench-model/engines';
import { TrialError } from 'bench-model/errors';
import type { LoadResult } from 'bench-model/load';
import { watchGroup } from 'bench-machine/launch';
import { killAndWait, quote, start, type Child } from 'bench-machine/subprocess';
import { inTime } from './deadline.ts';
import type { LoadEngine, LoadSession, Window } from './engine.ts';
import { summarise, timeoutsOf } from 'bench-statistics/histogram';
import { countCompletions } from 'bench-model/counts';
import type { LoadSpec } from './protocol.ts';
import { describeExit, KEPT_STDERR } from './listen.ts';
import type { Tool, ToolRun } from './tools/tool.ts';
import { toOrigin } from 'bench-machine/tls';
import { sum } from 'bench-statistics/numbers';

interface ToolSpec {
  tool: Tool;
  version?: string | undefined;
  /** The command that pins it to its cores. */
  prefix: string[];
  cores: number;
  /** Marks its processes, so that a later command can recognise them. */
  token: string;
}

/** Makes an engine of an external tool. The tool connects by itself; its first run is the warm-up, the second is the window. */
export function createToolEngine(spec: ToolSpec): LoadEngine {
  return {
    name: spec.tool.name,
    version: spec.version,
    open: (load, threads) => new ToolSession(spec, load, threads),
  };
}

/** The time for which a tool may go on after its load and its last timeout before it counts as hung. */
const LATE_SECONDS = 60;

/** The output and the cost of one run of the tool. */
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
    const beganAtMs = Date.now();
    if (windowSeconds === 0) return this.#tell(await this.#run(warmupSeconds), beganAtMs);
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
    const { host, port, tls, requests, connections, timeoutSeconds } = this.#load;
    const { path = '/', headers = {} } = requests[0] ?? {};
    const run: ToolRun = {
      url: `${toOrigin({ host, port, tls })}${path}`,
      isInsecure: tls?.verifies === false,
      headers,
      connections,
      threads: this.#threads,
      seconds,
      timeoutSeconds,
    };
    const { tool } = this.#spec;
    return inTime(this.#shell.run(tool.argv(run)), seconds + timeoutSeconds + LATE_SECONDS, tool.name);
  }

  #tell({ stdout, cpuUs, seconds }: Ran, openedAtMs: number): LoadResult {
    const { tool, cores } = this.#spec;
    const { connections, timeoutSeconds } = this.#load;
    const { windowSeconds, counts, latency } = readOutput(tool, stdout);
    const used = engineNamed(tool.name)?.generators === 'threads' ? Math.min(cores, this.#threads) : cores;
    return {
      engine: tool.name,
      connect: { planned: connections },
      windowSeconds,
      openedAtMs,
      closedAtMs: Date.now(),
      counts,
      goodputPerSecond: counts.ok / windowSeconds,
      completionsPerSecond: countCompletions(counts) / windowSeconds,
      latencyUs: summarise(latency, timeoutsOf(counts.timeout ?? 0, timeoutSeconds)),
      generators: [{ cpuUs, seconds, ...(used > 1 ? { cores: used } : {}) }],
    };
  }
}

function readOutput(tool: Tool, stdout: string): ReturnType<Tool['read']> {
  try {
    const reported = tool.read(stdout);
    if (!(reported.windowSeconds > 0 && reported.counts.ok >= 0)) throw new Error('no window');
    return reported;
  } catch (error) {
    const excerpt = stdout.trim().slice(0, 200);
    throw new TrialError(
      `the output of ${tool.name} is not in a known format (${(error as Error).message}): ${excerpt}`,
    );
  }
}

const STATUS = 'bench-status ';
const END = 'bench-end';

/**
 * A shell that runs one command after the other. It outlives each, so that the sampler can read their CPU after the tool
 * has ended. The shell and its commands end with the harness.
 */
class Shell {
  readonly #child: Child;
  readonly #watchdog: Child | undefined;
  readonly #tool: string;
  #stdout = '';
  #stderr = '';
  /** The CPU of the commands so far. */
  #cpuUs = 0;
  #waiting = Promise.withResolvers<string>();

  constructor({ prefix, token, tool }: ToolSpec) {
    this.#tool = tool.name;
    const env = { ...process.env, LC_ALL: 'C', BENCH_TOKEN: token };
    this.#child = start({ stdio: 'pipe', env })`exec ${[...prefix, '/bin/sh', '-s']}`;
    this.#watchdog = this.#child.pid === undefined ? undefined : watchGroup(this.#child.pid);
    this.#waiting.promise.catch(() => {});
    this.#child.stdin?.on('error', () => {});
    this.#child.on('error', (error) => this.#break(error.message));
    this.#child.on('exit', (status, signal) => this.#break(describeExit(signal ?? status, this.#stderr)));
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      if (this.#stdout.endsWith(`${END}\n`)) this.#waiting.resolve(this.#stdout);
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT_STDERR);
    });
  }

  get pids(): number[] {
    return this.#child.pid === undefined ? [] : [this.#child.pid];
  }

  /** Runs one command to its end. Throws a trial error if it fails. */
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
      throw new TrialError(`${this.#tool} failed (exit status ${status}): ${this.#stderr.trim()}`);
    const before = this.#cpuUs;
    this.#cpuUs = readTimes(children);
    return { stdout: printed.slice(0, at), cpuUs: this.#cpuUs - before, seconds };
  }

  async end(): Promise<void> {
    this.#child.removeAllListeners('exit');
    this.#watchdog?.stdin?.end('done\n');
    await killAndWait(this.#child);
  }

  #break(why: string): void {
    this.#waiting.reject(new TrialError(`the load generator failed: ${why}`));
  }
}

/** Adds user and system time in the format of `times`, `0m1.20s 0m0.30s`, in µs. */
function readTimes(line: string): number {
  const spans = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  if (spans.length !== 2) throw new TrialError(`the shell did not print its times: ${line}`);
  return sum(spans.map(([, minutes, seconds]) => (Number(minutes) * 60 + Number(seconds)) * 1e6));
}
