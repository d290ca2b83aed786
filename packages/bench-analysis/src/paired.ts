/**
 * Paired comparisons. Two targets in the same rounds give one log ratio per round; above 0 the candidate is worse. All
 * comparisons of a table share one error budget.
 */
import type { Schedule } from 'bench-targets/catalogue/looks';
import type { Comparison, Decided } from './comparison.ts';
import {
  findDear,
  findKinds,
  isBounded,
  locateEarly,
  locateMean,
  locateWithin,
  valuesOf,
} from './differences.ts';
import { ERROR_BUDGET, fewestToStop, isEarly, isFixed, levelOf, lookAt } from './looks.ts';
import { medianRank } from 'bench-statistics/median-interval';
import { type Located, trimFor } from 'bench-statistics/signed-rank';
import { FEWEST_WITH_SPREAD, locateTogether, type Pair, type Differences } from 'bench-statistics/two-way';
import { present } from 'bench-model/options';
import { type Better, judge, roundsToDecide, thetaOf, toRatio } from './verdict.ts';

/** The rules for every comparison of a table. */
export interface PairedRules {
  better: Better;
  /** The smallest difference that matters, as a share: 0.02. */
  threshold: number;
  schedule: Schedule;
  /** True for the cost of processes, which may be of two kinds. */
  isCost?: boolean;
  /** Gives a row an exact interval; by default that of a pair. */
  locate?: Locate;
}

/** The differences of one row up to its last look, with their centre and its interval. */
interface Sample {
  differences: Differences;
  /** True if the rounds are enough for an interval. */
  areEnough: boolean;
  /** The ends of the interval are infinite where nothing bounds it; absent without one. */
  located?: Located | undefined;
  /** The log ratio of the means, with an interval of the same error. */
  mean?: Located | undefined;
}

/** The comparison of a row, and its interval with the ends as they are: infinite where nothing bounds it. */
export type ComparedPair = Pick<Sample, 'located'> & { comparison: Comparison };

/** Locates a row; the interval misses its centre with this probability at most. */
type Locate = (differences: Differences, error: number) => Pick<Sample, 'located' | 'mean'>;

/**
 * Compares the rows of one table, in order, by groups that were measured together. Each row ends at a planned look, or where the run
 * was stopped. Its interval gets one of `shares` of the error of that look (see `levelOf`), so that all intervals of the table hold
 * simultaneously. A run of fixed rounds that are too few for exact intervals gets those of `locateTogether`, group by group: the choice
 * depends on nothing that was measured. Throws RangeError unless the threshold is above 0.
 */
export function compareGroups(
  groups: readonly (readonly Pair[])[],
  rules: PairedRules,
  shares = groups.flat().length,
): ComparedPair[] {
  return locateGroups(groups, rules, shares).map((sample) => ({
    comparison: concludeSample(sample, shares, rules),
    located: sample.located,
  }));
}

/** Compares a row that nothing was measured together with. */
export function compareAlone(differences: Differences, rules: PairedRules, shares: number): Comparison {
  return compareGroups([[alone(differences)]], rules, shares)[0]!.comparison;
}

/** Returns differences as a row that nothing was measured together with. */
export function alone(differences: Differences): Pair {
  return { candidate: 'row', baseline: 'limit', differences };
}

function locateGroups(
  groups: readonly (readonly Pair[])[],
  { schedule, locate = locatePair }: PairedRules,
  shares: number,
): Sample[] {
  return dropPartOfRound(groups, schedule).flatMap((group) => {
    // Rows are located by what they vary together, at the look of the longest.
    const common = isFixed(schedule) ? levelOf(lookAt(schedule, longestOf(group)), schedule, shares) : 0;
    const few = common === 0 ? [] : locateTogether(group, common);
    return group.map(({ differences: all }, index): Sample => {
      const look = lookAt(schedule, all.length);
      const differences = all.slice(0, look?.rounds);
      const level = levelOf(look, schedule, shares);
      if (look === undefined || level === 0) return { differences, areEnough: false };
      if (trimFor(differences.length, level) !== undefined) {
        const isKnown = valuesOf(differences).length > 0;
        return { differences, areEnough: true, ...(isKnown && locate(differences, level)) };
      }
      if (isEarly(look))
        return { differences, areEnough: false, located: locateEarly(differences, level, LEAST_DEVIATION) };
      const areEnough = isFixed(schedule) && differences.length >= FEWEST_WITH_SPREAD;
      return { differences, areEnough, located: few[index] };
    });
  });
}

