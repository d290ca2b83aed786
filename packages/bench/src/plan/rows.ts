/** Rows that are sent once: the part that each trial may use, and how many a run needs. */
import type { Route, Share } from 'bench-targets/catalogue/workloads/workload';
import { UsageError } from 'bench-model/errors';
import { warmupSecondsOf } from 'bench-model/planned';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import type { RowsFacts } from 'bench-model/reasons';
import { sum } from 'bench-statistics/numbers';

/** What to do if there are too few rows. */
export const ROWS_HINT =
  'add rows, have values made by {uuid} or {seq}, or send less: --rate, --amount, --warmup, --duration. If the server takes a row again: "repeat": true in a file of requests';

type Routes = readonly Route[] | undefined;

/**
 * Returns the part of the rows that a trial may use. A fresh server has fresh data, and can take all of them: then it is
 * undefined. A server that was already running keeps its data: the trials share the rows, those that try a server included.
 */
export function shareOf(
  { attached, trials, targets }: Pick<Plan, 'attached' | 'trials' | 'targets'>,
  { id, target }: Pick<PlannedTrial, 'id' | 'target'>,
): Share | undefined {
  if (attached === undefined) return undefined;
  const at = trials.findIndex((one) => one.id === id);
  const tried = trials.length + targets.findIndex((one) => one.id === target);
  return { index: at >= 0 ? at : tried, of: trials.length + targets.length };
}

/** Throws a usage error if the file has fewer rows than a plan is known to send. */
export function refuseFewRows(plan: Plan, routes: Routes): void {
  const { userRequests, load, rungs, trials } = plan;
  const once = sentOnce(plan, routes);
  if (userRequests?.rows === undefined || once === undefined) return;
  const { file, count } = userRequests.rows;
  const perSecond = load.mode === 'open' ? load.perSecond * once.share : 0;
  const loads = trials.map((planned) => needed(plan, planned, { ...once, perSecond }));
  const least = livesOf(plan) * (once.checks + Math.max(...rungs, ...loads));
  if (count >= least) return;
  throw new UsageError(
    `${file} has ${count.toLocaleString('en-US')} rows, and each is sent once: this run needs at least ${least.toLocaleString('en-US')}`,
    ROWS_HINT,
  );
}

/** Describes rows that were used up, `requests` of them within these seconds of load. */
export function describeUsedUp(
  plan: Plan,
  planned: PlannedTrial,
  { requests, seconds, routes }: { requests: number; seconds: number; routes: Routes },
): RowsFacts {
  const once = sentOnce(plan, routes) ?? { checks: 0, share: 0 };
  const lives = livesOf(plan);
  const perLife = once.checks + needed(plan, planned, { ...once, perSecond: requests / seconds });
  return {
    file: plan.userRequests?.rows?.file ?? '',
    rows: requests + once.checks,
    seconds,
    lives,
    // A load that is not steady may need more.
    needed: seconds > 0 ? roundUp(1.1 * perLife * lives) : undefined,
  };
}

/** The rows that the checks of a trial use, and the largest share of a request that uses rows up; undefined if none does. */
function sentOnce(
  { userRequests, routes: alone }: Plan,
  routes: Routes = [],
): { checks: number; share: number } | undefined {
  const weights = userRequests?.requests.map(({ weight }) => weight) ?? [];
  const checks = Math.max(0, ...routes.map(({ once = 0 }) => once));
  const most = Math.max(0, ...weights.filter((_, index) => routes[index]?.once !== undefined));
  return checks === 0 ? undefined : { checks, share: alone === undefined ? most / sum(weights) : 1 };
}

/** Returns the trials that share the rows. */
function livesOf({ attached, trials, targets }: Plan): number {
  return attached === undefined ? 1 : trials.length + targets.length;
}

/** Returns the rows that one load uses at this rate. */
function needed(
  plan: Plan,
  planned: PlannedTrial,
  { perSecond, share }: { perSecond: number; share: number },
): number {
  const { load, windowSeconds } = plan;
  const warmup = perSecond * warmupSecondsOf(plan, planned);
  return Math.ceil(warmup + (load.mode === 'amount' ? load.requests * share : perSecond * windowSeconds));
}

function roundUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}
