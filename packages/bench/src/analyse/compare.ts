import { type Schedule, scheduleNamed } from '../catalogue/looks.ts';
import { nearest } from '../nearest.ts';
import { BenchError } from '../errors.ts';
import { METRICS, type MetricId } from '../metrics.ts';
import type { Target, Trial } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import type { StoredRun } from '../results/store.ts';
import type { Comparison } from './comparison.ts';
import { firstDecisive, fixedSchedule, lastLook } from './looks.ts';
import { figureOf } from './metrics.ts';
import { compareTable, differencesOf } from './paired.ts';
import { shareRanks } from './ranks.ts';
import { compareUnpaired } from './unpaired.ts';
import type { Factor } from './unlike.ts';

/** By what and how finely is compared. */
export interface Question {
  by: MetricId;
  /** The difference that matters, as a share. */
  threshold: number;
  /**
   * A target's id; `@` and a runtime: then each stack is compared with itself on that one; or `undisturbed`: then each
   * target with a request in its background is compared with itself without. Unless told, the last where there are
   * such targets, else the first target or runtime.
   */
  baseline?: string;
}

/** The baseline of those that a request in the background disturbs: each without it. */
export const UNDISTURBED = 'undisturbed';

/** One candidate against its baseline at one rung. */
export interface ComparedRow {
  connections: number;
  candidate: string;
  baseline: string;
  comparison: Comparison;
  /** Among those compared with the same baseline at this rung, itself included, 1 the best; those that cannot be told apart share one. Only within a run. */
  rank?: number;
}

/** All comparisons of one metric: they share one error budget. */
export interface ComparedTable extends Question {
  paired: boolean;
  rows: ComparedRow[];
}

/** Compares the targets of one run with its baseline, round by round. Throws a usage error for a baseline that is not in it. */
export function compareWithin(
  { plan, trials }: Pick<StoredRun, 'plan' | 'trials'>,
  question: Question,
): ComparedTable {
  const rounds = countRounds(plan, trials);
  const targets = plan.targets.filter(({ id }) => trials.some(({ target }) => target.id === id));
  const { asked, pairs } = pairTargets(plan, targets, question.baseline);
  const { better } = METRICS[question.by];
  const rows = pairs.map(({ connections, candidate, baseline }) =>
    differencesOf(
      figuresByRound(trials, candidate, connections, question.by, rounds),
      figuresByRound(trials, baseline, connections, question.by, rounds),
      better,
    ),
  );
  const comparisons = compareTable(rows, {
    schedule: scheduleOf(plan),
    better,
    threshold: question.threshold,
  });
  const compared = pairs.map((pair, index): ComparedRow => ({
    ...pair,
    comparison: comparisons[index] as Comparison,
  }));
  const races = Map.groupBy(compared, ({ connections, baseline }) => `${connections} ${baseline}`);
  return {
    ...question,
    baseline: asked,
    paired: true,
    rows: [...races.values()].flatMap((race) => rankRace(race, question.threshold)),
  };
}

/** The looks at which a run's comparisons may decide: its schedule, or one look after its fixed rounds. */
export function scheduleOf({ sitting, rounds }: Pick<Plan, 'sitting' | 'rounds'>): Schedule {
  return sitting === undefined ? fixedSchedule(rounds) : scheduleNamed(sitting.looks);
}

/** Every row of a run's table in its order, and what the baseline is called. Throws a usage error for one that is not in the run. */
function pairTargets(
  plan: Pick<Plan, 'rungs' | 'engine'>,
  targets: Target[],
  baseline: string | undefined,
): { asked: string; pairs: Pick<ComparedRow, 'connections' | 'candidate' | 'baseline'>[] } {
  const crossed = baseline === undefined ? crossedPairs(targets) : new Map<string, string>();
  const asked = crossed.size > 0 ? plan.engine : (baseline ?? usualBaseline(targets));
  const baselines = crossed.size > 0 ? crossed : chooseBaselines(targets, asked);
  const pairs = plan.rungs.flatMap((connections) =>
    [...baselines].map(([candidate, of]) => ({ connections, candidate, baseline: of })),
  );
  return { asked, pairs };
}

