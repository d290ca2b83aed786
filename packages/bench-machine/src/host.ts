/** Reads the machine that a run is measured on. Reads no names of users or hosts, and no paths. */

import { arch, cpus, loadavg, release, totalmem } from 'node:os';
import { readGovernor, sysctl } from './facts.ts';
import { tryCgroup } from './cgroup.ts';
import { readText } from './procfs.ts';
import type { Host } from 'bench-model/host';

/** Reads the facts of this machine. Creates and removes a cgroup to find out whether that works. */
export async function readHost(): Promise<Host> {
  const cpuModel = cpus()[0]?.model.trim();
  const { version, reason } = await tryCgroup();
  return {
    platform: process.platform,
    arch: arch(),
    release: release(),
    // Node reports `unknown` on most ARM machines.
    ...(cpuModel && cpuModel !== 'unknown' && { cpuModel }),
    cores: cpus().length,
    memoryBytes: totalmem(),
    virtualised: await readVirtualised(),
    governor: readGovernor(),
    cgroup: version ?? reason,
    load: loadavg(),
    node: process.version,
  };
}

async function readVirtualised(): Promise<boolean | undefined> {
  if (process.platform === 'darwin') {
    const isGuest = await sysctl('kern.hv_vmm_present');
    return isGuest === undefined ? undefined : isGuest === 1;
  }
  // Only x86 reports it.
  const flags = /^flags\s*:(.*)$/m.exec(readText('/proc/cpuinfo') ?? '')?.[1];
  return flags?.split(' ').includes('hypervisor');
}
