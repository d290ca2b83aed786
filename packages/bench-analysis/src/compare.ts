import type { Difference, Differences } from 'bench-statistics/two-way';
import { type Schedule, scheduleNamed } from 'bench-targets/catalogue/looks';
import { compareVersions } from 'bench-targets/catalogue/releases';
import { suggest } from 'bench-model/suggest';
import { type Level, memoryByAnswers, peaksAtEqualAnswers } from 'bench-statistics/growth';
import { UsageError } from 'bench-model/errors';
import { type Metric, METRICS, type MetricId } from 'bench-model/metrics';
import type { Target } from 'bench-model/target';
import type { Trial } from 'bench-model/record';
import type { Plan } from 'bench-model/plan';
import { thresholdFor } from 'bench-model/options';
import {
  isDisturbed,
  isSamePlace,
  nameOfRuntime,
  placeOf,
  placesOf,
  type Place,
  usualMetric,
} from 'bench-model/planned';
import type { StoredRun } from './results/store.ts';
import { type Cell, cellOf, groupByCell } from './cells.ts';
import type { Comparison } from './comparison.ts';
import { fewestToStop, firstDecisive, fixedSchedule, withStops } from './looks.ts';
import { differenceOf, recentre } from './differences.ts';
import { boundByRate, COST_PART, type Rounds, withTime } from './cost-and-time.ts';
import { isBlind, readControl, withControl } from './control.ts';
import { capacitiesOf } from './capacities.ts';
import { boundFigure, boundFigureInTurns, exact, withServices } from './metrics.ts';
import { logRatio } from './verdict.ts';
import {
  type Contestants,
  contestAll,
  type Contested,
  contestedOf,
  contestPairs,
  rankTargets,
} from './contest.ts';

/** The metric, the threshold and the baseline of a comparison. */
export interface Question {
  by: MetricId;
  /** The smallest difference that matters, as a share. */
  threshold: number;
  /**
   * One of four forms: the id of a target; `@` and a runtime, to compare each stack with itself on that runtime; the name
   * of a copy, such as a revision, to compare each target with itself there; or
   * `undisturbed`, to compare each target that has a background request with itself without one. The default is
   * `undisturbed` if such targets exist, otherwise the first target or runtime.
   */
  baseline?: string;
}

/** A run, as far as it is compared. */
export type ComparedRun = Pick<StoredRun, 'plan' | 'stops' | 'trials'>;

/** Returns the metric and the threshold by which the targets of a run are compared. */
export function questionOf(plan: Plan): Question {
  const { by = usualMetric(plan), threshold = thresholdFor(by) } = plan.sequentialTest ?? {};
  return { by, threshold };
}

/** The baseline that compares each target that has a background request with itself without one. */
export const UNDISTURBED = 'undisturbed';

/** The name of the baseline that compares each scaled target with itself of one worker. */
export const ONE_WORKER = 'one worker';

/**
 * The baseline of an upgrade: of a runtime without its GIL or with its JIT, the same version as it is; of any other version, the
 * oldest one; of packages, those of the lock.
 */
export const UPGRADE = 'upgrade';

/** One candidate against its baseline at one place. */
export interface ComparedRow extends Contestants {
  comparison: Comparison;
  /** The rank among all targets at this place; 1 is best. Indistinguishable targets share a rank. */
  rank?: number;
}

/** All comparisons of one metric. They share one error budget. */
export interface ComparedTable extends Question {
  rows: ComparedRow[];
}

/**
 * Holds the contest of a run by a metric: all pairs of its targets, or in a sequential test each target with its baseline.
 * Throws a usage error if the run has no such baseline.
 */
