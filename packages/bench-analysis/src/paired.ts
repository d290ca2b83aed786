/**
 * Paired comparisons. Two targets in the same rounds give one log ratio per round; above 0 the candidate is worse. All
 * comparisons of a table share one error budget.
 */
import type { Schedule } from 'bench-targets/catalogue/looks';
import { type Comparison, countUnbounded, type Decided, type Rules } from './comparison.ts';
import { findDear, isBounded, locateEarly, locateMean, locateWithin, valuesOf } from './differences.ts';
import { ERROR_BUDGET, fewestToStop, isEarly, levelOf, lookAt } from './looks.ts';
import { medianRank } from 'bench-statistics/median-interval';
import { averagesWith, type Located, trimFor } from 'bench-statistics/signed-rank';
import { FEWEST_WITH_SPREAD, locateTogether, type Pair, type Differences } from 'bench-statistics/two-way';
import { present } from 'bench-model/options';
import { judge, roundsToDecide, thetaOf, toRatio } from './verdict.ts';

/** The rules for every paired comparison of a table. */
export type PairedRules = Rules & { schedule: Schedule };

/** The differences of one row up to its last look, with their centre and its interval. */
export interface Sample {
  differences: Differences;
  /** True if the rounds are enough for an interval. */
  areEnough: boolean;
  /** The ends of the interval are infinite where nothing bounds it; absent without one. */
  located?: Located | undefined;
  /** The log ratio of the means, with an interval of the same error. */
  mean?: Located | undefined;
}

/**
 * Locates the differences of the rows of one table, in order. Each ends at a planned look, or where the run was
 * stopped. Its interval gets one of `shares` of the error of that look (see `levelOf`), so that all intervals of the table hold
 * simultaneously. A single look after too few rounds for exact intervals gets those of `locateTogether`, each row by itself.
 * `locate` gives an exact interval, by default that of a pair.
 */
export function locateTable(
  rows: readonly Differences[],
  schedule: Schedule,
  {
    shares = rows.length,
    locate = locatePair,
  }: {
    shares?: number;
    locate?: (differences: Differences, error: number) => Pick<Sample, 'located' | 'mean'>;
  } = {},
): Sample[] {
  return dropPartOfRound(rows, schedule).map((row) => {
    const look = lookAt(schedule, row.length);
    const differences = look ? row.slice(0, look.rounds) : row;
    const level = look ? levelOf(look, schedule, shares) : 0;
    if (level === 0) return { differences, areEnough: false };
    if (trimFor(differences.length, level) !== undefined)
      return { differences, areEnough: true, ...(isKnown(differences) && locate(differences, level)) };
    if (look !== undefined && isEarly(look))
      return { differences, areEnough: false, located: locateEarly(differences, level, LEAST_DEVIATION) };
    if (schedule.length > 1) return { differences, areEnough: false };
    return locateFew([{ candidate: 'row', baseline: 'limit', differences }], level)[0]!;
  });
}

/**
 * The least deviation between rounds that an early look assumes, as a log ratio. Without it, three processes that happen to
 * be equally fast or slow would decide: simulated with two paces 10 % apart, 3 % of equal servers instead of 0.1 %.
 */
const LEAST_DEVIATION = 0.02;

/** Drops the last round of a run that was stopped in the middle of it: only some rows have it, and their look would be another. */
function dropPartOfRound(rows: readonly Differences[], schedule: Schedule): readonly Differences[] {
  const most = Math.max(0, ...rows.map(({ length }) => length));
  const isLook = schedule.some(({ rounds }) => rounds === most);
  if (isLook || !rows.some(({ length }) => length === most - 1)) return rows;
  return rows.map((row) => row.slice(0, most - 1));
}

/**
 * Locates the differences of all pairs of a rung, each with an interval of this error. It is the exact one if the rounds of
 * the pair are enough for it, and otherwise that of `locateTogether`: the choice depends on nothing that was measured.
 */
export function locatePairs(pairs: readonly Pair[], error: number): Sample[] {
  const few = locateFew(pairs, error);
  return pairs.map(({ differences }, index) =>
    trimFor(differences.length, error) === undefined
      ? (few[index] as Sample)
      : { differences, areEnough: true, ...(isKnown(differences) && locatePair(differences, error)) },
  );
}

function isKnown(differences: Differences): boolean {
  return differences.some((difference) => difference !== undefined);
}

function locatePair(differences: Differences, error: number): Pick<Sample, 'located' | 'mean'> {
  return { located: locateWithin(differences, error), mean: locateMean(differences, error) };
}

