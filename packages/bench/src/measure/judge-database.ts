import { METRIC_IDS } from '../metrics.ts';
import type { InsertAccount, Limit, LoadResult, Placement, Reason, Resources } from '../model.ts';
import { FULL, RATES, takesTheRest } from './judge-upstream.ts';

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

/** What the database says against a window: that it was the limit. */
export function judgeDatabase(database: DatabaseEvidence | undefined, limit: Limit): Reason[] {
  if (database === undefined || limit !== 'database') return [];
  const { resources, placement } = database;
  return [
    {
      code: 'database-bound',
      text: `the database used ${resources?.coresUsed.toFixed(2)} cores of core ${placement.database?.join(',')}: goodput is a lower bound, latency is the database's`,
      invalidates: RATES,
    },
  ];
}

/**
 * What the table says of a server's acknowledgements. Every insert that it acknowledged has to be there, and no other, but for
 * those that were never answered: each of them may be there or not.
 */
export function judgeInserts({ acknowledged, stored, unanswered }: InsertAccount): Reason[] {
  const told = `${figure(acknowledged)} inserts were acknowledged`;
  if (stored < acknowledged) {
    const text = `${told}, but the table holds only ${figure(stored)}: ${figure(acknowledged - stored)} are lost`;
    return [{ code: 'inserts-lost', text, invalidates: [...METRIC_IDS] }];
  }
  if (stored > acknowledged + unanswered) {
    const also = unanswered === 0 ? '' : ` and ${figure(unanswered)} never answered`;
    const text = `${told}${also}, but the table holds ${figure(stored)}: some were answered with an error and stored, or stored twice`;
    return [{ code: 'inserts-unacknowledged', text, invalidates: [...METRIC_IDS] }];
  }
  return [];
}

/** What is said of the inserts of a trial that failed for another reason. */
export function tellInserts({ acknowledged, stored, unanswered }: InsertAccount): Reason {
  const text = `${figure(acknowledged)} inserts were acknowledged, ${figure(unanswered)} never answered, and the table holds ${figure(stored)}: none that was acknowledged is lost`;
  return { code: 'inserts', text, invalidates: [] };
}

function figure(count: number): string {
  return count.toLocaleString('en-US');
}