export function contestRun(
  { plan, stops, trials }: ComparedRun,
  { by, threshold, baseline }: Question,
): Contested[] {
  const targets = measuredTargets(plan, trials);
  const cells = groupByCell(trials);
  const roundsAt = (pair: Contestants): Rounds => {
    const { candidate, baseline: other, ...place } = pair;
    const own = [candidate, other].flatMap((target) => cells.get(cellOf({ target, ...place })) ?? []);
    return roundsOf(own, pair);
  };
  const hasTime = by === 'cpu' && plan.load.mode !== 'promise' && !targets.some(({ scale }) => scale);
  const measure = (pair: Contestants): Differences => {
    const rounds = roundsAt(pair);
    const differences = differencesOf(rounds, by);
    return hasTime ? boundByRate(differences, rounds) : differences;
  };
  const rules = { better: METRICS[by].better, threshold, schedule: scheduleOf(plan, stops) };
  const isSequential = plan.sequentialTest !== undefined;
  const own = hasTime ? { ...rules, part: COST_PART } : rules;
  const names = targets.map(({ id }) => id);
  const contested = isSequential
    ? contestPairs(pairTargets(plan, targets, baseline).pairs, measure, own)
    : contestAll(names, placesOf(plan), measure, own);
  if (!hasTime) return contested;
  const comparisons = contested.length / (isSequential ? 1 : plan.rungs.length);
  const controls = Math.max(1, plan.control?.targets.length ?? 0) * placesOf(plan).length;
  return contested.map((one) => {
    const rounds = roundsAt(one);
    const planted = rounds.slice(0, one.comparison.rounds).map(([, other]) => other);
    const cost = withControl(one.comparison, readControl(planted, controls));
    return {
      ...one,
      ...(isBlind(cost) && { located: undefined }),
      comparison: withTime(cost, rounds, { rules, comparisons, measure: differencesOf }),
    };
  });
}

function measuredTargets(plan: Plan, trials: readonly Trial[]): Target[] {
  const measured = new Set(trials.map(({ target }) => target.id));
  return plan.targets.filter(({ id }) => measured.has(id));
}

/**
 * Returns those of the verdicts that a table has. `slower` and `faster` count only if the whole interval lies beyond the
 * threshold, as for a budget: a difference that may be smaller fails no job.
 */
export function findVerdicts<Name extends Comparison['verdict']>(
  { rows }: ComparedTable,
  verdicts: readonly Name[],
): Name[] {
  return verdicts.filter((wanted) =>
    rows.some(({ comparison: { verdict, byMoreThanThreshold } }) => {
      const isDifference = verdict === 'slower' || verdict === 'faster';
      return verdict === wanted && (byMoreThanThreshold || !isDifference);
    }),
  );
}

/** Compares the targets of one run with its baseline, round by round. Throws a usage error if the run has no such baseline. */
export function compareWithin(
  run: ComparedRun,
  question: Question,
  contested = contestRun(run, question),
): ComparedTable {
  const { plan, trials } = run;
  const { from, pairs } = pairTargets(plan, measuredTargets(plan, trials), question.baseline);
  const races = Map.groupBy(pairs, (pair) => cellOf({ target: pair.baseline, ...placeOf(pair) }));
  const rows = [...races.values()].flatMap((race) => {
    const ranks = rankPlace(plan, contested, placeOf(race[0] as Contestants), question.threshold);
    return race.map((pair): ComparedRow => {
      const rank = ranks.get(pair.candidate);
      const { comparison } = contestedOf(contested, pair) as Contested;
      return { ...pair, comparison, ...(rank !== undefined && { rank }) };
    });
  });
  return { ...question, baseline: from, rows };
}

/**
 * Ranks the targets of a run at a place. Empty if not all of them were compared with each other or with one baseline: the
 * comparisons of a sequential test with several baselines say nothing of the others.
 */
export function rankPlace(
  plan: Plan,
  contested: readonly Contested[],
  place: Place,
  threshold: number,
): Map<string, number> {
  const here = contested.filter((one) => isSamePlace(one, place));
  const baselines = new Set(here.map(({ baseline }) => baseline));
  if (plan.sequentialTest !== undefined && baselines.size > 1) return new Map();
  const names = new Set(here.flatMap(({ candidate, baseline }) => [baseline, candidate]));
  return rankTargets([...names], here, threshold);
}

/**
 * Returns the log ratio of each round of a run, from the totals of both trials, whether they took turns or not. The last
 * round is the last one with a trial of both, because a decided comparison leaves the rounds. A centre of the turns would
 * vary a little less, but it misses half and more of costs that come in bursts.
 */
