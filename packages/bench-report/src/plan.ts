/** Plans in words. A dry run prints them, so nothing here needs a result. */
import { labelOf } from 'bench-targets/catalogue/copy-label';
import { scheduleNamed } from 'bench-targets/catalogue/looks';
import { estimateSeconds, LONGEST_WARMUP_SECONDS } from 'bench-model/planned';
import { nameRequest } from 'bench-targets/catalogue/workloads/requests/sent';
import { describeLoad } from 'bench-model/engines';
import { METRICS } from 'bench-model/metrics';
import type { Plan } from 'bench-model/plan';
import {
  countOf,
  describeConnections,
  formatBudget,
  formatRange,
  formatShare,
  formatSpan,
  formatWhole,
  nameCell,
} from './format.ts';
import type { Range } from './model/definition.ts';
import { describeRequests } from './requests.ts';
import { listAll, listAny, listGiven } from './words.ts';

/** Describes the plan as `--dry-run` prints it. */
export function describePlan(plan: Plan): string {
  const lines = [
    `${countOf(plan.trials.length, 'trial')}: ${countOf(plan.targets.length, 'target')} at ${describeConnections(plan.rungs)}, ${countOf(plan.rounds, 'round')}, ${plan.userRequests === undefined ? 'workload ' : ''}${describeWorkload(plan)}`,
    `${plan.engine}, ${describeLoad(plan.load)}, ${describeSpan(plan)}, timeout ${plan.timeoutSeconds} s${plan.attached === undefined ? `, ${describeWorkers(plan)}` : ''}, seed ${plan.seed}`,
    ...describeMix(plan),
    ...describeTurns(plan),
    ...describePlannedHosts(plan),
    ...describeDisturbance(plan),
    ...describeSequentialTest(plan),
    describeTime(plan),
    '',
    ...plan.trials
      .filter(({ round }) => round === 1)
      .map((trial) => `${String(trial.order + 1).padStart(4)}  round 1  ${nameCell(trial)}`),
    ...(plan.rounds === 1
      ? []
      : [`      and ${countOf(plan.rounds - 1, 'round')} more, each in an order that the seed draws`]),
  ];
  return lines.join('\n');
}

/** A workload and its parameters: `fib n=20`; the requests of a user with their weights. */
export function describeWorkload({ workload, params = {}, userRequests }: Plan): string {
  if (userRequests !== undefined) return describeRequests(userRequests);
  return [workload, ...Object.entries(params).map(([name, value]) => `${name}=${value}`)].join(' ');
}

/** `2 s warm-up, 5 s window`; `warm-up of at most 40 s, 5 s window`. */
export function describeSpan(plan: Plan): string {
  const { load, warmupSeconds, windowSeconds, byTurns: { mostSeconds = windowSeconds } = {} } = plan;
  const isAuto = plan.autoWarmup === true && !plan.quick;
  const warmup = isAuto ? `warm-up of at most ${LONGEST_WARMUP_SECONDS} s` : `${warmupSeconds} s warm-up`;
  const most = mostSeconds > windowSeconds ? ` to ${mostSeconds}` : '';
  const what = load.mode === 'promise' ? 'search' : 'window';
  return `${warmup}${load.mode === 'amount' ? '' : `, ${windowSeconds}${most} s ${what}`}`;
}

/**
 * The resources of each server: `1 worker of 2 threads on 2 cores`. Only the command of an app knows its number of workers,
 * unless it asks Bench for it. `each` follows the workers, such as ` per server`.
 */
export function describeWorkers({ workers, threads, cores, targets, apps = [] }: Plan, each = ''): string {
  const sizes = [...new Set(targets.flatMap(({ scale }) => scale?.cores ?? []))];
  if (sizes.length > 0) {
    const hasThreads = targets.some(({ scale }) => (scale?.threads ?? 1) > 1);
    return `${listAny(sizes.map(String))} workers${hasThreads ? ' or threads' : ''} on as many cores${each}`;
  }
  const own = apps.filter(({ command }) => !command.some((word) => word.includes('{workers}')));
  const names = own.map(({ name }) => name);
  const isOwn = targets.every(({ stack }) => names.includes(stack));
  const resources = listGiven([
    isOwn ? 'as many workers' : countOf(workers, 'worker'),
    threads !== undefined && `of ${countOf(threads, 'thread')}`,
    cores !== undefined && `on ${countOf(cores, 'core')}`,
  ]).join(' ');
  if (isOwn) return `${resources}${each} as its command starts`;
  const others = names.length === 0 ? '' : ` (${names.join(', ')}: as many as its command starts)`;
  return `${resources}${each}${others}`;
}

