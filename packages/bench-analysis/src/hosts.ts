/** Finds slow hosts before a run is spread over them: all measure fresh servers of the same target (A/A). Pure. */
import { median } from 'bench-statistics/numbers';
import type { JudgedHost } from 'bench-model/run';
import { ERROR_BUDGET } from './looks.ts';
import { locateShift } from 'bench-statistics/mann-whitney';
import { judge, thetaOf } from './verdict.ts';

/** The CPU per request of the servers of one host, in µs. */
export interface HostFigures {
  name: string;
  cpuUs: readonly number[];
  /** The reason if there are no figures. */
  why?: string | undefined;
}

/**
 * Compares each host with the reference: the host in the middle, by its median. A host is slower or faster only if the
 * whole 95 % interval of the ratio lies beyond the threshold. A host that is only uncertain is alike: comparisons are
 * paired within rounds, and a round is complete on one host.
 */
export function judgeHosts(hosts: readonly HostFigures[], threshold: number): JudgedHost[] {
  const known = hosts
    .filter(({ cpuUs }) => cpuUs.length > 0)
    .toSorted((a, b) => median(a.cpuUs) - median(b.cpuUs));
  const reference = known[Math.floor((known.length - 1) / 2)];
  return hosts.map((host): JudgedHost => {
    const { name, cpuUs, why } = host;
    if (reference === undefined || cpuUs.length === 0) {
      return { name, verdict: 'unknown', ...(why === undefined ? {} : { why }) };
    }
    const found = { name, cpuUsPerRequest: median(cpuUs) };
    if (host === reference) return { ...found, verdict: 'reference' };
    // No rounds pair the servers of two hosts: the Hodges-Lehmann shift of the logs.
    const logs = [cpuUs.map(Math.log), reference.cpuUs.map(Math.log)] as const;
    const { centre: estimate, interval } = locateShift(...logs, ERROR_BUDGET);
    const ratio = { estimate: Math.exp(estimate) };
    if (interval === undefined) return { ...found, verdict: 'alike', ratio };
    const { verdict, byMoreThanThreshold } = judge(estimate, interval, thetaOf(threshold));
    return {
      ...found,
      verdict: !byMoreThanThreshold ? 'alike' : verdict === 'slower' ? 'slower' : 'faster',
      ratio: { ...ratio, low: Math.exp(interval.low), high: Math.exp(interval.high) },
    };
  });
}

/**
 * Returns the names of the hosts that a run may be spread over: the reference and those alike it. None if they are not
 * more than half of all: then nobody knows which of them are slow.
 */
export function keepHosts(judged: readonly JudgedHost[]): string[] {
  const kept = judged.filter(({ verdict }) => verdict === 'reference' || verdict === 'alike');
  return kept.length > judged.length / 2 ? kept.map(({ name }) => name) : [];
}