/** The comparisons that a plan will make with its usual baseline. */
export interface Foreseen {
  rows: number;
  schedule: Schedule;
  /** Rounds at the first look that can decide so many rows; undefined if none can. */
  decisiveRounds: number | undefined;
}

/** Counts the rows of a plan's table before it is measured, and finds the first look that can decide them. */
export function foreseeTable(plan: Plan): Foreseen {
  const schedule = scheduleOf(plan);
  const rows = plan.targets.length < 2 ? 0 : pairTargets(plan, plan.targets, undefined).pairs.length;
  return { rows, schedule, decisiveRounds: firstDecisive(schedule, Math.max(1, rows))?.rounds };
}

/** Targets that were measured by a second engine, each with itself by the first. */
function crossedPairs(targets: Target[]): Map<string, string> {
  return new Map(
    targets.flatMap(({ id, crossOf }) => (crossOf === undefined ? [] : [[id, crossOf] as const])),
  );
}

/** The targets themselves without their background; else the first target; where stacks run on several runtimes, the first of those, because that is what was asked. */
function usualBaseline(targets: Target[]): string {
  if (targets.some(isDisturbed)) return UNDISTURBED;
  const [first] = targets;
  const others = targets.filter(({ stack, variant }) => stack === first?.stack && variant === first.variant);
  const runtimes = new Set(others.map(({ runtime }) => runtime?.spec));
  return runtimes.size > 1 ? `@${first?.runtime?.spec}` : (first?.id ?? '');
}

/**
 * What each target is compared with, by id: the baseline of that id, with `@3.11` the same stack and variant on that
 * runtime, or itself undisturbed. A target without one is left out. Throws a usage error for a baseline that no target is.
 */
function chooseBaselines(targets: Target[], asked: string): Map<string, string> {
  if (asked === UNDISTURBED && usualBaseline(targets) === UNDISTURBED) {
    const there = new Set(targets.map(({ id }) => id));
    return new Map(
      targets.flatMap(({ id, undisturbed = '' }) => (there.has(undisturbed) ? [[id, undisturbed]] : [])),
    );
  }
  const isRuntime = asked.startsWith('@');
  const found = targets.filter(({ id, runtime }) => (isRuntime ? `@${runtime?.spec}` : id) === asked);
  if (found.length === 0) {
    const names = targets.flatMap(({ id, runtime }) => [
      id,
      ...(runtime === undefined ? [] : [`@${runtime.spec}`]),
    ]);
    throw new BenchError(
      'usage',
      `the run has no target "${asked}"`,
      `did you mean ${nearest(asked, [...new Set(names)]).join(', ')}?`,
    );
  }
  const baselineOf = (target: Target): string | undefined =>
    found.find((one) => !isRuntime || isSameButRuntime(one, target))?.id;
  const pairs = targets.map((target) => [target.id, baselineOf(target)] as const);
  return new Map(
    pairs.flatMap(([id, baseline]) => (baseline === undefined || baseline === id ? [] : [[id, baseline]])),
  );
}

function isSameButRuntime(a: Target, b: Target): boolean {
  return (
    a.stack === b.stack &&
    a.variant === b.variant &&
    String(a.packages) === String(b.packages) &&
    a.engine === b.engine &&
    isDisturbed(a) === isDisturbed(b)
  );
}

function isDisturbed({ undisturbed }: Target): boolean {
  return undisturbed !== undefined;
}

/** The targets of a run that meet those of another, by the name under which they do; across backgrounds the disturbed ones, where there are any. */
function entrantsOf({ targets }: Plan, across: Factor | undefined): Map<string, string> {
  const disturbed = across === 'background' ? targets.filter(isDisturbed) : [];
  const entrants = disturbed.length > 0 ? disturbed : targets;
  return new Map(
    entrants.map(({ id, undisturbed }) => [disturbed.length > 0 ? (undisturbed ?? id) : id, id]),
  );
}

