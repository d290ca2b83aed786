import type { CompanionEvidence, CompanionJudge } from '../judge.ts';
import type { CompanionName, UpstreamUse } from 'bench-model/companions';
import type { Limit } from 'bench-model/measured';
import type { LoadResult } from 'bench-model/load';
import type { Reason } from 'bench-model/reasons';
import { makeReason } from 'bench-model/reasons';
import { FULL, takesTheRest } from 'bench-model/saturation';

/** An idle upstream serves a fixture from the memory of the same machine within a few ms. */
const SLOW_US = 50_000;

/** The basis on which an upstream is judged. */
export interface UpstreamEvidence extends CompanionEvidence {
  use: UpstreamUse;
  /** The number of upstream requests behind one right answer; undefined if it is not known. */
  fetches: number | undefined;
}

/** Returns the judge of an upstream by its share of a trial, which is undefined until it is known. */
export function watchUpstream(use: () => UpstreamUse | undefined, fetches?: number): CompanionJudge {
  return {
    bottleneck: (evidence) => (isUpstreamFull(evidence) ? 'upstream' : undefined),
    judge(evidence) {
      const known = use();
      return known === undefined ? [] : judgeUpstream({ ...evidence, use: known, fetches });
    },
  };
}

/**
 * Returns true if it saturated its core: with its one process, or with the share that generators on the same cores
 * left.
 */
export function isUpstreamFull(evidence: CompanionEvidence): boolean {
  return fillsItsCore(evidence, 'upstream');
}

/** The same for a companion whose work can be on one core. */
export function fillsItsCore(
  { resources, placement, load }: CompanionEvidence,
  name: CompanionName,
): boolean {
  if (resources === undefined) return false;
  const { coresUsed } = resources;
  const { kind, beside = {}, generator = [] } = placement;
  const cores = beside[name] ?? [];
  const isShared = kind === 'separate' && cores.every((core) => generator.includes(core));
  return isShared ? takesTheRest(coresUsed, generator, load) : coresUsed >= FULL;
}

/**
 * Judges the upstream of a window: did it get the expected number of requests, did it fail, was it slow, was it
 * saturated?
 */
export function judgeUpstream(evidence: UpstreamEvidence & { limit: Limit }): Reason[] {
  return [
    ...judgeCount(evidence),
    ...judgeFailures(evidence.load),
    ...judgePace(evidence.use),
    ...judgeLimit(evidence),
  ];
}

/** The count is exact if every request was answered rightly; any other may have fetched none or all of its fixtures. */
function judgeCount({ use: { requests }, fetches, load, besideRequests }: UpstreamEvidence): Reason[] {
  if (load.lifetime === undefined || fetches === undefined) return [];
  const { ok, sent } = load.lifetime;
  const isShort = requests < ok * fetches;
  if (!isShort && requests <= (sent + besideRequests) * fetches) return [];
  return [makeReason('upstream-count', { ok, fetches, requests, isShort })];
}

function judgeFailures({ statusCodes = {} }: LoadResult): Reason[] {
  const count = statusCodes[502] ?? 0;
  return count === 0 ? [] : [makeReason('upstream-failed', { count })];
}

function judgePace({ fetchUs }: UpstreamUse): Reason[] {
  return fetchUs <= SLOW_US ? [] : [makeReason('upstream-slow', { fetchUs })];
}

function judgeLimit({ resources, placement, host, limit }: CompanionEvidence & { limit: Limit }): Reason[] {
  if (resources === undefined || limit !== 'upstream') return [];
  return [
    makeReason('upstream-bound', { coresUsed: resources.coresUsed, cores: placement.beside?.upstream, host }),
  ];
}