/** Says how several requests of a user are sent; empty for a single one. */
export function describeMix({ userRequests, routes, trials, load }: Plan): string[] {
  if (userRequests === undefined || userRequests.requests.length < 2) return [];
  const one = load.mode === 'promise' ? ', for the capacity of the service; --get measures one' : '';
  if (routes === undefined) return [`all ${userRequests.requests.length} requests are sent mixed${one}`];
  const isShared = trials.some(({ life }) => life !== undefined);
  return [
    `each of the ${routes.length} requests is measured alone, ${isShared ? 'one after the other on the same server' : 'each on a fresh server'}; weights in a file of requests send them mixed`,
  ];
}

/** Describes the choices of a plan that depend on the number of its targets: the turns and the looks. */
export function describeChoice(plan: Plan): string[] {
  return [...describeTurns(plan), ...describeSequentialTest(plan)];
}

/** Estimates the longest duration of a run, in seconds. */
export function secondsOf(plan: Plan): number {
  return Math.min(estimateSeconds(plan), plan.sequentialTest?.budgetSeconds ?? Infinity);
}

/** `about 3 min`; `at most 50 s` with a budget. */
function describeTime(plan: Plan): string {
  const span = formatSpan(secondsOf(plan));
  if (plan.sequentialTest?.budgetSeconds !== undefined) return `at most ${span}`;
  return plan.sequentialTest === undefined ? `about ${span}` : `about ${span}, less if it is decided early`;
}

/** Says which servers run at the same time, and why others do not; empty if nobody would expect them to. `atOnce` are the numbers that ran; by default all of the plan. */
export function describeTurns(
  { byTurns, apart: why, rungs, targets, load, answerSeconds, windowSeconds }: Plan,
  atOnce: Range = { least: targets.length, most: targets.length },
): string[] {
  if ((load.mode === 'open' || load.mode === 'promise') && byTurns === undefined && targets.length > 1)
    return ['one server at a time, as in every open loop; each round measures all of them'];
  const slow =
    answerSeconds === undefined
      ? []
      : [`windows of ${windowSeconds} s, because a response takes about ${answerSeconds} s`];
  const reason = why === undefined ? '' : `: ${why}`;
  if (byTurns === undefined && targets.length > 1 && reason !== '')
    return [`one server at a time${reason}`, ...slow];
  if (byTurns === undefined || atOnce.most < 2) return slow;
  const apart = rungs.filter((rung) => !byTurns.rungs.includes(rung));
  const where = apart.length === 0 ? '' : ` at ${describeConnections(byTurns.rungs)}`;
  return [
    `the ${formatRange(atOnce, formatWhole)} servers of a round run at once${where}, and take turns of ${formatWhole(1000 * byTurns.turnSeconds)} ms or more`,
    ...(apart.length === 0 ? [] : [`one server at a time at ${describeConnections(apart)}${reason}`]),
    ...slow,
  ];
}

/** The background request; empty without one. */
export function describeDisturbance({ background }: Plan): string[] {
  return background === undefined
    ? []
    : [`background: ${nameRequest(background)}, kept in flight during the warm-up and the window`];
}

function describePlannedHosts(plan: Plan): string[] {
  const { cluster, spread } = plan;
  if (spread !== undefined) {
    const { hosts, address } = spread;
    return [`rounds spread over ${countOf(hosts, 'host')} of the cluster at ${address}, side by side`];
  }
  if (cluster === undefined) return [];
  const { generators, processes, address } = cluster;
  return [
    `load from ${countOf(generators, 'host')} of the cluster at ${address}, ${countOf(processes, 'process')} each`,
  ];
}

function describeSequentialTest({ sequentialTest }: Plan): string[] {
  if (sequentialTest === undefined) return [];
  const { looks, by, threshold, beyond, budgetSeconds } = sequentialTest;
  const budget = budgetSeconds === undefined ? '' : `, or after ${formatBudget(budgetSeconds)}`;
  const rounds = scheduleNamed(looks).map((look) => String(look.rounds));
  return [
    `looks after ${listAll(rounds)} rounds, and stops when every comparison by ${METRICS[by].label} (±${formatShare(threshold)}) is decided${beyond ? ', a difference only with its whole interval beyond that' : ''}${budget}`,
  ];
}

/** Describes each revision of a plan in one line: `main 89c6f5c: Add an index`. Folders are described by their names. */
export function describeCopies({ targets }: Pick<Plan, 'targets'>): string[] {
  const copies = new Map(targets.flatMap(({ copy }) => (copy === undefined ? [] : [[copy.name, copy]])));
  return [...copies.values()].flatMap((copy) => {
    if (copy.kind === 'folder' || copy.kind === 'setting') return [];
    const subject = copy.subject ?? 'a commit without a message';
    return copy.kind === 'revision'
      ? [`${labelOf(copy)}: ${subject}`]
      : [`${labelOf(copy)}: uncommitted changes on top of "${subject}"`];
  });
}
