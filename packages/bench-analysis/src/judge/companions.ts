/** The judges of companions: was one saturated, and what does it object to a window? Pure. */
import type { BackgroundUse, CompanionLimit, InsertAccount, UpstreamUse } from 'bench-model/companions';
import type { Resources } from 'bench-model/figures';
import type { LoadResult } from 'bench-model/load';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { Placement } from 'bench-model/record';
import { FULL, takesTheRest } from 'bench-model/saturation';
import { sum } from 'bench-statistics/numbers';

/** The judgement of a companion. */
export interface CompanionJudge {
  /** The limit that it is if it is saturated and so holds back the server. */
  limit?: CompanionLimit;
  /** Returns its objections to the window. */
  judge?(evidence: CompanionEvidence): Reason[];
}

/** The basis on which a companion judges a window. */
export interface CompanionEvidence {
  load: LoadResult;
  /** Its own resources over the window. */
  resources: Resources | undefined;
  /** Its cores, and those of the other sides. */
  placement: Placement;
  /** The number of requests that companions sent to the server beside the load. */
  besideRequests: number;
}

/**
 * Returns true if a companion saturated its cores, or the share that generators on the same cores left. A database uses
 * all its cores, so that nothing is known without them; the others have one process.
 */
export function isSaturated(
  name: CompanionLimit | undefined,
  { resources, placement: { kind, beside = {}, generator = [] }, load }: CompanionEvidence,
): boolean {
  const isWide = name === 'database';
  if (name === undefined || resources === undefined || (isWide && beside[name] === undefined)) return false;
  const { coresUsed } = resources;
  const cores = beside[name] ?? [];
  const isShared = kind === 'separate' && cores.every((core) => generator.includes(core));
  return isShared
    ? takesTheRest(coresUsed, isWide ? cores : generator, load)
    : coresUsed >= FULL * (isWide ? cores.length : 1);
}

/**
 * Returns the objection of an upstream that did not get the expected number of requests: `fetches` behind each correct response. It
 * is exact if every request was answered rightly; any other may have fetched none or all of its fixtures.
 */
export function judgeUpstream(
  { load, besideRequests }: CompanionEvidence,
  { requests }: UpstreamUse,
  fetches: number | undefined,
): Reason[] {
  if (load.lifetime === undefined || fetches === undefined) return [];
  const { ok, sent } = load.lifetime;
  const isShort = requests < ok * fetches;
  const isRight = !isShort && requests <= (sent + besideRequests) * fetches;
  return isRight ? [] : [makeReason('upstream-count', { ok, fetches, requests, isShort })];
}

/**
 * Compares the table with the acknowledgements of the server. Every acknowledged insert must be stored. Of the
 * others, only unanswered ones may be.
 */
export function judgeInserts(account: InsertAccount): Reason[] {
  const { acknowledged, stored, unanswered } = account;
  const isRight = stored >= acknowledged && stored <= acknowledged + unanswered;
  return isRight ? [] : [makeReason('inserts', account)];
}

/** Judges the background request of a window: without any correct response, the server did not do that work. */
export function judgeBackground({ statusCodes, lost }: BackgroundUse): Reason[] {
  const statuses = Object.entries(statusCodes).filter(([status]) => !status.startsWith('2'));
  const failed = lost + sum(statuses.map(([, count]) => count));
  if (failed === 0) return [];
  const ended = lost + sum(Object.values(statusCodes));
  const kinds: [string, number][] = [
    ...statuses.map(([status, count]): [string, number] => [`with status ${status}`, count]),
    ...(lost > 0 ? [['without a response', lost] as [string, number]] : []),
  ];
  return failed === ended
    ? [makeReason('background', { failed, ended, kinds })]
    : [makeReason('errors', { share: failed / ended, kinds, what: 'background requests' })];
}
