/**
 * Sampling profilers of running servers. Each attaches while the server is idle, and is detached after the load. Which one
 * depends on the runtime: that of Python's standard library from 3.15 on, py-spy before, V8's in Node, perf for programs
 * that are compiled.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import { once } from 'node:events';
import pWaitFor from 'p-wait-for';
import { BenchError } from 'bench-model/errors';
import type { Profiled } from 'bench-model/why';
import { familyOf, readLink } from 'bench-machine/procfs';
import { findOnPath, hasEnded, killAndWait, run, start, type Child } from 'bench-machine/subprocess';
import { isNode } from '../prepare/collect.ts';
import { lastLine } from '../prepare/failures.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { askBySignal, HOOK, requiring, runtimesOf } from '../prepare/signals.ts';
import { PY_SPY } from '../prepare/pins.ts';
import { providePySpy } from './py-spy.ts';

/** Samples per second. perf gets an odd number, so that it does not beat with timers of the kernel. */
const RATES = { sampling: 1000, pySpy: 500, perf: 997 };
/** The longest time that a profiler may take to attach, and to write its profile. */
const ATTACH_MS = 15_000;
const POLL_MS = 20;

/** A profiler that samples a server. Disposing it detaches it, if it is still attached. */
export interface Recording extends AsyncDisposable {
  /** Detaches the profiler and returns its output. Throws a trial error if it failed. */
  stop(): Promise<Profiled[]>;
}

/** The profiler of a target. */
export interface Profiler {
  /** `py-spy 0.4.3`. */
  name: string;
  /** Returns the target as its server must be launched; `file` is the path prefix of what the server answers. */
  ready(prepared: Prepared, file: string): Prepared;
  /** Attaches to the processes of a server. `file` is a path prefix. Throws a trial error with the reason if it cannot. */
  attach(pid: number, file: string): Promise<Recording>;
}

/** Returns the profiler of a target. Throws a toolchain error with the reason if it has none. */
export async function findProfiler(prepared: Prepared, log: (line: string) => void): Promise<Profiler> {
  const { runtime, interpreter, stack, target } = prepared;
  if (process.platform !== 'linux') throw noProfiler('only on Linux can Bench profile a server');
  if (isNode(prepared)) return NODE;
  if (stack.runtime === 'node') throw noProfiler(`no profiler for ${target.runtime?.spec}`);
  if (stack.runtime !== 'python' || runtime === undefined || interpreter === undefined)
    return findPerf(prepared.command);
  if (runtime.build['implementation'] !== 'CPython')
    throw noProfiler(`no profiler for ${String(runtime.build['implementation'])}`);
  if (await hasSampling(interpreter)) return samplingOf(runtime.version);
  return pySpyAt(await providePySpy(interpreter, log));
}

function noProfiler(reason: string): BenchError {
  return new BenchError('toolchain', reason, 'its functions cannot be compared');
}

const asItIs = (prepared: Prepared): Prepared => prepared;

/** The profiler of the standard library reads only processes of its own version, so the server's interpreter runs it. */
function samplingOf(version: string): Profiler {
  const words = ['attach', '--all-threads', '--mode', 'cpu', '--sampling-rate', String(RATES.sampling)];
  return {
    name: `profiling.sampling of Python ${version}`,
    ready: asItIs,
    attach: (pid, file) =>
      attachTools(runtimesOf(pid, 'python'), file, (one, output) => ({
        argv: [
          readLink(`/proc/${one}/exe`),
          '-E',
          '-s',
          join(HOOK, 'sampling.py'),
          ...words,
          '--collapsed',
          '-o',
          output,
          String(one),
        ],
        isReady: (printed) => printed.includes('ready'),
      })),
  };
}

async function hasSampling(interpreter: string): Promise<boolean> {
  return run([interpreter, '-I', '-S', '-c', 'import profiling.sampling.cli']).then(
    () => true,
    () => false,
  );
}

/**
 * It pauses the server for each sample: without, stacks that change meanwhile are a mixture of several. With native frames, each
 * sample takes so long that there are less than half as many.
 */
function pySpyAt(program: string): Profiler {
  return {
    name: `py-spy ${PY_SPY.version}`,
    ready: asItIs,
    attach: (pid, file) =>
      attachTools(runtimesOf(pid, 'python'), file, (one, output) => ({
        argv: [
          program,
          'record',
          '--nolineno',
          '--full-filenames',
          '--rate',
          String(RATES.pySpy),
          '--format',
          'raw',
          '--output',
          output,
          '--pid',
          String(one),
        ],
        isReady: (printed) => printed.includes('Sampling process'),
      })),
  };
}

