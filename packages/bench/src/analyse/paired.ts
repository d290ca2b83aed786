/**
 * Paired comparisons. Two targets in the same rounds give one log ratio per round; above 0 the candidate is worse. All
 * comparisons of a table share one error budget.
 */
import type { Schedule } from '../catalogue/looks.ts';
import { type Comparison, conclude, losesTooMany, type Rules } from './comparison.ts';
import { ERROR_BUDGET, firstDecisive, levelOf, lookAt } from './looks.ts';
import {
  estimateCentre,
  intervalWithin,
  signedRankP,
  trimWithLost,
  walshAverages,
  type WalshAverages,
} from './signed-rank.ts';
import { type Better, foreseeRounds, logRatio } from './verdict.ts';

/** The log ratio of each round, in order; undefined if a trial failed and its block is dropped. */
export type Differences = readonly (number | undefined)[];

/** The rules for every paired comparison of a table. */
export interface PairedRules extends Rules {
  schedule: Schedule;
  /** The effect for which `neededRounds` is estimated, as a share; 6 % by default. */
  soughtEffect?: number;
}

interface Sample {
  values: number[];
  dropped: number;
  /** The dropped rounds that count as the worst differences: all if they are too many, else none. */
  worst: number;
  averages: WalshAverages;
  /** The error of this row's interval; 0 if it can have none. */
  level: number;
}

/**
 * Computes the log ratio of candidate to baseline for each round; above 0 the candidate is worse. A figure that is
 * missing, infinite or not above 0 drops its block.
 */
export function differencesOf(
  candidate: readonly (number | undefined)[],
  baseline: readonly (number | undefined)[],
  better: Better,
): (number | undefined)[] {
  const rounds = Math.max(candidate.length, baseline.length);
  return Array.from({ length: rounds }, (_, round) => logRatio(candidate[round], baseline[round], better));
}

/** Makes one comparison with the whole error budget: Hodges-Lehmann estimate, exact signed-rank interval, two-level verdict. */
export function compareRounds(differences: Differences, rules: PairedRules): Comparison {
  return compareTable([differences], rules)[0]!;
}

/**
 * Makes the comparisons of one table, in order. Each ends at a planned look, or where the run was stopped. Its interval gets
 * an equal share of the error of that look (see `levelOf`), so that all intervals of the table hold simultaneously.
 * With dropped blocks, the level of the look stays, and the interval is the exact one of the remaining rounds. If more than
 * 5 % were dropped, the rest may be a biased selection: then the interval holds whatever the dropped differences were.
 * Throws RangeError unless the threshold is above 0.
 */
export function compareTable(rows: readonly Differences[], rules: PairedRules): Comparison[] {
  const { schedule } = rules;
  return dropPartOfRound(rows, schedule).map((row) =>
    concludeSample(takeSample(row, schedule, rows.length), rows.length, rules),
  );
}

/** Drops the last round of a run that was stopped in the middle of it: only some rows have it, and their look would be another. */
function dropPartOfRound(rows: readonly Differences[], schedule: Schedule): readonly Differences[] {
  const most = Math.max(0, ...rows.map(({ length }) => length));
  const isLook = schedule.some(({ rounds }) => rounds === most);
  if (isLook || !rows.some(({ length }) => length === most - 1)) return rows;
  return rows.map((row) => row.slice(0, most - 1));
}

function takeSample(row: Differences, schedule: Schedule, rows: number): Sample {
  const look = lookAt(schedule, row.length);
  const blocks = look ? row.slice(0, look.rounds) : row;
  const values = blocks.filter((difference) => difference !== undefined);
  const dropped = blocks.length - values.length;
  const worst = losesTooMany(dropped, blocks.length) ? dropped : 0;
  const level = look ? levelOf(look, schedule, rows) : 0;
  return { values, dropped, worst, averages: walshAverages(values), level };
}

function concludeSample(sample: Sample, rows: number, rules: PairedRules): Comparison {
  const { values, dropped, worst, averages, level } = sample;
  const tooManyDropped = worst > 0;
  // Looks spend different errors: the scale makes 5 % the p value that just passes its look.
  const adjustedP = level > 0 ? Math.min(1, (signedRankP(averages, worst) * ERROR_BUDGET) / level) : 1;
  const compared = { rounds: values.length, dropped, adjustedP };
  if (values.length === 0) return conclude(compared, tooManyDropped, undefined, rules);

  const k = level > 0 ? trimWithLost(values.length, worst, level) : undefined;
  const figures = {
    estimate: estimateCentre(averages),
    interval: k === undefined ? undefined : intervalWithin(averages, k),
    range: { low: averages.at(0), high: averages.at(averages.count - 1) },
    neededRounds: foreseeWithin(rules, values, rows),
  };
  return conclude(compared, tooManyDropped, figures, rules);
}

/** Estimates the rounds that would show the sought effect; with scheduled looks, at least those of the first that can decide. */
function foreseeWithin(rules: PairedRules, values: number[], rows: number): number | undefined {
  const foreseen = foreseeRounds(values, rules.soughtEffect, ERROR_BUDGET / rows);
  if (foreseen === undefined || rules.schedule.length === 1) return foreseen;
  return Math.max(foreseen, firstDecisive(rules.schedule, rows)?.rounds ?? 0);
}

/** Returns true if a look of the schedule can still decide a row of a table that has lost this many rounds. */
export function canDecide(dropped: number, schedule: Schedule, rows: number): boolean {
  return schedule.some((look) => {
    const worst = losesTooMany(dropped, look.rounds) ? dropped : 0;
    return trimWithLost(look.rounds - dropped, worst, levelOf(look, schedule, rows)) !== undefined;
  });
}
