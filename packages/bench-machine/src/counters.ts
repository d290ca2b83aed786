/** Counters of the whole machine, as Linux reports them: CPU, network, throttling. Absent if it does not. */

import type { HostWindow } from 'bench-model/measured';
import { present } from 'bench-model/options';
import { readNames, readText, US_PER_TICK } from './procfs.ts';
import { sum } from 'bench-statistics/numbers';

/** CPU time since boot, summed over all cores, in µs. */
export interface CpuTotals {
  userUs: number;
  niceUs: number;
  systemUs: number;
  /** 0 if the kernel does not time interrupts and charges them to the interrupted task instead. */
  irqUs: number;
  softirqUs: number;
  /** Time that the hypervisor gave to other guests. */
  stealUs: number;
}

/** Parses the first line of `/proc/stat` (proc_stat(5)). */
export function parseCpuTotals(stat: string): CpuTotals | undefined {
  const line = /^cpu +(.+)$/m.exec(stat)?.[1];
  if (line === undefined) return undefined;
  const us = line.split(' ').map((ticks) => Number(ticks) * US_PER_TICK);
  const [userUs = 0, niceUs = 0, systemUs = 0, , , irqUs = 0, softirqUs = 0, stealUs = 0] = us;
  return { userUs, niceUs, systemUs, irqUs, softirqUs, stealUs };
}

/** Returns the CPU time of the machine since boot, in µs, in steps of 10 ms. */
export function readCpuTotals(): CpuTotals | undefined {
  return parseCpuTotals(readText('/proc/stat') ?? '');
}

/** Reads one counter of `/proc/net/netstat` or `/proc/net/snmp`: a line of names, then a line of values. */
export function parseCounter(table: string, protocol: string, name: string): number | undefined {
  const [names, figures] = table.split('\n').filter((line) => line.startsWith(`${protocol}: `));
  const index = names?.split(' ').indexOf(name) ?? -1;
  const figure = figures?.split(' ')[index];
  return index < 1 || figure === undefined ? undefined : Number(figure);
}

/** The events that distort a measurement. */
export const EVENTS = ['listenOverflows', 'lostSegments', 'sentSegments', 'throttled'] as const;

/** Counts of events since boot; each absent if the system does not count it. */
export type TroubleCounters = Pick<HostWindow, (typeof EVENTS)[number]>;

/** Returns the counters of this network namespace and machine since boot. */
export function readTrouble(): TroubleCounters {
  const netstat = readText('/proc/net/netstat') ?? '';
  const snmp = readText('/proc/net/snmp') ?? '';
  return present({
    listenOverflows: parseCounter(netstat, 'TcpExt', 'ListenOverflows'),
    lostSegments: countLost(snmp, netstat),
    sentSegments: parseCounter(snmp, 'Tcp', 'OutSegs'),
    throttled: readThrottled(),
  });
}

/**
 * Returns the segments that were lost: those sent again, without those that arrived twice, as their receiver reported
 * (DSACK, RFC 2883). A server on loopback that sends large responses repeats hundreds although nothing was lost.
 */
export function countLost(snmp: string, netstat: string): number | undefined {
  const again = parseCounter(snmp, 'Tcp', 'RetransSegs');
  // Before Linux 5.10, the kernel counted reports, not segments.
  const twice = ['TCPDSACKRecvSegs', 'TCPDSACKRecv'].map((name) => parseCounter(netstat, 'TcpExt', name));
  return again === undefined ? undefined : again - (twice.find((count) => count !== undefined) ?? 0);
}

/** Returns the difference between two readings, counter by counter. */
export function troubleBetween(before: TroubleCounters, after: TroubleCounters): TroubleCounters {
  const between: TroubleCounters = {};
  for (const key of EVENTS) {
    const [from, to] = [before[key], after[key]];
    // A segment that was sent again before the first reading may be reported as a duplicate after it.
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
  return counts.length === 0 ? undefined : sum(counts);
}

function readOwnCpuStat(): string | undefined {
  const own = readText('/proc/self/cgroup') ?? '';
  const path = /^0::(.*)$/m.exec(own)?.[1] ?? /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)$/m.exec(own)?.[1];
  if (path === undefined) return undefined;
  return ['/sys/fs/cgroup', '/sys/fs/cgroup/cpu', '/sys/fs/cgroup/cpu,cpuacct']
    .map((mount) => readText(`${mount}${path}/cpu.stat`))
    .find((text) => text?.includes('nr_throttled'));
}