/** V8's profiler runs in the server: its hook starts and stops it at a signal. */
const NODE: Profiler = {
  name: "V8's CPU profiler",
  ready(prepared, file) {
    const env = { ...prepared.env, ...requiring(prepared.env, 'profile.cjs'), BENCH_PROFILE: file };
    return { ...prepared, env };
  },
  async attach(pid, file) {
    const pids = runtimesOf(pid, 'node');
    const ask = async (): Promise<string[]> => {
      const { SIGIO: signal } = constants.signals;
      const answers = await askBySignal(pids, { signal, file, milliseconds: ATTACH_MS });
      if (answers.length > 0 && answers.every(Boolean)) return answers;
      throw new BenchError(
        'trial',
        'the server did not answer the profiler: it replaced NODE_OPTIONS or ended',
      );
    };
    await ask();
    return {
      stop: async () => (await ask()).map((text) => ({ format: 'cpuprofile', text })),
      // It ends with its server.
      async [Symbol.asyncDispose]() {},
    };
  },
};

/** Programs that compile code at run time, whose functions perf cannot name. */
const COMPILES = /^(java|dotnet|ruby|php|beam|erl|lua|mono)/;

async function findPerf([command = '']: readonly string[]): Promise<Profiler> {
  const [name] = COMPILES.exec(basename(command)) ?? [];
  if (name !== undefined) throw noProfiler(`no profiler for ${name}`);
  const program = findOnPath('perf');
  if (program === undefined) throw noProfiler('perf is not on PATH; Debian has it in linux-perf');
  const { stdout } = await run([program, '--version']);
  return {
    name: stdout.trim().replace('perf version', 'perf'),
    ready: asItIs,
    async attach(pid, file) {
      const recording = await attachTools([pid], file, (one, output) => ({
        argv: [
          program,
          'record',
          '-g',
          '-F',
          String(RATES.perf),
          '-o',
          output,
          '-p',
          [...familyOf([one])].join(),
        ],
        isReady: () => existsSync(output),
        read: async () =>
          (await run([program, 'script', '--no-inline', '-F', 'ip,sym,dso', '-i', output])).stdout,
      }));
      return {
        ...recording,
        stop: async () => (await recording.stop()).map(({ text }) => ({ format: 'perf', text })),
      };
    },
  };
}

/** The program of a profiler for one process. */
interface Tool {
  argv: string[];
  /** Returns true once it samples, by what it has printed. */
  isReady: (printed: string) => boolean;
  /** Returns the profile as text; by default, the content of its output. */
  read?: () => Promise<string>;
}

/** Starts a profiler for each process. All run on the cores of this process, which are not those of the server. */
async function attachTools(
  pids: readonly number[],
  file: string,
  toolOf: (pid: number, output: string) => Tool,
): Promise<Recording> {
  if (pids.length === 0) throw new BenchError('trial', 'the processes of the server are unknown');
  const running: { child: Child; tool: Tool; output: string; printed: () => string }[] = [];
  const end = async (): Promise<void> => {
    for (const { child } of running) await killAndWait(child);
  };
  try {
    for (const pid of pids) {
      const output = `${file}-${pid}`;
      rmSync(output, { force: true });
      const tool = toolOf(pid, output);
      const child = start({ stdio: ['ignore', 'pipe', 'pipe'] })`exec ${tool.argv}`;
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (piece: Buffer) => (text += String(piece)));
      running.push({ child, tool, output, printed: () => text });
    }
    for (const { child, tool, printed } of running) {
      await waitFor(() => hasEnded(child) || tool.isReady(printed()), 'attach');
      if (hasEnded(child)) throw failed(printed());
    }
  } catch (error) {
    await end();
    throw error;
  }
  return {
    async stop() {
      for (const { child } of running) child.kill('SIGINT');
      return Promise.all(
        running.map(async ({ child, tool, output, printed }): Promise<Profiled> => {
          if (!hasEnded(child)) await once(child, 'exit', { signal: AbortSignal.timeout(ATTACH_MS) });
          if (!existsSync(output)) throw failed(printed());
          return { format: 'collapsed', text: await (tool.read?.() ?? readFileSync(output, 'utf8')) };
        }),
      );
    },
    [Symbol.asyncDispose]: end,
  };
}

async function waitFor(isDone: () => boolean, what: string): Promise<void> {
  const timeout = {
    milliseconds: ATTACH_MS,
    message: new BenchError('trial', `the profiler did not ${what} within ${ATTACH_MS / 1000} s`),
  };
  await pWaitFor(isDone, { interval: POLL_MS, timeout });
}

function failed(printed: string): BenchError {
  return new BenchError('trial', `the profiler failed: ${lastLine(printed) || 'it printed no reason'}`);
}
