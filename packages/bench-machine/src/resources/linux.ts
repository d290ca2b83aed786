/** The sampler on Linux: cgroup or stat ticks for CPU, PSS for memory. */

import { TrialError } from 'bench-model/errors';
import type { HostWindow } from 'bench-model/measured';
import type { Resources } from 'bench-model/figures';
import { present } from 'bench-model/options';
import { cpuBetween, ownCpuUs, type CpuReading } from '../cpu.ts';
import type { Cgroup } from '../cgroup.ts';
import { openEveryone } from '../everyone.ts';
import { readCpuTotals, readTrouble, troubleBetween } from '../counters.ts';
import type { CpuTotals, TroubleCounters } from '../counters.ts';
import { ancestorsOf, type Process, readProcess } from '../procfs.ts';
import type { Sampled, Sampler, SamplerOptions } from './sampler.ts';
import { MemoryMeter, sumPssBytes } from './memory.ts';
import { Series } from './series.ts';
import {
  busiestBetween,
  ProcessTree,
  Turnover,
  readAllSwitches,
  readAllThreads,
  switchesBetween,
  type ThreadTimes,
} from './tree.ts';

/** All running sums at one moment, in µs. */
export interface Reading {
  atMs: number;
  everyoneUs: number | undefined;
  server: CpuReading | undefined;
  oursUs: number;
  harnessUs: number;
  totals: CpuTotals | undefined;
}

interface Window {
  ours: ProcessTree;
  opened: Reading;
  trouble: TroubleCounters;
  switches: Map<number, number>;
  threads: ThreadTimes;
  turnover: Turnover;
  memory: MemoryMeter;
  memoryOverTime: Series;
  timer: NodeJS.Timeout;
}

export class LinuxSampler implements Sampler {
  readonly #isKnown: boolean;
  readonly #tree: ProcessTree;
  readonly #cgroup: Cgroup | undefined;
  readonly #readEveryoneUs: (() => number) | undefined;
  readonly #memoryIntervalMs: number;
  /** Processes above the server, such as time(1): in its cgroup, but not part of it. */
  readonly #wrappers: Set<number>;
  #idleBytes: number | undefined;
  #window: Window | undefined;

  /** Throws a trial error if the process of the server is not running. */
  constructor({ serverPid, isRemote, cgroup, memoryIntervalMs = 100 }: SamplerOptions) {
    if (serverPid !== undefined && readProcess(serverPid) === undefined) {
      throw new TrialError(`the server (process ${serverPid}) is not running`, 'see its log');
    }
    const roots = serverPid === undefined ? [] : [serverPid];
    this.#isKnown = serverPid !== undefined;
    this.#tree = new ProcessTree(roots);
    this.#cgroup = roots.some((pid) => cgroup?.pids().includes(pid)) ? cgroup : undefined;
    // The CPU of a server whose process is unknown cannot be told from that of others.
    const isHidden = serverPid === undefined && !isRemote;
    this.#readEveryoneUs = isHidden ? undefined : openEveryone();
    this.#memoryIntervalMs = memoryIntervalMs;
    this.#wrappers = new Set(roots.flatMap(ancestorsOf));
  }

