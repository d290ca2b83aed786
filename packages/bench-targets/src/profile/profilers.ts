/**
 * Sampling profilers of running servers. Each attaches while the server is idle, and is detached after the load. Which one
 * depends on the runtime: that of Python's standard library from 3.15 on, py-spy before, V8's in Node, perf for programs
 * that are compiled.
 */
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import { BenchError, ToolchainError, TrialError } from 'bench-model/errors';
import type { Profiled } from 'bench-model/why';
import { familyOf, readLink, readProcess, TICKS_PER_SECOND } from 'bench-machine/procfs';
import { HOME } from 'bench-machine/home';
import { findProgram } from 'bench-machine/path';
import { run, tryRun } from 'bench-machine/subprocess';
import { compareVersions } from '../catalogue/releases.ts';
import { isNode } from '../prepare/collect.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { askBySignal, HOOK, hooked, runtimesOf } from '../prepare/signals.ts';
import { PY_SPY } from '../prepare/pins.ts';
import { provideUv } from '../prepare/uv.ts';
import { provideWheel } from '../prepare/wheels.ts';
import { ATTACH_MS, attachTools, type Observed } from './attach.ts';
import { besideServer } from './beside.ts';
import { nameGo } from './go.ts';
import { mergeThreads, MODES } from './threads.ts';

/** Samples per second. perf gets an odd number, so that it does not beat with timers of the kernel. */
const RATES = { sampling: 1000, pySpy: 500, perf: 997 };

/** A profiler that samples a server. Disposing it detaches it, if it is still attached. */
export interface Recording extends AsyncDisposable {
  /** Detaches the profiler and returns its output. Throws a trial error if it failed. */
  stop(): Promise<Profiled[]>;
}

/** The profiler of a target. */
export interface Profiler {
  /** `py-spy 0.4.3`. */
  name: string;
  /** Returns the target as its server must be launched, if not as it is; `file` is the path prefix of what the server responds. */
  ready?(prepared: Prepared, file: string): Prepared;
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
  const withSampling = [interpreter, '-I', '-S', '-c', 'import profiling.sampling.cli'];
  if ((await tryRun(withSampling)) !== undefined) return samplingOf(runtime.version);
  if (runtime.build['freethreaded'] === 'true')
    throw noProfiler(`py-spy cannot read Python ${runtime.version} without the GIL`);
  const install = [await provideUv(HOME.cache), 'pip', 'install', '--python', interpreter];
  return pySpyAt(await provideWheel(HOME.cache, PY_SPY, install, log), runtime.version);
}

function noProfiler(reason: string): BenchError {
  return new ToolchainError(reason, 'its functions cannot be compared');
}

/**
 * The profiler of the standard library reads only processes of its own version, so the server's interpreter runs it. It cannot
 * pause a server on Linux: a thread that is paused does not count as busy.
 */
function samplingOf(version: string): Profiler {
  const start = ['-E', '-s', join(HOOK, 'sampling.py'), 'attach', '--collapsed', '--all-threads'];
  const name = `profiling.sampling of Python ${version}`;
  return samplerOf(name, { ready: 'ready', perSecond: RATES.sampling }, ({ pid, of, rate, output }) => {
    return [readLink(`/proc/${pid}/exe`), ...start, '--mode', of, '--sampling-rate', rate, '-o', output, pid];
  });
}

/** A sampler of one process: of the threads that have or could have a core, or of the one that holds the GIL. */
interface Sampler extends Record<'pid' | 'rate' | 'output', string> {
  of: 'cpu' | 'gil';
  isStill: boolean;
  hasThreads: boolean;
}

