import type { CompanionEvidence, CompanionJudge } from '../judge.ts';
import type { InsertAccount } from 'bench-model/companions';
import type { Limit } from 'bench-model/measured';
import type { Reason } from 'bench-model/reasons';
import { makeReason } from 'bench-model/reasons';
import { FULL, takesTheRest } from 'bench-model/saturation';

/**
 * Returns true if it saturated its cores, or the share that generators on the same cores left. Always false if its
 * cores are unknown.
 */
export function isDatabaseFull({ resources, placement, load }: CompanionEvidence): boolean {
  const { kind, beside = {}, generator = [] } = placement;
  const cores = beside.database;
  if (resources === undefined || cores === undefined) return false;
  const isShared = kind === 'separate' && cores.every((core) => generator.includes(core));
  return isShared
    ? takesTheRest(resources.coresUsed, cores, load)
    : resources.coresUsed >= FULL * cores.length;
}

/** The judge of a database. */
export const DATABASE_JUDGE: CompanionJudge = {
  bottleneck: (evidence) => (isDatabaseFull(evidence) ? 'database' : undefined),
  judge: judgeDatabase,
};

/** Judges the database of a window: was it saturated? */
export function judgeDatabase({
  resources,
  placement,
  host,
  limit,
}: CompanionEvidence & { limit: Limit }): Reason[] {
  if (resources === undefined || limit !== 'database') return [];
  return [
    makeReason('database-bound', { coresUsed: resources.coresUsed, cores: placement.beside?.database, host }),
  ];
}

/**
 * Compares the table with the acknowledgements of the server. Every acknowledged insert must be stored. Of the
 * others, only unanswered ones may be.
 */
export function judgeInserts(account: InsertAccount): Reason[] {
  const { acknowledged, stored, unanswered } = account;
  if (stored < acknowledged) return [makeReason('inserts-lost', account)];
  if (stored > acknowledged + unanswered) return [makeReason('inserts-unacknowledged', account)];
  return [];
}
