/** Reads the machine that a run is measured on. Reads no names of users or hosts, and no paths. */

import { arch, cpus, loadavg, release, totalmem } from 'node:os';
import { readEphemeralPorts, readGovernor, readOpenFiles, readSomaxconn, sysctl } from './facts.ts';
import { tryCgroup } from './cgroup.ts';
import { recallNeighbours } from './neighbours.ts';
import { readText } from './procfs.ts';
import type { Host } from 'bench-model/host';

/** Reads the facts of this machine. Creates and removes a cgroup to find out whether that works. */
export async function readHost(): Promise<Host> {
  const cpuModel = cpus()[0]?.model.trim();
  const governor = readGovernor();
  const virtualised = await readVirtualised();
  const openFiles = await readOpenFiles();
  const ephemeralPorts = await readEphemeralPorts();
  const somaxconn = await readSomaxconn();
  const neighbours = recallNeighbours();
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
    ...(neighbours && { neighbours }),
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
