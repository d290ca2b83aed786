/** The judges of companions: was one saturated, and what does it object to a window? Pure. */
import type {
  BackgroundUse,
  CompanionLimit,
  CompanionName,
  CompanionRecords,
  InsertAccount,
  UpstreamUse,
} from 'bench-model/companions';
import type { Resources } from 'bench-model/figures';
import type { LoadResult } from 'bench-model/load';
import type { Limit } from 'bench-model/measured';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { Placement } from 'bench-model/record';
import { FULL, takesTheRest } from 'bench-model/saturation';
import { sum } from 'bench-statistics/numbers';

/** The judgement of a companion. */
export interface CompanionJudge {
  /** Returns its name if it was saturated and so held back the server. */
  bottleneck?(evidence: CompanionEvidence): CompanionLimit | undefined;
  /** Returns its objections to the window. */
  judge?(evidence: CompanionEvidence & { limit: Limit }): Reason[];
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

/** Makes the judge of a companion from its share of a trial, which is undefined until it is known. */
type JudgeMaker<Name extends CompanionName> = (
  use: () => CompanionRecords[Name] | undefined,
  /** The number of upstream requests behind one correct response; undefined if it is not known. */
  fetches?: number,
) => CompanionJudge;

/** The judge of each companion. A new companion is one more entry. */
export const COMPANION_JUDGES: { [Name in CompanionName]: JudgeMaker<Name> } = {
  upstream: (use, fetches) => ({
    bottleneck: findFull('upstream'),
    judge(evidence) {
      const known = use();
      return known === undefined ? [] : judgeUpstream(evidence, known, fetches);
    },
  }),
  database: () => ({
    bottleneck: findFull('database'),
    judge: (evidence) => judgeBound('database', evidence),
  }),
  services: () => ({ bottleneck: findFull('services') }),
  background: (use) => ({
    judge() {
      const known = use();
      return known === undefined ? [] : judgeBackground(known);
    },
  }),
};

/**
 * Returns the name of a companion that saturated its cores, or the share that generators on the same cores left. A
 * database uses all its cores, so that nothing is known without them; the others have one process.
 */
function findFull(name: CompanionLimit): NonNullable<CompanionJudge['bottleneck']> {
  return ({ resources, placement: { kind, beside = {}, generator = [] }, load }) => {
    const isWide = name === 'database';
    if (resources === undefined || (isWide && beside[name] === undefined)) return undefined;
    const { coresUsed } = resources;
    const cores = beside[name] ?? [];
    const isShared = kind === 'separate' && cores.every((core) => generator.includes(core));
    const isFull = isShared
      ? takesTheRest(coresUsed, isWide ? cores : generator, load)
      : coresUsed >= FULL * (isWide ? cores.length : 1);
    return isFull ? name : undefined;
  };
}

function judgeBound(
  name: 'upstream' | 'database',
  { resources, placement, limit }: CompanionEvidence & { limit: Limit },
): Reason[] {
  if (resources === undefined || limit !== name) return [];
  const { coresUsed } = resources;
  return [makeReason('companion-bound', { name, coresUsed, cores: placement.beside?.[name] })];
}

/** Judges the upstream: did it get the expected number of requests, was it saturated? */
function judgeUpstream(
  evidence: CompanionEvidence & { limit: Limit },
  { requests }: UpstreamUse,
  fetches: number | undefined,
): Reason[] {
  const { load, besideRequests } = evidence;
  const reasons: Reason[] = [];
  if (load.lifetime !== undefined && fetches !== undefined) {
    // The count is exact if every request was answered rightly; any other may have fetched none or all of its fixtures.
    const { ok, sent } = load.lifetime;
    const isShort = requests < ok * fetches;
    if (isShort || requests > (sent + besideRequests) * fetches)
      reasons.push(makeReason('upstream-count', { ok, fetches, requests, isShort }));
  }
  return [...reasons, ...judgeBound('upstream', evidence)];
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
function judgeBackground({ statusCodes, lost }: BackgroundUse): Reason[] {
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
