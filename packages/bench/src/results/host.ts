/** The machine that a run was measured on, as stored in `host.json`. Contains no user names, host names or paths. */

import { arch, cpus, loadavg, release, totalmem } from 'node:os';
import { readEphemeralPorts, readGovernor, readOpenFiles, readSomaxconn, sysctl } from '../machine/facts.ts';
import { tryCgroup } from '../machine/cgroup.ts';
import { readText } from '../machine/procfs.ts';

/** A machine and its state before the run. Facts that it does not report are absent. */
export interface Host {
  platform: NodeJS.Platform;
  arch: string;
  /** The version of the kernel. */
  release: string;
  cpuModel?: string;
  /** Logical cores. */
  cores: number;
  memoryBytes: number;
  virtualised?: boolean;
  governor?: string;
  /** The number of files that a process may open, as text if it is unlimited. */
  openFiles?: { soft: number | 'unlimited'; hard: number | 'unlimited' };
  ephemeralPorts?: { first: number; last: number };
  somaxconn?: number;
  /** `v1` or `v2` if servers get their own cgroup, else the reason why not. */
  cgroup: string;
  /** The mean number of runnable tasks before the run, over 1, 5 and 15 minutes. */
  load: number[];
  /** The Node version of the harness. */
  node: string;
}

/** Reads the facts of this machine. Creates and removes a cgroup to find out whether that works. */
export async function readHost(): Promise<Host> {
  const cpuModel = cpus()[0]?.model.trim();
  const governor = readGovernor();
  const virtualised = await readVirtualised();
  const openFiles = await readOpenFiles();
  const ephemeralPorts = await readEphemeralPorts();
  const somaxconn = await readSomaxconn();
  return {
    platform: process.platform,
    arch: arch(),
    release: release(),
    // Node reports `unknown` on most ARM machines.
    ...(cpuModel && cpuModel !== 'unknown' && { cpuModel }),
    cores: cpus().length,
    memoryBytes: totalmem(),
    ...(virtualised !== undefined && { virtualised }),
    ...(governor !== undefined && { governor }),
    ...(openFiles && { openFiles: { soft: sayLimit(openFiles.soft), hard: sayLimit(openFiles.hard) } }),
    ...(ephemeralPorts && { ephemeralPorts }),
    ...(somaxconn !== undefined && { somaxconn }),
    cgroup: await tryCgroup().then(({ version, reason }) => version ?? reason),
    load: loadavg(),
    node: process.version,
  };
}

async function readVirtualised(): Promise<boolean | undefined> {
  if (process.platform === 'darwin') {
    const present = await sysctl('kern.hv_vmm_present');
    return present === undefined ? undefined : present === 1;
  }
  // Only x86 reports it.
  const flags = /^flags\s*:(.*)$/m.exec(readText('/proc/cpuinfo') ?? '')?.[1];
  return flags?.split(' ').includes('hypervisor');
}

function sayLimit(limit: number): number | 'unlimited' {
  return Number.isFinite(limit) ? limit : 'unlimited';
}
