/** Reads what a server costs, and what else ran on the machine, while load is on it. */

import { BenchError } from '../../errors.ts';
import type { HostWindow, Resources } from '../../model.ts';
import type { Cgroup } from './cgroup.ts';
import { openDarwinSampler } from './darwin.ts';
import { openLinuxSampler } from './linux.ts';

/** What a sampler is to look at. */
export interface SamplerOptions {
  /** The server itself or, where that is not known, the time(1) that started it; all it starts is counted with it. */
  serverPid: number;
  /** The cgroup that the server was launched into; used when the server really is in it. */
  cgroup?: Cgroup | undefined;
  /** Between two readings of memory while a window is open. */
  memoryIntervalMs?: number;
}

/** One window as the sampler saw it. `server` is absent when the server ended before the window did. */
export interface Sampled {
  server?: Resources;
  host: HostWindow;
}

/** One server's sampler: any number of windows, one after the other. Closing it stops what still runs. */
export interface Sampler extends Disposable {
  /** Memory of the server's process tree now, in bytes; kept as the idle figure of the windows to come. */
  idle(): Promise<number | undefined>;
  /**
   * Opens a window: the CPU readings are taken before this returns, memory right after.
   * `ours` are processes whose CPU is not foreign, with all they start: generators, upstream, database, the other server of a duel.
   * The harness itself is always counted, and need not be among them.
   */
  start(ours: readonly number[]): Promise<void>;
  /** Closes the window. Throws a trial error when none is open. */
  stop(): Promise<Sampled>;
}

/** Opens the sampler of this platform. Throws a trial error when the server's process is not there, and on others than Linux and macOS. */
export async function openSampler(options: SamplerOptions): Promise<Sampler> {
  if (process.platform === 'linux') return openLinuxSampler(options);
  if (process.platform === 'darwin') return openDarwinSampler(options);
  throw new BenchError('trial', `resources cannot be sampled on ${process.platform}`, 'use Linux or macOS');
}