export function differencesWithin(trials: readonly Trial[], pair: Contestants, by: MetricId): Differences {
  return differencesOf(roundsOf(trials, pair), by);
}

function differencesOf(rounds: Rounds, by: MetricId): Differences {
  const pooled =
    by === 'capacity'
      ? new Map([0, 1].flatMap((side) => [...capacitiesOf(rounds.flatMap((both) => both[side] ?? []))]))
      : undefined;
  return rounds.map((both) => differenceInRound(both, { metric: METRICS[by], pooled }));
}

function roundsOf(trials: readonly Trial[], { candidate, baseline, ...place }: Contestants): Rounds {
  const [ours, theirs] = [candidate, baseline].map((target) =>
    trialsByRound(trials, { target, ...place }),
  ) as [ByRound, ByRound];
  return ours.slice(0, theirs.length).map((trial, round) => [trial, theirs[round]]);
}

type ByRound = (Trial | undefined)[];

/** Returns the trials of a cell by round, up to the last one; undefined where one is missing. */
export function trialsByRound(trials: readonly Trial[], { target, ...place }: Cell): ByRound {
  const here = trials.filter((trial) => trial.target.id === target && isSamePlace(trial, place));
  const byRound = Map.groupBy(here, ({ round }) => round);
  const last = Math.max(0, ...byRound.keys());
  return Array.from({ length: last }, (_, index) => byRound.get(index + 1)?.[0]);
}

/** Returns the difference of two trials in one round, from their figures; `pooled` has those that all trials tell together. */
function differenceInRound(
  [candidate, baseline]: Rounds[number],
  { metric, pooled }: { metric: Metric; pooled: ReadonlyMap<Trial, number> | undefined },
): Difference | undefined {
  const tookTurns = candidate?.duel !== undefined && candidate.duel === baseline?.duel;
  const [ours, theirs] = [candidate, baseline].map((trial, index) => {
    const value = trial && pooled?.get(trial);
    if (value !== undefined) return exact(value);
    if (trial === undefined) return undefined;
    const figure = tookTurns
      ? boundFigureInTurns(trial, metric, index === 0 ? [] : candidate.reasons)
      : boundFigure(trial, metric);
    return figure && metric.id === 'cpu' ? withServices(figure, trial) : figure;
  });
  const difference = differenceOf(ours, theirs, metric.better);
  if (difference === undefined || metric.id !== 'memory') return difference;
  // After equal numbers of responses: a faster one that leaks would have more.
  const [own, others] = [candidate, baseline].map((trial) =>
    trial === undefined || trial.status === 'failed' ? [] : memoryByAnswers(trial.measured),
  ) as [Level[], Level[]];
  const [peak, other] = peaksAtEqualAnswers(own, others) ?? [];
  const value = logRatio(peak, other, metric.better);
  return value === undefined ? difference : recentre(difference, value);
}

/** The looks at which a run's comparisons may decide: its schedule or one look after its fixed rounds, and its stops. */
export function scheduleOf(
  { sequentialTest, rounds }: Pick<Plan, 'sequentialTest' | 'rounds'>,
  stops: ComparedRun['stops'],
): Schedule {
  const planned = sequentialTest === undefined ? fixedSchedule(rounds) : scheduleNamed(sequentialTest.looks);
  return withStops(planned, stops);
}

/** Lists the rows of a run's table in order, with the name of the baseline. Throws a usage error if the run has no such baseline. */
function pairTargets(
  plan: Pick<Plan, 'rungs' | 'routes' | 'upgrade'>,
  targets: Target[],
  baseline: string | undefined,
): { from: string; pairs: Contestants[] } {
  const scaled = baseline === undefined ? scaledPairs(targets) : [];
  const from =
    scaled.length > 0 ? ONE_WORKER : (baseline ?? (plan.upgrade ? UPGRADE : defaultBaseline(targets)));
  const baselines = new Map(scaled.length > 0 ? scaled : chooseBaselines(targets, from));
  const pairs = placesOf(plan).flatMap((place) =>
    [...baselines].map(([candidate, of]) => ({ ...place, candidate, baseline: of })),
  );
  return { from, pairs };
}

