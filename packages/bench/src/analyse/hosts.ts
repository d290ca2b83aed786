/** Finds slow hosts before a run is spread over them: all measure fresh servers of the same target (A/A). Pure. */
import { median } from '../numbers.ts';
import type { JudgedHost } from '../results/run-file.ts';
import { compareUnpaired } from './unpaired.ts';

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
    const cpuUsPerRequest = median(cpuUs);
    if (host === reference) return { name, verdict: 'reference', cpuUsPerRequest };
    const rules = { better: 'lower' as const, threshold };
    const [comparison] = compareUnpaired([{ candidate: cpuUs, baseline: reference.cpuUs }], rules);
    const { ratio, byMoreThanThreshold = false, verdict = 'undecided' } = comparison ?? {};
    return {
      name,
      verdict:
        byMoreThanThreshold && verdict === 'slower' ? 'slower' : byMoreThanThreshold ? 'faster' : 'alike',
      cpuUsPerRequest,
      ...(ratio === undefined ? {} : { ratio: { estimate: ratio.estimate, ...ratio.interval } }),
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
