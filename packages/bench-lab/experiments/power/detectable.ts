/**
 * Plants the differences that a plan is said to find with 95 and 80 % probability, and counts how often they are found. The
 * plan is told the noise of ten stored comparisons of 20 rounds, or of three published runs; the planted rounds are new, or
 * those of a fourth run. The README of experiments says what came out.
 *
 *     pnpm exec node packages/bench-lab/experiments/power/detectable.ts [tests]
 */
import { exactly } from 'bench-analysis/differences';
import { isOpen } from 'bench-analysis/comparison';
import { compareTable } from 'bench-analysis/paired';
import { detectableDifferences, type Finding, type Residuals } from 'bench-analysis/detectable';
import { noiseOf } from 'bench-analysis/outlook';
import { fixedSchedule } from 'bench-analysis/looks';
import { mostRounds, type Schedule, scheduleNamed } from 'bench-targets/catalogue/looks';
import { mean } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';
import { readRun } from 'bench-analysis/results/store';

const [tests = 400] = process.argv.slice(2).map(Number);
const random = createRandom(33);
const THRESHOLD = 0.02;
const DEVIATION = 0.03;
const PROBABILITIES = [0.95, 0.8];

/** The noise that a plan is told, and a draw of the log ratios of new rounds. */
interface Weather {
  told: Residuals[];
  draw: (rounds: number) => number[];
}

const repeat = <Value>(count: number, make: () => Value): Value[] => Array.from({ length: count }, make);

function drawnBy(one: () => number): Weather[] {
  const draw = (rounds: number): number[] => repeat(rounds, one);
  return repeat(4, () => ({ told: repeat(10, () => draw(20)), draw }));
}

/** Student's t with 3 degrees of freedom, with the deviation of the normal noise. */
function drawHeavy(): number {
  const squares = repeat(3, () => random.normal() ** 2).reduce((sum, square) => sum + square);
  return (DEVIATION * random.normal()) / Math.sqrt(squares);
}

/** Repeats of one plan: each in turn is the new run, whose rounds are drawn with a random sign. */
const RUNS = ['130242', '185935', '190629', '191639'].map((time) => `20261123-${time}-devices`);

function leaveOneOut(): Weather[] {
  const noise = RUNS.map((run) =>
    noiseOf(readRun(`results/published/${run}`), 'cpu').map((one) => one.residuals),
  );
  return noise.map((own, index) => ({
    told: noise.filter((_, other) => other !== index).flat(),
    draw: (rounds) => {
      const pool = own[random.below(own.length)]!;
      return repeat(rounds, () => (random.coin() ? 1 : -1) * pool[random.below(pool.length)]!);
    },
  }));
}

/** The share of comparisons that find a planted difference, in tables of `rows`. */
function countFound(
  { schedule, rows }: { schedule: Schedule; rows: number },
  finding: Finding,
  planted: number,
  draw: Weather['draw'],
): number {
  const tables = Math.ceil(tests / rows);
  let found = 0;
  for (let table = 0; table < tables; table++) {
    const drawn = repeat(rows, () => draw(mostRounds(schedule)).map((one) => Math.log(1 + planted) + one));
    const open = new Set(drawn.keys());
    for (const { rounds } of schedule) {
      const seen = drawn.map((row) => exactly(row.slice(0, rounds)));
      const comparisons = compareTable(seen, { schedule, better: 'lower', threshold: THRESHOLD });
      for (const row of open) {
        const comparison = comparisons[row]!;
        if (isOpen(comparison, finding === 'beyond')) continue;
        open.delete(row);
        if (comparison.verdict === 'slower') found++;
      }
    }
  }
  return found / (tables * rows);
}

const PLANS: [string, Schedule][] = [
  ['12 rounds', fixedSchedule(12)],
  ['looks 12/18/24', scheduleNamed('12/18/24')],
];
const KINDS: [string, Weather[]][] = [
  ['normal, 3 %', drawnBy(() => DEVIATION * random.normal())],
  ['heavy tails', drawnBy(drawHeavy)],
  ['published runs', leaveOneOut()],
];

const percent = (share: number, digits: number): string => `${(100 * share).toFixed(digits)} %`;
console.log('| noise | plan | comparisons | sought | said with 95 % | found | said with 80 % | found |');
console.log('|---|---|---:|---|---:|---:|---:|---:|');
for (const [noise, weathers] of KINDS) {
  for (const [name, schedule] of PLANS) {
    for (const rows of [1, 4]) {
      for (const finding of ['verdict', 'beyond'] as const) {
        const design = { schedule, rounds: mostRounds(schedule), rows, threshold: THRESHOLD };
        const folds = weathers.map(({ told, draw }) => {
          const said = detectableDifferences(design, told, finding, PROBABILITIES).map(
            (one) => one ?? Number.NaN,
          );
          return { said, found: said.map((planted) => countFound(design, finding, planted, draw)) };
        });
        const cells = PROBABILITIES.flatMap((_, index) => [
          percent(mean(folds.map(({ said }) => said[index]!)), 1),
          percent(mean(folds.map(({ found }) => found[index]!)), 0),
        ]);
        const sought = finding === 'verdict' ? '`slower`' : '`slower` by more than 2 %';
        console.log(`| ${[noise, name, rows, sought, ...cells].join(' | ')} |`);
      }
    }
  }
}
