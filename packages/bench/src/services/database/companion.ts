/** The database of `users` and `users-insert`: each trial has its own table in its own database. */
import { asksDatabase } from 'bench-targets/catalogue/workloads/index';
import type { DatabaseUse, InsertAccount } from 'bench-model/companions';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { CompanionKind, RunningCompanion, TrialCompanion } from '../companion.ts';
import { findDatabase, refuseCrowd, startDatabase, type Database, type OpenTable } from './database.ts';
import { Inserts } from './inserts.ts';
import { COMPANION_JUDGES, judgeInserts } from 'bench-analysis/judge/companions';
import type { Table } from 'bench-targets/catalogue/workloads/workload';

export const database: CompanionKind = {
  name: 'database',
  async find(plan) {
    if (!asksDatabase(plan)) return undefined;
    const program = await findDatabase();
    return {
      name: 'database',
      version: `${program.kind} ${program.version}`,
      isPlaced: 'launch' in program,
      async start(context) {
        const started = await startDatabase(program, context);
        try {
          refuseCrowd(plan, started);
        } catch (error) {
          await started[Symbol.asyncDispose]();
          throw error;
        }
        return keepDatabase(started);
      },
    };
  },
};

/** A running database, as the companion of all trials of a run. */
export function keepDatabase(holder: Database): RunningCompanion {
  const { kind, version, maxConnections } = holder;
  return {
    name: 'database',
    head: () => ({ kind, version, maxConnections }),
    begin: ({ table }) => beginTrial(holder, table ?? { rows: [] }),
    [Symbol.asyncDispose]: () => holder[Symbol.asyncDispose](),
  };
}

/** Returns what counts the statements in these databases, if they are counted. */
export function countsOf(databases: readonly Pick<OpenTable, 'count'>[]): Pick<TrialCompanion, 'count'> {
  const all = databases.flatMap(({ count }) => count ?? []);
  if (all.length === 0) return {};
  return { count: async () => ({ statements: (await Promise.all(all.map((one) => one()))).flat() }) };
}

/** Opens the table of one trial. Throws a database error if it cannot be created. */
export async function beginTrial(
  holder: Pick<Database, 'open' | 'process'>,
  table: Table,
): Promise<TrialCompanion> {
  const opened = await holder.open(table);
  const inserts = new Inserts();
  let account: InsertAccount | undefined;
  return {
    env: opened.env,
    process: () => holder.process(),
    ...countsOf([opened]),
    onAnswer: (status) => inserts.addAnswer(status),
    onAccount: (lifetime) => inserts.addLoad(lifetime),
    ...COMPANION_JUDGES.database(() => undefined),
    async afterStop(hasFailed): Promise<Reason[]> {
      if (table.inserts === undefined) return [];
      account = inserts.close(await opened.countInserts());
      const wrong = judgeInserts(account);
      // For a server that died, this is the only finding.
      return wrong.length === 0 && hasFailed ? [makeReason('inserts', account)] : wrong;
    },
    record(resources): DatabaseUse | undefined {
      if (resources === undefined && account === undefined) return undefined;
      return {
        ...(account === undefined ? {} : { inserts: account }),
        ...(resources === undefined ? {} : { resources }),
      };
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}
