import type { Limit, LoadResult, Placement, Reason, UpstreamUse } from '../model.ts';
import { makeReason } from '../reasons.ts';

/** A share of a core, or of its budget, from which on it counts as used up. */
export const FULL = 0.9;
/** From the memory of the same machine, with nothing else to do, a fixture takes some ms at the most. */
const SLOW_US = 50_000;

/** What an upstream is judged by. */
export interface UpstreamEvidence extends UpstreamUse {
  /** What one right answer takes of it, in requests. */
  fetches: number;
  placement: Placement;
}

/** Whether it used up its core: its one process, or what generators on the same cores left of them and less than it took. */
export function isUpstreamFull({ resources, placement }: UpstreamEvidence, load: LoadResult): boolean {
  if (resources === undefined) return false;
  const { coresUsed } = resources;
  const { upstream = [], generator = [] } = placement;
  const isShared = placement.kind === 'separate' && upstream.every((core) => generator.includes(core));
  return isShared ? takesTheRest(coresUsed, generator, load) : coresUsed >= FULL;
}

/** Whether what runs on the generators' cores took what they left of them, and that was more than they had. */
export function takesTheRest(coresUsed: number, cores: readonly number[], load: LoadResult): boolean {
  const generators = coresOfLoad(load);
  return coresUsed >= generators && coresUsed + generators >= FULL * cores.length;
}

/** What all generators used together. */
export function coresOfLoad({ generators }: LoadResult): number {
  return generators.reduce((sum, { cpuUs, seconds }) => sum + cpuUs / 1e6 / seconds, 0);
}

/** Returns what the upstream says against a window: it was not asked as often as it had to be, it failed, it was saturated. */
export function judgeUpstream(
  { upstream, load }: { upstream?: UpstreamEvidence | undefined; load: LoadResult },
  limit: Limit,
): Reason[] {
  if (upstream === undefined) return [];
  return [
    ...judgeCount(upstream, load),
    ...judgeFailures(load),
    ...judgePace(upstream),
    ...judgeLimit(upstream, limit),
  ];
}

/** Exact where every request was answered rightly; any other may have asked for none or for all of its fixtures. */
function judgeCount({ requests, fetches }: UpstreamEvidence, { lifetime }: LoadResult): Reason[] {
  if (lifetime === undefined) return [];
  const { ok, sent } = lifetime;
  const isShort = requests < ok * fetches;
  if (!isShort && requests <= sent * fetches) return [];
  return [makeReason('upstream-count', { ok, fetches, requests, isShort })];
}

function judgeFailures({ statusCodes = {} }: LoadResult): Reason[] {
  const count = statusCodes[502] ?? 0;
  return count === 0 ? [] : [makeReason('upstream-failed', { count })];
}

function judgePace({ fetchUs }: UpstreamEvidence): Reason[] {
  return fetchUs <= SLOW_US ? [] : [makeReason('upstream-slow', { fetchUs })];
}

function judgeLimit({ resources, placement }: UpstreamEvidence, limit: Limit): Reason[] {
  if (resources === undefined || limit !== 'upstream') return [];
  return [makeReason('upstream-bound', { coresUsed: resources.coresUsed, cores: placement.upstream })];
}