/**
 * The least deviation between rounds that an early look assumes, as a log ratio. Without it, three processes that happen to
 * be equally fast or slow would decide: simulated with two paces 10 % apart, 3 % of equal servers instead of 0.1 %.
 */
const LEAST_DEVIATION = 0.02;

/** Drops the last round of a run that was stopped in the middle of it: only some rows have it, and their look would be another. */
function dropPartOfRound(
  groups: readonly (readonly Pair[])[],
  schedule: Schedule,
): readonly (readonly Pair[])[] {
  const rows = groups.flat();
  const most = longestOf(rows);
  const isLook = schedule.some(({ rounds }) => rounds === most);
  if (isLook || !rows.some(({ differences }) => differences.length === most - 1)) return groups;
  return groups.map((group) =>
    group.map((row) => ({ ...row, differences: row.differences.slice(0, most - 1) })),
  );
}

function longestOf(rows: readonly Pair[]): number {
  return Math.max(0, ...rows.map(({ differences }) => differences.length));
}

function locatePair(differences: Differences, error: number): Pick<Sample, 'located' | 'mean'> {
  return { located: locateWithin(differences, error), mean: locateMean(differences, error) };
}

/** Reaches the verdict on a row that shares its error budget with this many comparisons. */
function concludeSample(
  { differences, areEnough, located, mean }: Sample,
  rows: number,
  rules: PairedRules,
): Comparison {
  const theta = thetaOf(rules.threshold);
  const unbounded = differences.filter((one) => one === undefined || !isBounded(one)).length;
  const compared = { rounds: differences.length, unbounded };
  const undecided = { ...compared, verdict: 'undecided', byMoreThanThreshold: false } as const;
  const why = areEnough ? 'unbounded' : 'too-few-rounds';
  const values = valuesOf(differences);
  if (values.length === 0) return { ...undecided, why };

  const { centre: estimate, interval: found } = located ?? locateWithin(differences, 0);
  const judged = found && isBounded(found) ? judge(estimate, found, theta) : undefined;
  // An early look decides, or says nothing. An interval that is open at one end would need words of its own everywhere.
  const isSilent = judged?.verdict === 'undecided' && !areEnough;
  const interval = judged === undefined || isSilent ? undefined : found;
  const range = { low: Math.min(...values), high: Math.max(...values) };
  const figures = {
    estimate,
    ...(interval && { interval }),
    ratio: toRatio({ estimate, interval, range }, rules.better),
  };
  if (judged === undefined || interval === undefined) {
    const moreRounds = areEnough ? 0 : fewestRounds(rules.schedule, rows) - compared.rounds;
    return { ...undecided, why, ...figures, ...(moreRounds > 0 && { moreRounds }) };
  }
  const told = { ...figures, ...tellMean(mean, differences, rules) };
  const { verdict, byMoreThanThreshold } = judged;
  if (verdict === 'undecided') {
    const moreRounds = roundsToDecide({ estimate, ...interval }, compared.rounds, theta);
    return { ...undecided, why: 'wide', ...told, ...present({ moreRounds }) };
  }
  if (mean !== undefined && !agreesWith(verdict, mean, theta)) return { ...undecided, why: 'mean', ...told };
  return { ...compared, verdict, byMoreThanThreshold, ...told };
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
  { better, threshold, isCost = false }: PairedRules,
): Pick<Comparison, 'mean' | 'dear'> {
  if (mean?.interval === undefined || !isBounded(mean.interval)) return {};
  const { estimate, range: interval } = toRatio({ estimate: mean.centre, range: mean.interval }, better);
  const least = thetaOf(threshold);
  const dear = (isCost ? findKinds(differences, least) : undefined) ?? findDear(differences, least);
  return { mean: { estimate, interval }, ...(dear && { dear }) };
}

/** The fewest rounds that give one of so many comparisons an exact interval; with scheduled looks, if the run is stopped there. */
function fewestRounds(schedule: Schedule, rows: number): number {
  const stop = isFixed(schedule) ? undefined : fewestToStop(schedule, rows);
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
    // The Walsh averages to which one of these rounds belongs.
    const open = unbounded * (look.rounds - unbounded) + (unbounded * (unbounded + 1)) / 2;
    return trim !== undefined && unbounded <= look.rounds && open <= trim;
  });
}