/** Returns the baselines of a plan, each once. */
export function baselinesOf(plan: Plan): string[] {
  return [...new Set(pairTargets(plan, plan.targets, undefined).pairs.map(({ baseline }) => baseline))];
}

/** Throws a usage error if the targets of a plan have no such baseline. */
export function requireBaseline({ targets }: Pick<Plan, 'targets'>, baseline: string): void {
  chooseBaselines(targets, baseline);
}

/**
 * Counts the comparisons of a plan that share its error of 5 %: all pairs of targets at one rung, with every request that is
 * measured there, or in a sequential test each target with its baseline at every place.
 */
export function countShares(plan: Plan, baseline?: string): number {
  const {
    targets: { length },
    routes,
  } = plan;
  if (plan.sequentialTest === undefined) return ((length * (length - 1)) / 2) * (routes?.length ?? 1);
  return pairTargets(plan, plan.targets, baseline).pairs.length;
}

/** The comparisons of a plan with its default baseline. */
export interface Foreseen {
  rows: number;
  schedule: Schedule;
  /** Rounds at the first look that can decide this number of rows; undefined if none can. */
  decisiveRounds: number | undefined;
  /** The fewest rounds that decide them if the run is stopped; undefined if none do. */
  fewestRounds: number | undefined;
}

/** Counts the rows of a plan's table before it is measured, and finds the first look that can decide them. */
export function foreseeTable(plan: Plan, stops?: ComparedRun['stops']): Foreseen {
  const schedule = scheduleOf(plan, stops);
  const rows = plan.targets.length < 2 ? 0 : pairTargets(plan, plan.targets, undefined).pairs.length;
  const least = Math.max(1, rows);
  return {
    rows,
    schedule,
    decisiveRounds: firstDecisive(schedule, least)?.rounds,
    fewestRounds: fewestToStop(schedule, least),
  };
}

/** A target, and its baseline. */
type Pairing = [candidate: string, baseline: string];

/** Pairs each target of more workers or threads with itself of one. */
function scaledPairs(targets: Target[]): Pairing[] {
  return targets.flatMap(({ id, scale }) => (scale === undefined || scale.of === id ? [] : [[id, scale.of]]));
}

/**
 * Chooses the default baseline: `undisturbed` if targets have a background request; the first copy of the project if
 * several targets run in each of several copies; the first runtime if stacks run on several; otherwise the first target.
 */
function defaultBaseline(targets: Target[]): string {
  if (targets.some(isDisturbed)) return UNDISTURBED;
  const [first] = targets;
  const copies = new Set(targets.map(({ copy }) => copy?.name));
  if (copies.size > 1) return targets.length > copies.size ? (first?.copy?.name ?? '') : (first?.id ?? '');
  const others = targets.filter(({ stack, variant }) => stack === first?.stack && variant === first.variant);
  const runtimes = new Set(others.map(({ runtime }) => runtime && nameOfRuntime(runtime)));
  return runtimes.size > 1 && first?.runtime !== undefined
    ? `@${nameOfRuntime(first.runtime)}`
    : (first?.id ?? '');
}

/**
 * Maps the id of each target to its baseline: the target of that id, the same stack and variant on the runtime `@3.11` or
 * in the named copy, or itself undisturbed. Targets without a baseline are omitted. Throws a usage error if no target matches.
 */
function chooseBaselines(targets: Target[], baseline: string): Pairing[] {
  if (baseline === UNDISTURBED && defaultBaseline(targets) === UNDISTURBED) {
    return targets.flatMap((target) =>
      isDisturbed(target) && target.repeats !== undefined ? [[target.id, target.repeats.targetId]] : [],
    );
  }
  if (baseline === UPGRADE) return upgradePairs(targets);
  const form = formOf(baseline, targets);
  const found = targets.filter((target) => namesOf(target)[form] === baseline);
  if (found.length === 0) {
    const all = targets.flatMap((target) => Object.values(namesOf(target)));
    const names = [...new Set(all.filter((name) => name !== undefined))];
    throw new UsageError(
      `the run has no target "${baseline}"`,
      suggest(baseline, names) ?? `name one of ${names.join(', ')}`,
    );
  }
  return targets.flatMap((target) => {
    const own = found.find((one) => form === 'target' || isSameBut(form, one, target))?.id;
    return own === undefined || own === target.id ? [] : [[target.id, own]];
  });
}

