/** The smallest difference that a plan finds, by simulation with the functions that judge its rounds. */
import type { Schedule } from 'bench-targets/catalogue/looks';
import type { Interval } from 'bench-model/interval';
import { createRandom, type Random } from 'bench-statistics/random';
import { isOpen } from './comparison.ts';
import { exactly } from './differences.ts';
import { compareTable } from './paired.ts';
import { judge, thetaOf } from './verdict.ts';

/**
 * What a comparison has to show. `verdict`: that the candidate is `slower` or `faster`. `beyond`: that the whole interval
 * lies beyond the threshold, which breaks a budget and makes --fail-on fail.
 */
export type Finding = 'verdict' | 'beyond';

/** The comparisons of a plan: the number of those that share one error, the looks at which they are judged, the rounds that are measured, and the threshold. */
export interface Design {
  schedule: Schedule;
  rounds: number;
  rows: number;
  threshold: number;
}

/** The log ratios of the rounds of one stored comparison, around their centre. */
export type Residuals = readonly number[];

/** A comparison of equal targets at a look, as log ratios. */
interface Seen extends Interval {
  estimate: number;
}

const DRAWS = 2000;

/** The largest difference that is looked for: a factor of 1,000. */
const MOST = Math.log(1000);

/** Bisection ends within 2⁻²⁰ of `MOST`: 0.001 %. */
const STEPS = 20;

/**
 * Returns the smallest difference, as a share, that a comparison finds with each of these probabilities. It leaves at the
 * first look that finds something (see `isOpen`). Each draw takes its rounds from one of the stored comparisons, with a random sign. Undefined
 * for a probability with which no difference is found.
 */
export function detectableDifferences(
  design: Design,
  noise: readonly Residuals[],
  finding: Finding,
  probabilities: readonly number[],
): (number | undefined)[] {
  const theta = thetaOf(design.threshold);
  const courses = drawCourses(design, noise, createRandom(1));
  // A shift of the log ratios shifts estimate and interval alike, so the same draws serve every difference.
  const isFound = (course: readonly Seen[], shift: number): boolean => {
    for (const { estimate, low, high } of course) {
      const interval = { low: low + shift, high: high + shift };
      const judgement = judge(estimate + shift, interval, theta);
      if (!isOpen(judgement, finding === 'beyond')) return judgement.verdict === 'slower';
    }
    return false;
  };
  const shareAt = (shift: number): number =>
    courses.filter((course) => isFound(course, shift)).length / courses.length;
  return probabilities.map((probability) => {
    if (shareAt(MOST) < probability) return undefined;
    let [least, most] = [0, MOST];
    for (let step = 0; step < STEPS; step++) {
      const middle = (least + most) / 2;
      if (shareAt(middle) >= probability) most = middle;
      else least = middle;
    }
    return Math.exp(most) - 1;
  });
}

/** Draws comparisons of equal targets, each at the looks that have an interval. */
function drawCourses(
  { schedule, rounds: measured, rows, threshold }: Design,
  noise: readonly Residuals[],
  random: Random,
): Seen[][] {
  const rules = { schedule, better: 'lower', threshold } as const;
  const reached = schedule.filter(({ rounds }) => rounds <= measured);
  const tables = Array.from({ length: Math.ceil(DRAWS / rows) }, () => {
    const table = Array.from({ length: rows }, () => drawRounds(noise, measured, random));
    const looks = reached.map(({ rounds }) =>
      compareTable(
        table.map((row) => exactly(row.slice(0, rounds))),
        rules,
      ),
    );
    return table.map((_, row) =>
      looks.flatMap((comparisons): Seen[] => {
        const { estimate, interval } = comparisons[row] ?? {};
        return estimate === undefined || interval === undefined ? [] : [{ estimate, ...interval }];
      }),
    );
  });
  return tables.flat();
}

/** Draws rounds of one stored comparison: its own are the noise of one sitting. */
function drawRounds(noise: readonly Residuals[], rounds: number, random: Random): number[] {
  const own = noise[random.below(noise.length)] ?? [];
  return Array.from(
    { length: rounds },
    () => (random.coin() ? 1 : -1) * (own[random.below(own.length)] ?? 0),
  );
}