/** Compares the same targets at two times, `across` a factor in which they may differ. Nothing pairs their rounds: what else changed between the times is seen too. */
export function compareRuns(
  old: StoredRun,
  now: StoredRun,
  question: Question,
  across?: Factor,
): ComparedTable {
  const [then, here] = [entrantsOf(old.plan, across), entrantsOf(now.plan, across)];
  const shared = [...then].flatMap(([name, baseline]) => {
    const candidate = here.get(name);
    return candidate === undefined ? [] : [{ candidate, baseline }];
  });
  if (shared.length === 0)
    throw new BenchError('usage', 'the two runs share no target', 'compare runs of the same targets');
  const pairs = old.plan.rungs
    .filter((rung) => now.plan.rungs.includes(rung))
    .flatMap((connections) => shared.map((pair) => ({ connections, ...pair })));
  // A run may end before its last planned round: rounds that never began are not missing figures.
  const [roundsThen, roundsNow] = [countRounds(old.plan, old.trials), countRounds(now.plan, now.trials)];
  const rows = pairs.map(({ connections, candidate, baseline }) => ({
    candidate: figuresByRound(now.trials, candidate, connections, question.by, roundsNow),
    baseline: figuresByRound(old.trials, baseline, connections, question.by, roundsThen),
  }));
  const comparisons = compareUnpaired(rows, {
    better: METRICS[question.by].better,
    threshold: question.threshold,
  });
  return {
    ...question,
    paired: false,
    rows: pairs.map((pair, index) => ({ ...pair, comparison: comparisons[index] as Comparison })),
  };
}

/** The number of complete rounds: of the last one that began, every trial must be there. */
export function countRounds(plan: Pick<Plan, 'rungs'>, trials: Trial[]): number {
  const last = Math.max(0, ...trials.map(({ round }) => round));
  const targets = new Set(trials.map(({ target }) => target.id));
  const there = trials.filter(({ round }) => round === last).length;
  return there === targets.size * plan.rungs.length ? last : last - 1;
}

/**
 * Decides whether a run until decided may stop: it has reached a look, and every comparison with the first target has
 * its verdict. Targets that repeat another (`--aa`) need none.
 */
export function isDecided(plan: Plan, trials: Trial[]): boolean {
  if (plan.sitting === undefined) return false;
  const { looks, by, threshold } = plan.sitting;
  const rounds = countRounds(plan, trials);
  if (lastLook(scheduleNamed(looks), rounds)?.rounds !== rounds) return false;
  const repeats = plan.targets.filter(({ aaOf }) => aaOf !== undefined).map(({ id }) => id);
  const isAA = plan.targets.length - repeats.length < 2;
  return compareWithin({ plan, trials }, { by, threshold }).rows.every(
    ({ candidate, comparison }) =>
      comparison.verdict !== 'undecided' || (!isAA && repeats.includes(candidate)),
  );
}

/** The valid figures of a target at a rung, by round; undefined where a trial failed, is missing, or is spoilt for this metric. */
function figuresByRound(
  trials: Trial[],
  target: string,
  connections: number,
  by: MetricId,
  rounds: number,
): (number | undefined)[] {
  const here = trials.filter((trial) => trial.target.id === target && trial.connections === connections);
  return Array.from({ length: rounds }, (_, index) => {
    const trial = here.find(({ round }) => round === index + 1);
    const figure = trial === undefined ? undefined : figureOf(trial, METRICS[by]);
    return figure?.valid === true ? figure.value : undefined;
  });
}

/** Ranks those that are compared with one baseline at one rung. */
function rankRace(rows: ComparedRow[], threshold: number): ComparedRow[] {
  const ranked = rows.map(({ comparison: { estimate = 0, interval } }) => ({
    estimate,
    ...(interval === undefined ? {} : { interval }),
  }));
  const ranks = shareRanks([{ estimate: 0, interval: { low: 0, high: 0 } }, ...ranked], threshold);
  return rows.map((row, index) => ({
    ...row,
    ...(row.comparison.interval === undefined ? {} : { rank: ranks[index + 1] as number }),
  }));
}