/** A profiler with samplers for each process of Python, which print `ready` once they are attached. */
function samplerOf(
  name: string,
  { ready, perSecond }: { ready: string; perSecond: number },
  argvOf: (sampler: Sampler) => string[],
): Profiler {
  return {
    name,
    async attach(pid, file) {
      const { words, isStill } = await besideServer(pid);
      const pids = runtimesOf(pid, 'python');
      const hasThreads = pids.some((one) => (readProcess(one)?.threads ?? 0) > 1);
      const modes = hasThreads ? MODES : ([{ of: 'cpu', every: 1 }] as const);
      const samplers = pids.flatMap((one) => modes.map((mode) => ({ ...mode, pid: String(one) })));
      const observed = await attachTools(samplers, file, ({ every, ...one }, output) => ({
        argv: [...words, ...argvOf({ ...one, rate: String(perSecond / every), output, isStill, hasThreads })],
        isReady: (printed) => printed.includes(ready),
      }));
      if (!hasThreads) return recordingOf(observed, 'collapsed');
      const before = pids.map(busySeconds);
      const stop = async (): Promise<string[]> => {
        const busy = pids.map((one, index) => busySeconds(one) - (before[index] ?? 0));
        const texts = await observed.stop();
        return busy.map((seconds, index) => mergeThreads(texts.slice(2 * index), perSecond * seconds));
      };
      return recordingOf({ ...observed, stop }, 'collapsed');
    },
  };
}

function busySeconds(pid: number): number {
  const { userTicks = 0, systemTicks = 0 } = readProcess(pid) ?? {};
  return (userTicks + systemTicks) / TICKS_PER_SECOND;
}

function recordingOf(observed: Observed, format: Profiled['format']): Recording {
  return { ...observed, stop: async () => (await observed.stop()).map((text) => ({ format, text })) };
}

/**
 * It pauses a server that does not stand still: otherwise, stacks that change meanwhile are a mixture of several. A pause also
 * wakes threads that sleep, which then count as busy, so one with threads is not paused. Before Python 3.11, only a pause shows which
 * threads sleep. With native frames, there are less than half as many samples.
 */
function pySpyAt(program: string, version: string): Profiler {
  const words = [program, 'record', '--full-filenames', '--format', 'raw'];
  const mayBeStill = compareVersions(version, '3.11') >= 0;
  const terms = { ready: 'Sampling process', perSecond: RATES.pySpy };
  return samplerOf(`py-spy ${PY_SPY.version}`, terms, ({ pid, of, rate, output, isStill, hasThreads }) => {
    const goesOn = hasThreads || (isStill && mayBeStill);
    const how = [...(goesOn ? ['--nonblocking'] : []), ...(of === 'gil' ? ['--gil'] : [])];
    return [...words, ...how, '--rate', rate, '--output', output, '--pid', pid];
  });
}

/** V8's profiler runs in the server: its hook starts and stops it at a signal. */
const NODE: Profiler = {
  name: "V8's CPU profiler",
  ready(prepared, file) {
    const { env } = prepared;
    return { ...prepared, env: { ...env, ...hooked('node', env, { BENCH_PROFILE: file }) } };
  },
  async attach(pid, file) {
    const pids = runtimesOf(pid, 'node');
    const ask = async (): Promise<string[]> => {
      const { SIGIO: signal } = constants.signals;
      const answers = await askBySignal(pids, { signal, file, milliseconds: ATTACH_MS });
      if (answers.length > 0 && answers.every(Boolean)) return answers;
      throw new TrialError('the server did not respond the profiler: it replaced NODE_OPTIONS or ended');
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
  const program = findProgram('perf');
  if (program === undefined) throw noProfiler('perf is not on PATH; Debian has it in linux-perf');
  const { stdout } = await run([program, '--version']);
  return {
    name: stdout.trim().replace('perf version', 'perf'),
    async attach(pid, file) {
      const words = [program, 'record', '-g', '-F', String(RATES.perf), '-p'];
      const observed = await attachTools([pid], file, (one, output) => ({
        argv: [...words, [...familyOf([one])].join(), '-o', output],
        isReady: () => existsSync(output),
        read: async () => {
          const script = [program, 'script', '--no-inline', '-F', 'ip,sym,dso', '-i', output];
          return nameGo((await run(script)).stdout, `${output}.addresses`);
        },
      }));
      return recordingOf(observed, 'perf');
    },
  };
}
