import type { CompanionEvidence } from '../companion.ts';
import type { InsertAccount, Limit, Reason } from '../../model.ts';
import { makeReason } from '../../reasons.ts';
import { FULL, takesTheRest } from '../../saturation.ts';

/** Whether it saturated its cores: all of them, or what the generators on them left. Never true when its cores are not known. */
export function isDatabaseFull({ resources, placement, load }: CompanionEvidence): boolean {
  const { kind, beside = {}, generator = [] } = placement;
  const cores = beside.database;
  if (resources === undefined || cores === undefined) return false;
  const isShared = kind === 'separate' && cores.every((core) => generator.includes(core));
  return isShared
    ? takesTheRest(resources.coresUsed, cores, load)
    : resources.coresUsed >= FULL * cores.length;
}

/** Judges a window by its database: was it saturated? */
export function judgeDatabase({
  resources,
  placement,
  limit,
}: CompanionEvidence & { limit: Limit }): Reason[] {
  if (resources === undefined || limit !== 'database') return [];
  return [
    makeReason('database-bound', { coresUsed: resources.coresUsed, cores: placement.beside?.database }),
  ];
}

/**
 * Compares the table with the server's acknowledgements. Every acknowledged insert must be stored, and no other, except those
 * that were never answered: each of them may be stored or not.
 */
export function judgeInserts(account: InsertAccount): Reason[] {
  const { acknowledged, stored, unanswered } = account;
  if (stored < acknowledged) return [makeReason('inserts-lost', account)];
  if (stored > acknowledged + unanswered) return [makeReason('inserts-unacknowledged', account)];
  return [];
}