/**
 * Pairs each target with the one that it is an upgrade of: packages with those of the lock, a switch with the same line of its
 * runtime without it, and another version with the oldest one of the same switches, or without any.
 */
function upgradePairs(targets: Target[]): Pairing[] {
  return targets.flatMap((target): Pairing[] => {
    const before = lockedOf(target, targets) ?? plainOf(target, targets) ?? oldestOf(target, targets);
    return before === undefined ? [] : [[target.id, before.id]];
  });
}

function lockedOf(target: Target, targets: Target[]): Target | undefined {
  if (target.packages === undefined) return undefined;
  return targets.find((other) => other.packages === undefined && isSameBut('packages', other, target));
}

/** Returns the same target on the same line of Python with its GIL and without its JIT; undefined if it is that itself. */
export function plainOf(target: Target, targets: Target[]): Target | undefined {
  const { line, switches } = readVersion(target) ?? {};
  if (line === undefined || switches === '') return undefined;
  return versionsOf(target, targets).find((other) => other.line === line && other.switches === '')?.target;
}

function oldestOf(target: Target, targets: Target[]): Target | undefined {
  const own = readVersion(target);
  if (own === undefined) return undefined;
  const older = versionsOf(target, targets)
    .filter(({ version }) => compareVersions(version, own.version) < 0)
    .toSorted((a, b) => compareVersions(a.version, b.version));
  return (
    older.find(({ switches }) => switches === own.switches) ?? older.find(({ switches }) => switches === '')
  )?.target;
}

/** A target on a version of a runtime, as its name tells. */
interface OnVersion {
  target: Target;
  /** `3.15.2`, its line `3.15`, and the switches of its build: `t`, `+jit`. */
  version: string;
  line: string;
  switches: string;
  /** The variables that its name sets, as in `{PYTHON_GIL=0}`. */
  variables: string;
}

/** Reads the name of a runtime: `26`, `3.15`, `3.15.2t` or `3.15.2+jit`. Undefined for one without a version, such as a path. */
function readVersion(target: Target): OnVersion | undefined {
  const { runtime } = target;
  const [, version, switches = '', variables = ''] =
    /^(\d+(?:\.\d+)*)(t?(?:\+jit)?)(\{.*\})?$/.exec(runtime ? nameOfRuntime(runtime) : '') ?? [];
  if (version === undefined) return undefined;
  return { target, version, line: version.split('.', 2).join('.'), switches, variables };
}

/** Lists the same target on other versions of its runtime. */
function versionsOf(target: Target, targets: Target[]): OnVersion[] {
  const variables = readVersion(target)?.variables;
  return targets
    .filter((other) => isSameBut('runtime', other, target))
    .flatMap((other) => readVersion(other) ?? [])
    .filter((other) => other.variables === variables);
}

/** Returns the names that choose a target as a baseline, by their form. */
function namesOf({ id, runtime, copy }: Target) {
  return { target: id, copy: copy?.name, runtime: runtime && `@${nameOfRuntime(runtime)}` };
}

/** The form of a baseline: a copy of the project, a runtime or one target. */
function formOf(baseline: string, targets: Target[]): 'copy' | 'runtime' | 'target' {
  if (targets.some(({ copy }) => copy?.name === baseline)) return 'copy';
  return baseline.startsWith('@') ? 'runtime' : 'target';
}

function isSameBut(factor: 'copy' | 'runtime' | 'packages', a: Target, b: Target): boolean {
  return (
    (factor === 'copy' || a.copy?.name === b.copy?.name) &&
    (factor === 'runtime' || a.runtime?.spec === b.runtime?.spec) &&
    (factor === 'packages' || String(a.packages) === String(b.packages)) &&
    a.stack === b.stack &&
    a.variant === b.variant &&
    isDisturbed(a) === isDisturbed(b)
  );
}
