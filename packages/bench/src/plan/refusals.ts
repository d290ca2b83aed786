/** Usage errors for plans that cannot be measured. */
import { ENGINES, type Engine, type EngineName } from 'bench-model/engines';
import { haveIds, type Draw, type Route } from 'bench-targets/catalogue/workloads/workload';
import { refuseFirst, ToolchainError, UsageError, type Refusal } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { findShortBudget } from 'bench-analysis/time-budget';
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { countOf, formatBudget, formatWhole, typeBudget } from 'bench-report/format';
import { describeNeeded } from 'bench-report/words';
import type { BenchRequest } from './request.ts';
import { FEWEST_WAITS, wholeWaits } from './turns.ts';
import type { Plan } from 'bench-model/plan';
import { placesOf } from 'bench-model/planned';

/** Throws a toolchain error if a plan is to compare targets, and only one of them can be measured. */
export function refuseAlone(
  planned: Pick<Plan, 'targets' | 'sequentialTest'>,
  leftOut: readonly string[],
): void {
  const targets = planned.targets.filter(({ id }) => !leftOut.includes(id));
  if (planned.sequentialTest === undefined || planned.targets.length < 2 || targets.length > 1) return;
  throw new ToolchainError(
    `only ${targets[0]?.id ?? 'none of the targets'} can be measured, so nothing can be compared`,
    'see above why the others are left out; to measure it alone, name it alone',
  );
}

/** The requests that a plan sends, as drawn once. */
type Drawn = Pick<Draw, 'requests' | 'routes'>;

/** All of a plan but its trials. */
export type Untried = Omit<Plan, 'trials'>;

/** More than a week of trials: the user mistyped. */
const MOST_TRIALS = 100_000;

/** Throws a usage error for a plan that cannot be measured. `typedSeconds` is the window that the user named. */
export function refusePlan(plan: Untried, drawn: Drawn, typedSeconds: number | undefined): void {
  refuseFirst(hostRefusals(plan), '--cluster ');
  refuseFirst(loadRefusals(plan, typedSeconds));
  refuseFirst(engineRefusals(plan, drawn), `${plan.engine} `);
}

/** What hosts of a cluster cannot do together. */
function hostRefusals({ cluster, spread, engine, load, attached, rungs, generators }: Untried): Refusal[] {
  const least = Math.min(...rungs);
  const own: Refusal = [
    (cluster ?? spread) !== undefined && attached !== undefined,
    'starts its servers itself',
    'omit the address, or --cluster',
  ];
  if (cluster === undefined) return [own];
  return [
    own,
    [engine !== 'autocannon', `takes the load driver of Bench, not ${engine}`, 'omit --engine'],
    [load.mode === 'amount', 'sends for a time, not an exact number of requests', 'use --duration'],
    [
      generators > least,
      `has ${generators} generator processes, which cannot share ${least} connections`,
      `use ${generators} connections or more`,
    ],
  ];
}

/** Loads that would not measure what they are to measure. */
function loadRefusals(plan: Untried, typedSeconds: number | undefined): Refusal[] {
  const { targets, rungs, rounds, load, waitSeconds, attached, background, cluster } = plan;
  const whole = typedSeconds && wholeWaits(typedSeconds, waitSeconds);
  const every = plan.userRequests?.login?.every;
  const trials = targets.length * placesOf(plan).length * rounds;
  const most = Math.max(...rungs);
  return [
    [
      whole !== typedSeconds,
      `--duration ${typedSeconds}: each response of ${plan.workload} waits ${waitSeconds} s, and a window must hold a whole number of waits, at least ${FEWEST_WAITS}`,
      `e.g. --duration ${whole}`,
    ],
    [
      background !== undefined && attached !== undefined,
      '--background needs a fresh server for each trial: the server at an address may still be working on the request of the previous trial',
      'let Bench start the server: name its folder',
    ],
    [
      every !== undefined && cluster !== undefined,
      `the login is sent again every ${every} s, and hosts of a --cluster cannot pause for that`,
      'omit --cluster, or "every"',
    ],
    [
      every !== undefined && load.mode === 'amount',
      `the login is sent again every ${every} s, and a load of --amount is one window`,
      'use --duration, or omit "every"',
    ],
    [
      trials > MOST_TRIALS,
      `the plan has ${formatWhole(trials)} trials, and the limit is ${formatWhole(MOST_TRIALS)}`,
      'use fewer rounds, targets, connections or requests',
    ],
    [
      load.mode === 'amount' && load.requests < most,
      `--amount ${load.mode === 'amount' ? load.requests : 0} is less than the ${most} connections`,
      'use more: every connection sends at least one request',
    ],
  ];
}