  // oxlint-disable-next-line typescript/require-await -- macOS must run another program.
  async idle(): Promise<number | undefined> {
    if (this.#isKnown) this.#idleBytes = sumPssBytes(this.#processes());
    return this.#idleBytes;
  }

  // oxlint-disable-next-line typescript/require-await -- macOS must run another program.
  async start(ours: readonly number[]): Promise<void> {
    this.#end();
    const tree = new ProcessTree(ours.filter((pid) => pid !== process.pid));
    const opened = this.#read(tree);
    const trouble = readTrouble();
    const processes = this.#processes();
    const turnover = new Turnover(processes);
    this.#window = {
      ours: tree,
      opened,
      trouble,
      switches: readAllSwitches(processes),
      threads: readAllThreads(processes),
      turnover,
      memory: new MemoryMeter(() => {
        const running = this.#processes();
        turnover.note(running);
        return running;
      }),
      memoryOverTime: new Series(),
      timer: setInterval(() => this.#sampleMemory(), this.#memoryIntervalMs).unref(),
    };
    this.#sampleMemory();
  }

  memory(): number | undefined {
    return this.#window?.memory.read();
  }

  // oxlint-disable-next-line typescript/require-await -- macOS must run another program.
  async stop(): Promise<Sampled> {
    const window = this.#end();
    if (window === undefined) throw new TrialError('no window is open');
    const closed = this.#read(window.ours);
    const trouble = troubleBetween(window.trouble, readTrouble());
    const server = this.#isKnown && this.#tree.rooted ? this.#serverBetween(window, closed) : undefined;
    return { ...(server && { server }), host: { ...hostBetween(window.opened, closed), ...trouble } };
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  #end(): Window | undefined {
    const window = this.#window;
    clearInterval(window?.timer);
    this.#window = undefined;
    return window;
  }

  /** The running processes of the server, without a wrapper that may share its cgroup. */
  #processes(): Process[] {
    const also = this.#cgroup?.pids().filter((pid) => !this.#wrappers.has(pid)) ?? [];
    return this.#tree.members(also).filter(({ zombie }) => !zombie);
  }

  #sampleMemory(): void {
    const { opened, memory, memoryOverTime } = this.#window ?? {};
    const bytes = memory?.read();
    if (opened === undefined || bytes === undefined) return;
    memoryOverTime?.add({ seconds: (performance.now() - opened.atMs) / 1000, bytes });
  }

  #read(ours: ProcessTree): Reading {
    return {
      atMs: performance.now(),
      everyoneUs: this.#readEveryoneUs?.(),
      server: this.#cgroup === undefined ? this.#tree.readCpu() : this.#cgroup.readCpu(),
      oursUs: ours.readCpu().totalUs,
      harnessUs: ownCpuUs(),
      totals: readCpuTotals(),
    };
  }

  #serverBetween(window: Window, closed: Reading): Resources | undefined {
    if (window.opened.server === undefined || closed.server === undefined) return undefined;
    const { userUs, systemUs } = cpuBetween(window.opened.server, closed.server);
    const seconds = (closed.atMs - window.opened.atMs) / 1000;
    const processes = this.#processes();
    const busiest = busiestBetween(window.threads, readAllThreads(processes), seconds);
    const loadedBytes = window.memory.read({ exactly: true });
    const { began, ended } = window.turnover;
    return {
      source: this.#cgroup === undefined ? 'proc stat ticks' : `cgroup ${this.#cgroup.version}`,
      scope: 'process tree',
      seconds,
      cpuUserUs: userUs,
      cpuSystemUs: systemUs,
      coresUsed: (userUs + systemUs) / 1e6 / seconds,
      ...(this.#idleBytes !== undefined && { idleBytes: this.#idleBytes }),
      ...(loadedBytes !== undefined && {
        loadedBytes,
        peakBytes: window.memory.peakBytes(),
        memoryOverTime: window.memoryOverTime.readings,
      }),
      contextSwitches: switchesBetween(window.switches, readAllSwitches(processes)),
      processes: processes.length,
      ...(began + ended > 0 && { turnover: { began, ended } }),
      busiest,
    };
  }
}

/** The use of the machine between two readings. Other processes are all processes less the server, `ours` and the harness. */
export function hostBetween(opened: Reading, closed: Reading): HostWindow {
  const us = (closed.atMs - opened.atMs) * 1000;
  const harness = closed.harnessUs - opened.harnessUs;
  const steal = difference(opened.totals?.stealUs, closed.totals?.stealUs);
  const everyone = difference(opened.everyoneUs, closed.everyoneUs);
  const server = difference(opened.server?.totalUs, closed.server?.totalUs);
  // The parts are read a moment after the whole, and in coarser steps: the difference can be negative in a short window.
  const known = server === undefined ? undefined : server + (closed.oursUs - opened.oursUs) + harness;
  const others = difference(known, everyone);
  return {
    harnessCores: harness / us,
    ...present({
      stealCores: steal && steal / us,
      otherProcessesCores: others && others / us,
    }),
  };
}

/** Returns what a figure has grown by; undefined if one of its readings is missing. */
function difference(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : to - from;
}
