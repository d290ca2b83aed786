/** The machine that a run was measured on, as `host.json` keeps it. Holds no names of users or hosts, and no paths. */

import { arch, cpus, loadavg, release, totalmem } from 'node:os';
import { readEphemeralPorts, readGovernor, readOpenFiles, readSomaxconn, sysctl } from '../machine/facts.ts';
import { tryCgroup } from '../machine/cgroup.ts';
import { readText } from '../machine/procfs.ts';

/** One machine, and its state before the run. What it does not tell is absent. */
export interface Host {
  platform: NodeJS.Platform;
  arch: string;
  /** Of the kernel. */
  release: string;
  cpuModel?: string;
  /** Logical cores. */
  cores: number;
  memoryBytes: number;
  virtualised?: boolean;
  governor?: string;
  /** Files a process may hold open, in words where there is no limit. */
  openFiles?: { soft: number | 'unlimited'; hard: number | 'unlimited' };
  ephemeralPorts?: { first: number; last: number };
  somaxconn?: number;
  /** `v1` or `v2` where servers get a cgroup of their own, else why not. */
  cgroup: string;
  /** Runnable tasks before the run: means over 1, 5 and 15 minutes. */
  load: number[];
  /** The harness's own. */
  node: string;
}

/** Reads what this machine is. Makes a cgroup and removes it again, to know whether that works. */
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
    // Node says `unknown` on most ARM machines.
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
  // Only x86 says so.
  const flags = /^flags\s*:(.*)$/m.exec(readText('/proc/cpuinfo') ?? '')?.[1];
  return flags?.split(' ').includes('hypervisor');
}

function sayLimit(limit: number): number | 'unlimited' {
  return Number.isFinite(limit) ? limit : 'unlimited';
}
