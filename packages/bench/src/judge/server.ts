import type { Attestation, Resources } from '../model.ts';
import type { ServerBudget } from '../results/record.ts';
import { FULL } from '../saturation.ts';
import { sum } from '../numbers.ts';

/** What says how much CPU a server can use at once. */
export interface ServerEvidence {
  server: Resources;
  /** Cores that the server may use. */
  budgetCores: number;
  /** Processes or event loops that it was started with. */
  workers: number;
  /** What its live workers said of themselves. */
  attested: readonly Attestation[];
}

/** A server that keeps another thread this busy is not held up by one thread: it had work for more of them. */
const BUSY_THREAD = 0.5;

/**
 * Returns the budget that held the server: all its cores, the threads of its event loops, or the interpreter locks of
 * its processes. It is the first one that is used up, or the one that comes closest.
 *
 * Threads and locks are judged by what was read of each thread and attested by each worker, never by the name of a
 * runtime: a Node server that moves work into a pool can use more than one core, and so can a Python without a GIL.
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

/** One thread a worker, where these did nearly all the work: a thread can use no more than one core. */
function threadBudget({ server, budgetCores, workers }: ServerEvidence): ServerBudget | undefined {
  const threads = (server.busiest ?? []).flatMap((one) => one.threads).toSorted((a, b) => b - a);
  const loops = threads.slice(0, workers);
  const next = threads[workers] ?? 0;
  if (workers >= budgetCores || loops.length < workers || next > BUSY_THREAD) return undefined;
  return { by: 'threads', usedCores: sum(loops), usableCores: workers };
}

/** One core a process, where every worker attested that it runs under a GIL. */
function lockBudget({ server, budgetCores, attested }: ServerEvidence): ServerBudget | undefined {
  const locked = new Set(attested.filter(({ gil }) => gil === true).map(({ pid }) => pid));
  if (locked.size === 0 || locked.size < attested.length || locked.size >= budgetCores) return undefined;
  const processes = (server.busiest ?? []).filter(({ pid }) => locked.has(pid));
  if (processes.length < locked.size) return undefined;
  return { by: 'gil', usedCores: sum(processes.map(({ cores }) => cores)), usableCores: locked.size };
}
