/** What Linux says of the whole machine: CPU, network trouble, throttling, load. Absent where it does not say. */

import { readNames, readText, US_PER_TICK } from './procfs.ts';

/** CPU time since boot, summed over all cores, in µs. */
export interface CpuTotals {
  userUs: number;
  niceUs: number;
  systemUs: number;
  /** 0 where the kernel does not time interrupts but charges them to whatever they interrupted. */
  irqUs: number;
  softirqUs: number;
  /** Taken by the hypervisor for others. */
  stealUs: number;
}

/** Reads the first line of `/proc/stat` (proc_stat(5)). */
export function parseCpuTotals(stat: string): CpuTotals | undefined {
  const line = /^cpu +(.+)$/m.exec(stat)?.[1];
  if (line === undefined) return undefined;
  const us = line.split(' ').map((ticks) => Number(ticks) * US_PER_TICK);
  const [userUs = 0, niceUs = 0, systemUs = 0, , , irqUs = 0, softirqUs = 0, stealUs = 0] = us;
  return { userUs, niceUs, systemUs, irqUs, softirqUs, stealUs };
}

/** CPU time of the machine since boot, in µs with a resolution of 10 ms. */
export function readCpuTotals(): CpuTotals | undefined {
  return parseCpuTotals(readText('/proc/stat') ?? '');
}

/** Reads one counter of `/proc/net/netstat` or `/proc/net/snmp`: a line of names, then a line of figures. */
export function parseCounter(table: string, protocol: string, name: string): number | undefined {
  const [names, figures] = table.split('\n').filter((line) => line.startsWith(`${protocol}: `));
  const index = names?.split(' ').indexOf(name) ?? -1;
  const figure = figures?.split(' ')[index];
  return index < 1 || figure === undefined ? undefined : Number(figure);
}

/** Events since boot that spoil a measurement; each absent where it is not counted. */
export interface TroubleCounters {
  /** Connections dropped because an accept queue was full. */
  listenOverflows?: number;
  /** SYNs dropped at listening sockets for any reason, overflows included. */
  listenDrops?: number;
  /** TCP segments sent again, but for tail loss probes: on loopback those repeat what did arrive. */
  retransmits?: number;
  /** Times that the CPU was slowed for heat or that the cgroup of this process ran out of quota. */
  throttled?: number;
}

/** The counters of this network namespace and this machine, since boot. */
export function readTrouble(): TroubleCounters {
  const netstat = readText('/proc/net/netstat') ?? '';
  const found = {
    listenOverflows: parseCounter(netstat, 'TcpExt', 'ListenOverflows'),
    listenDrops: parseCounter(netstat, 'TcpExt', 'ListenDrops'),
    retransmits: countRetransmits(readText('/proc/net/snmp') ?? '', netstat),
    throttled: readThrottled(),
  };
  return Object.fromEntries(Object.entries(found).filter(([, count]) => count !== undefined));
}

/**
 * Segments sent again without tail loss probes (RFC 8985, section 7), which Linux counts among them:
 * a busy server on loopback draws thousands, though nothing was lost.
 */
export function countRetransmits(snmp: string, netstat: string): number | undefined {
  const all = parseCounter(snmp, 'Tcp', 'RetransSegs');
  return all === undefined ? undefined : all - (parseCounter(netstat, 'TcpExt', 'TCPLossProbes') ?? 0);
}

/** What happened between two readings, counter by counter. */
export function troubleBetween(before: TroubleCounters, after: TroubleCounters): TroubleCounters {
  const between: TroubleCounters = {};
  for (const key of ['listenOverflows', 'listenDrops', 'retransmits', 'throttled'] as const) {
    const [from, to] = [before[key], after[key]];
    // Retransmits come from two files that are read a moment apart: a probe in between would make them negative.
    if (from !== undefined && to !== undefined) between[key] = Math.max(0, to - from);
  }
  return between;
}

function readThrottled(): number | undefined {
  const cpus = '/sys/devices/system/cpu';
  const thermal = readNames(cpus)
    .filter((name) => /^cpu\d+$/.test(name))
    .map((cpu) => readText(`${cpus}/${cpu}/thermal_throttle/core_throttle_count`));
  const quota = /^nr_throttled (\d+)/m.exec(readOwnCpuStat() ?? '')?.[1];
  const counts = [...thermal, quota].filter((count) => count !== undefined).map(Number);
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count);
}

function readOwnCpuStat(): string | undefined {
  const own = readText('/proc/self/cgroup') ?? '';
  const path = /^0::(.*)$/m.exec(own)?.[1] ?? /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)$/m.exec(own)?.[1];
  if (path === undefined) return undefined;
  return ['/sys/fs/cgroup', '/sys/fs/cgroup/cpu', '/sys/fs/cgroup/cpu,cpuacct']
    .map((mount) => readText(`${mount}${path}/cpu.stat`))
    .find((text) => text?.includes('nr_throttled'));
}

/** The mean number of runnable tasks over the last 1, 5 and 15 minutes. */
export function readLoad(): [number, number, number] | undefined {
  const [one, five, fifteen] = (readText('/proc/loadavg') ?? '').split(' ').map(Number);
  return one === undefined || five === undefined || fifteen === undefined ? undefined : [one, five, fifteen];
}

/** TCP sockets that wait out TIME_WAIT and so still hold their port, in the text of `/proc/net/sockstat`. */
export function parseTimeWait(sockstat: string): number | undefined {
  const count = /^TCP: .*\btw (\d+)/m.exec(sockstat)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** TCP sockets of this network namespace that wait out TIME_WAIT. */
export function readTimeWait(): number | undefined {
  return parseTimeWait(readText('/proc/net/sockstat') ?? '');
}