function locateFew(pairs: readonly Pair[], error: number): Sample[] {
  const located = locateTogether(pairs, error);
  return pairs.map(({ differences }, index) => ({
    differences,
    areEnough: differences.length >= FEWEST_WITH_SPREAD,
    located: located[index],
  }));
}

/**
 * Reaches the verdict on a row that shares its error budget with this many comparisons. Throws RangeError unless the
 * threshold is above 0.
 */
export function concludeSample(
  { differences, areEnough, located, mean }: Sample,
  rows: number,
  rules: Rules & Partial<PairedRules>,
): Comparison {
  const theta = thetaOf(rules.threshold);
  const compared = { rounds: differences.length, unbounded: countUnbounded(differences) };
  const undecided = { ...compared, verdict: 'undecided', byMoreThanThreshold: false } as const;
  const why = areEnough ? 'unbounded' : 'too-few-rounds';
  const values = valuesOf(differences);
  if (values.length === 0) return { ...undecided, why };

  const { centre: estimate, interval: found } = located ?? locateWithin(differences, 0);
  // An interval that is open at one end would need words of its own everywhere.
  const interval = found && isBounded(found) ? found : undefined;
  const range = { low: Math.min(...values), high: Math.max(...values) };
  const judged = interval && judge(estimate, interval, theta);
  // An early look decides, or says nothing.
  if (!interval || judged === undefined || (judged.verdict === 'undecided' && !areEnough)) {
    const ratio = toRatio({ estimate, range }, rules.better);
    const moreRounds = areEnough ? 0 : fewestRounds(rules.schedule ?? [], rows) - compared.rounds;
    return { ...undecided, why, estimate, ratio, ...(moreRounds > 0 && { moreRounds }) };
  }
  const ratio = toRatio({ estimate, interval, range }, rules.better);
  const { verdict, byMoreThanThreshold } = judged;
  const told = tellMean(mean, differences, rules);
  if (verdict === 'undecided') {
    const moreRounds = roundsToDecide({ estimate, ...interval }, compared.rounds, theta);
    return { ...undecided, why: 'wide', estimate, interval, ratio, ...told, ...present({ moreRounds }) };
  }
  if (mean !== undefined && !agreesWith(verdict, mean, theta))
    return { ...undecided, why: 'mean', estimate, interval, ratio, ...told };
  return { ...compared, verdict, byMoreThanThreshold, estimate, interval, ratio, ...told };
}

/**
 * Returns true if the mean does not contradict a verdict on the typical process. Equal servers have equal means too: its interval
 * must lie inside ±`theta`. A server is `faster` or `slower` only if its mean is not on the other side.
 */
function agreesWith(verdict: Decided['verdict'], { centre, interval }: Located, theta: number): boolean {
  if (verdict === 'faster') return centre < 0;
  if (verdict === 'slower') return centre > 0;
  return interval !== undefined && interval.low > -theta && interval.high < theta;
}

/** Returns the ratio of the means, and the rounds of dear processes; nothing if too few rounds tell. */
function tellMean(
  mean: Located | undefined,
  differences: Differences,
  { better, threshold }: Rules,
): Pick<Comparison, 'mean' | 'dear'> {
  if (mean?.interval === undefined || !isBounded(mean.interval)) return {};
  const { estimate, interval = mean.interval } = toRatio(
    { estimate: mean.centre, interval: mean.interval, range: mean.interval },
    better,
  );
  const dear = findDear(differences, thetaOf(threshold));
  return { mean: { estimate, interval }, ...(dear && { dear }) };
}

/** The fewest rounds that give one of so many comparisons an exact interval; with scheduled looks, if the run is stopped there. */
function fewestRounds(schedule: Schedule, rows: number): number {
  const stop = schedule.length < 2 ? undefined : fewestToStop(schedule, rows);
  return stop ?? Math.ceil(1 - Math.log2(ERROR_BUDGET / rows));
}

/**
 * Returns true if a look of the schedule can still decide a row of a table that has this many rounds without a bound; for a limit, by
 * their median.
 */
export function canDecide(unbounded: number, schedule: Schedule, rows: number, isLimit = false): boolean {
  return schedule.some((look) => {
    const level = levelOf(look, schedule, rows);
    if (isLimit) return unbounded < medianRank(look.rounds, level);
    const trim = trimFor(look.rounds, level);
    return trim !== undefined && unbounded <= look.rounds && averagesWith(unbounded, look.rounds) <= trim;
  });
}
