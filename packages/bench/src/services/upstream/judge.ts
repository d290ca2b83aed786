import type { CompanionEvidence } from '../companion.ts';
import type { Limit, LoadResult, Reason, UpstreamUse } from '../../model.ts';
import { makeReason } from '../../reasons.ts';
import { FULL, takesTheRest } from '../../saturation.ts';

/** From the memory of the same machine, with nothing else to do, a fixture takes a few ms at most. */
const SLOW_US = 50_000;

/** What an upstream is judged by. */
export interface UpstreamEvidence extends CompanionEvidence {
  use: UpstreamUse;
  /** Requests to the upstream that one right answer takes. */
  fetches: number;
}

/** Whether it saturated its core: its one process did, or it took what generators on the same cores left. */
export function isUpstreamFull({ resources, placement, load }: CompanionEvidence): boolean {
  if (resources === undefined) return false;
  const { coresUsed } = resources;
  const { kind, beside = {}, generator = [] } = placement;
  const cores = beside.upstream ?? [];
  const isShared = kind === 'separate' && cores.every((core) => generator.includes(core));
  return isShared ? takesTheRest(coresUsed, generator, load) : coresUsed >= FULL;
}

/** Judges a window by its upstream: was it asked as often as it had to be, did it fail, was it slow, was it saturated? */
export function judgeUpstream(evidence: UpstreamEvidence & { limit: Limit }): Reason[] {
  return [
    ...judgeCount(evidence),
    ...judgeFailures(evidence.load),
    ...judgePace(evidence.use),
    ...judgeLimit(evidence),
  ];
}

/** Exact where every request was answered rightly; any other may have asked for none or for all of its fixtures. */
function judgeCount({ use: { requests }, fetches, load, besideRequests }: UpstreamEvidence): Reason[] {
  if (load.lifetime === undefined) return [];
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

function judgeLimit({ resources, placement, limit }: CompanionEvidence & { limit: Limit }): Reason[] {
  if (resources === undefined || limit !== 'upstream') return [];
  return [
    makeReason('upstream-bound', { coresUsed: resources.coresUsed, cores: placement.beside?.upstream }),
  ];
}
