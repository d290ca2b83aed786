/** The sampler on macOS, which has neither /proc nor cgroups: it reads ps(1). Tested only on captured text. */

import { TrialError } from 'bench-model/errors';
import { cpuBetween, ownCpuUs, type CpuReading } from '../cpu.ts';
import { run } from '../subprocess.ts';
import type { Sampled, Sampler, SamplerOptions } from './sampler.ts';
import { Series } from './series.ts';
import { sum } from 'bench-statistics/numbers';

/** One line of ps. CPU in µs (resolution 10 ms), without children that have exited. */
interface PsProcess {
  pid: number;
  ppid: number;
  userUs: number;
  systemUs: number;
  residentBytes: number;
}

/** `=` after each keyword omits the heading. */
const PS_ARGUMENTS = ['-A', '-o', 'pid=,ppid=,utime=,stime=,rss='];

/** Reads the output of `ps -A -o pid=,ppid=,utime=,stime=,rss=` on macOS: times as `minutes:seconds.hundredths`, sizes in KiB. */
export function parsePs(text: string): PsProcess[] {
  return text.split('\n').flatMap((line) => {
    const fields = /^\s*(\d+)\s+(\d+)\s+([\d:.,]+)\s+([\d:.,]+)\s+(\d+)\s*$/.exec(line);
    if (fields === null) return [];
    const [, pid, ppid, user = '', system = '', kibibytes] = fields;
    return {
      pid: Number(pid),
      ppid: Number(ppid),
      userUs: clockUs(user),
      systemUs: clockUs(system),
      residentBytes: Number(kibibytes) * 1024,
    };
  });
}

function clockUs(clock: string): number {
  const seconds = clock
    .replace(',', '.')
    .split(':')
    .reduce((total, part) => total * 60 + Number(part), 0);
  return Math.round(seconds * 1e6);
}

/** Selects the processes that are among the roots or descend from one. */
export function familyIn(processes: readonly PsProcess[], roots: Iterable<number>): PsProcess[] {
  const family = new Set(roots);
  // Iterating over a set includes members that are added meanwhile.
  for (const pid of family) {
    for (const child of processes) if (child.ppid === pid && pid !== 0) family.add(child.pid);
  }
  return processes.filter(({ pid }) => family.has(pid));
}

/** The CPU of some processes, in µs. */
export function sumCpu(processes: readonly PsProcess[]): CpuReading {
  const userUs = sum(processes.map((process) => process.userUs));
  const systemUs = sum(processes.map((process) => process.systemUs));
  return { totalUs: userUs + systemUs, userUs, systemUs };
}

/**
 * CPU in µs between two listings of the processes outside the given families. Process 0 is the kernel, which carries the
 * loopback traffic of the load. A process that began in between counts in full; one that ended is lost.
 */
export function otherProcessesUs(
  before: readonly PsProcess[],
  after: readonly PsProcess[],
  ours: readonly number[],
): number {
  const known = new Set([...familyIn(before, ours), ...familyIn(after, ours)].map(({ pid }) => pid));
  const from = new Map(before.map((process) => [process.pid, process.userUs + process.systemUs]));
  const others = after.filter(({ pid }) => pid !== 0 && !known.has(pid));
  return sum(
    others.map(({ pid, userUs, systemUs }) => Math.max(0, userUs + systemUs - (from.get(pid) ?? 0))),
  );
}

async function readPs(): Promise<PsProcess[]> {
  const { stdout } = await run(['/bin/ps', ...PS_ARGUMENTS]);
  return parsePs(stdout);
}

/** One listing and its time. */
interface Reading {
  atMs: number;
  harnessUs: number;
  processes: PsProcess[];
}

/** Opens the macOS sampler. Throws a trial error if the process of the server is not running. */
export async function openDarwinSampler(options: SamplerOptions): Promise<Sampler> {
  const { serverPid } = options;
  if (serverPid !== undefined && familyIn(await readPs(), [serverPid]).length === 0) {
    throw new TrialError(`the server (process ${serverPid}) is not running`, 'see its log');
  }
  return new DarwinSampler(options);
}

class DarwinSampler implements Sampler {
  readonly #roots: number[];
  readonly #isHidden: boolean;
  readonly #memoryIntervalMs: number;
  #idleBytes: number | undefined;
  #peakBytes = 0;
  #memory = new Series();
  #ours: readonly number[] = [];
  #opened: Reading | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor({ serverPid, isRemote, memoryIntervalMs = 1000 }: SamplerOptions) {
    this.#roots = serverPid === undefined ? [] : [serverPid];
    this.#isHidden = serverPid === undefined && !isRemote;
    this.#memoryIntervalMs = memoryIntervalMs;
  }

  async idle(): Promise<number | undefined> {
    if (this.#roots.length > 0) this.#idleBytes = this.#residentIn(await readPs());
    return this.#idleBytes;
  }

  async start(ours: readonly number[]): Promise<void> {
    this[Symbol.dispose]();
    this.#ours = ours;
    this.#opened = await this.#read();
    const { atMs, processes } = this.#opened;
    this.#peakBytes = 0;
    this.#memory = new Series();
    this.#note(0, processes);
    this.#timer = setInterval(() => {
      const note = async (): Promise<void> => {
        this.#note((performance.now() - atMs) / 1000, await readPs());
      };
      // A failed listing costs one sample of memory, nothing else.
      note().catch(() => {});
    }, this.#memoryIntervalMs);
    this.#timer.unref();
  }

  async stop(): Promise<Sampled> {
    const opened = this.#opened;
    if (opened === undefined) throw new TrialError('no window is open');
    this[Symbol.dispose]();
    const closed = await this.#read();
    const us = (closed.atMs - opened.atMs) * 1000;
    const known = [...this.#roots, process.pid, ...this.#ours];
    const before = familyIn(opened.processes, this.#roots);
    const after = familyIn(closed.processes, this.#roots);
    const { userUs, systemUs } = cpuBetween(sumCpu(before), sumCpu(after));
    const loadedBytes = this.#residentIn(closed.processes);
    const alive = after.some(({ pid }) => this.#roots.includes(pid));
    return {
      ...(alive && {
        server: {
          source: 'ps',
          scope: 'process tree',
          seconds: us / 1e6,
          cpuUserUs: userUs,
          cpuSystemUs: systemUs,
          coresUsed: (userUs + systemUs) / us,
          ...(this.#idleBytes !== undefined && { idleBytes: this.#idleBytes }),
          loadedBytes,
          peakBytes: Math.max(this.#peakBytes, loadedBytes),
          memoryOverTime: this.#memory.readings,
          processes: after.length,
        },
      }),
      host: {
        ...(!this.#isHidden && {
          otherProcessesCores: otherProcessesUs(opened.processes, closed.processes, known) / us,
        }),
        harnessCores: (closed.harnessUs - opened.harnessUs) / us,
      },
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#opened = undefined;
  }

  #note(seconds: number, processes: readonly PsProcess[]): void {
    const bytes = this.#residentIn(processes);
    this.#peakBytes = Math.max(this.#peakBytes, bytes);
    this.#memory.add({ seconds, bytes });
  }

  #residentIn(processes: readonly PsProcess[]): number {
    return sum(familyIn(processes, this.#roots).map(({ residentBytes }) => residentBytes));
  }

  async #read(): Promise<Reading> {
    const processes = await readPs();
    return { atMs: performance.now(), harnessUs: ownCpuUs(), processes };
  }
}
