import type { Attestation } from 'bench-model/target';
import type { Resources } from 'bench-model/figures';
import type { ServerBudget } from 'bench-model/measured';
import { FULL } from 'bench-model/saturation';
import { sum } from 'bench-statistics/numbers';

/** The evidence for the CPU that a server can use at once. */
export interface ServerEvidence {
  server: Resources;
  /** Cores that the server may use. */
  budgetCores: number;
  /** Its processes or event loops. */
  workers: number;
  /** The attestations of its live workers. */
  attested: readonly Attestation[];
}

/** If another thread is this busy, one thread does not limit the server: there was work for more. */
const BUSY_THREAD = 0.5;

/**
 * Returns the budget that limits the server: all its cores, the threads of its event loops, or the interpreter locks of
 * its processes. It is the first one that is saturated, or else the one that is closest.
 *
 * Threads and locks are judged by the CPU of each thread and the attestation of each worker, never by the name of a
 * runtime. A Node server with a thread pool can use more than one core, and so can a Python without a GIL.
 */
export function findBudget(evidence: ServerEvidence): ServerBudget {
  const { server, budgetCores } = evidence;
  const cores: ServerBudget = { by: 'cores', usedCores: server.coresUsed, usableCores: budgetCores };
  const budgets = [cores, threadBudget(evidence), lockBudget(evidence)].filter((one) => one !== undefined);
  const closest = budgets.toSorted((a, b) => shareOf(b) - shareOf(a))[0] ?? cores;
  return budgets.find(isUsedUp) ?? closest;
}

/** Returns true from 90 % of a budget on. */
export function isUsedUp(budget: ServerBudget): boolean {
  return shareOf(budget) >= FULL;
}

function shareOf({ usedCores, usableCores }: ServerBudget): number {
  return usedCores / usableCores;
}

/** One thread per worker, if these did nearly all the work: a thread can use at most one core. */
function threadBudget({ server, budgetCores, workers }: ServerEvidence): ServerBudget | undefined {
  const threads = (server.busiest ?? []).flatMap((one) => one.threads).toSorted((a, b) => b - a);
  const loops = threads.slice(0, workers);
  const next = threads[workers] ?? 0;
  if (workers >= budgetCores || loops.length < workers || next > BUSY_THREAD) return undefined;
  return { by: 'threads', usedCores: sum(loops), usableCores: workers };
}

/** One core per process, if every worker attested that it runs under a GIL. */
function lockBudget({ server, budgetCores, attested }: ServerEvidence): ServerBudget | undefined {
  const locked = new Set(attested.filter(({ gil }) => gil === true).map(({ pid }) => pid));
  if (locked.size === 0 || locked.size < attested.length || locked.size >= budgetCores) return undefined;
  const processes = (server.busiest ?? []).filter(({ pid }) => locked.has(pid));
  if (processes.length < locked.size) return undefined;
  return { by: 'gil', usedCores: sum(processes.map(({ cores }) => cores)), usableCores: locked.size };
}