/** Returns true for a request that every engine can send and check. */
function isPlain({ statuses, schema, count }: Pick<Route, 'statuses' | 'schema' | 'count'>): boolean {
  return schema === undefined && count === 1 && statuses.join() === '2xx';
}

/** What an engine cannot do for a plan. */
function engineRefusals(
  { engine: name, rungs, generators, load, windowSeconds, warmupSeconds }: Untried,
  { requests, routes }: Drawn,
): Refusal[] {
  const engine: Engine = ENGINES[name as EngineName];
  const most = Math.max(...rungs);
  const fewest = Math.min(...rungs);
  return [
    [
      !engine.openLoop && (load.mode === 'open' || load.mode === 'promise'),
      'has no open loop',
      `omit ${load.mode === 'open' ? '--rate' : '--slo'}, or --engine`,
    ],
    [
      !engine.counts && load.mode === 'amount',
      'cannot send an exact number of requests',
      'use --duration instead of --amount',
    ],
    [
      most > engine.mostConnections,
      `supports at most ${countOf(engine.mostConnections, 'connection')}, not ${formatWhole(most)}`,
      `--connections ${engine.mostConnections}, or another engine`,
    ],
    [
      engine.generators === undefined && generators > 1,
      'runs as one process that uses every load core',
      'omit --scale, or --engine',
    ],
    [
      engine.generators === 'threads' && generators > fewest,
      `needs a connection for each thread: ${generators} threads cannot share ${countOf(fewest, 'connection')}`,
      `use ${generators} connections or more`,
    ],
    [
      engine.wholeSeconds === true && ![windowSeconds, warmupSeconds].every(Number.isInteger),
      `takes whole seconds, not ${warmupSeconds} s of warm-up and ${windowSeconds} s of window`,
      '--duration 5 --warmup 2',
    ],
    [
      !engine.ids && haveIds(requests),
      'cannot give each request an id, by which this workload checks the responses',
      'omit --engine',
    ],
    [
      !engine.anyRequest &&
        (requests.length !== 1 ||
          requests.some(({ method, body }) => method !== 'GET' || body !== undefined)),
      'sends the same GET request every time, without a body',
      'use autocannon or one of the Python clients',
    ],
    [
      !engine.routes && routes !== undefined && (routes.length > 1 || !routes.every(isPlain)),
      'sends one request and accepts every 2xx answer: it supports no rows, weights or other expectations',
      'omit --engine',
    ],
  ];
}

/** Throws a usage error for a comparison of one thing. */
export function refuseSingle({ compares }: Pick<BenchRequest, 'compares'>, targets: Plan['targets']): void {
  if (!compares || targets.length > 1) return;
  throw new UsageError(
    `a comparison needs two things, and this is one: ${targets[0]?.id}`,
    `e.g. ${commandLine('compare main HEAD')}, or two values of a variable: --env WORKERS=1,4`,
  );
}

/** Throws a usage error if `--fail-on` could find nothing: the plan compares no targets. */
export function refuseFailOn({ failOn }: Pick<BenchRequest, 'failOn'>, plan: Plan): void {
  if (failOn === undefined || plan.background !== undefined) return;
  const { targets, rounds, sequentialTest } = plan;
  refuseFirst([
    [
      targets.length < 2,
      '--fail-on compares the targets of a run, and the plan has one',
      'name a second target',
    ],
    [
      rounds < FEWEST_WITH_SPREAD && sequentialTest === undefined,
      `--fail-on needs a comparison, and ${countOf(rounds, 'round')} cannot show one`,
      'omit --rounds, or write --rounds 12',
    ],
  ]);
}

/** A budget that is advised holds its rounds on a busy machine too, where each takes up to this many times as long. */
const SLOW = 2;

/** Throws a usage error if the budget of a plan ends before its comparisons have the rounds that they need. */
export function refuseBudget(plan: Plan): void {
  const short = findShortBudget(plan);
  if (short === undefined) return;
  const { budgetSeconds, held, needed, fewest, enoughSeconds } = short;
  const roundSeconds = (SLOW * enoughSeconds) / needed;
  const [large, other] = [needed, fewest].map((rounds) => typeBudget(rounds * roundSeconds));
  throw new UsageError(
    `a budget of ${formatBudget(budgetSeconds)} allows about ${countOf(held, 'round')}; ${describeNeeded(fewest)}`,
    `use --budget ${large} for a large difference, ${other} for others`,
  );
}
