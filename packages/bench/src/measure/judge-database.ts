import type { InsertAccount, Limit, LoadResult, Placement, Reason, Resources } from '../model.ts';
import { makeReason } from '../reasons.ts';
import { FULL, takesTheRest } from './judge-upstream.ts';

/** What a database is judged by. */
export interface DatabaseEvidence {
  /** Undefined where its processes are not known. */
  resources: Resources | undefined;
  placement: Placement;
}

/** Whether it used up its cores: all of them, or what generators on them left. One whose cores are not known never does. */
export function isDatabaseFull({ resources, placement }: DatabaseEvidence, load: LoadResult): boolean {
  const { kind, database: cores, generator = [] } = placement;
  if (resources === undefined || cores === undefined) return false;
  const isShared = kind === 'separate' && cores.every((core) => generator.includes(core));
  return isShared
    ? takesTheRest(resources.coresUsed, cores, load)
    : resources.coresUsed >= FULL * cores.length;
}

/** Returns what the database says against a window: that it was saturated. */
export function judgeDatabase(database: DatabaseEvidence | undefined, limit: Limit): Reason[] {
  if (database?.resources === undefined || limit !== 'database') return [];
  const { resources, placement } = database;
  return [makeReason('database-bound', { coresUsed: resources.coresUsed, cores: placement.database })];
}

/**
 * What the table says of a server's acknowledgements. Every insert that it acknowledged has to be there, and no other, but for
 * those that were never answered: each of them may be there or not.
 */
export function judgeInserts(account: InsertAccount): Reason[] {
  const { acknowledged, stored, unanswered } = account;
  if (stored < acknowledged) return [makeReason('inserts-lost', account)];
  if (stored > acknowledged + unanswered) return [makeReason('inserts-unacknowledged', account)];
  return [];
}
