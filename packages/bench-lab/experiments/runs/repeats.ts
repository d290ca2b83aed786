/**
 * Compares equal programs by repeats of two plans, five runs each: how often are they called different? Once by Student's
 * t of two samples, and once by pairs of neighbours in time. The README of experiments says what came out.
 *
 *     pnpm exec node packages/bench-lab/experiments/runs/repeats.ts [tables]
 */
import { compareRepeats, pairInTime } from 'bench-analysis/runs';
import { studentPoint } from 'bench-statistics/student';
import { mean, sum } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';

const [tables = 4000] = process.argv.slice(2).map(Number);
const random = createRandom(33);
const RUNS = 10;

/** The logs of the figures of consecutive runs of one program. */
function drawRuns(drift: number): number[] {
  let level = 0;
  return Array.from({ length: RUNS }, () => {
    level += drift * random.normal();
    return level + 0.05 * random.normal();
  });
}

/** AR(1) with this correlation between neighbours. */
function drawCorrelated(correlation: number): number[] {
  let level = random.normal();
  return Array.from({ length: RUNS }, () => {
    level = correlation * level + Math.sqrt(1 - correlation ** 2) * random.normal();
    return 0.05 * level;
  });
}

const squares = (values: number[]): number => sum(values.map((one) => (one - mean(values)) ** 2));

/** Student's t of two samples, at 5 %. */
function isDifferent(old: number[], now: number[]): boolean {
  const freedom = old.length + now.length - 2;
  const variance = ((squares(old) + squares(now)) / freedom) * (1 / old.length + 1 / now.length);
  return Math.abs(mean(now) - mean(old)) > studentPoint(freedom) * Math.sqrt(variance);
}

const NOISES: [string, () => number[]][] = [
  ['independent', () => drawRuns(0)],
  ['neighbours correlate by 0.8', () => drawCorrelated(0.8)],
  ['drifts: 3 % from run to run, and 5 % by itself', () => drawRuns(0.03)],
];
const ORDERS: [string, string][] = [
  ['O O O O O N N N N N', 'OOOOONNNNN'],
  ['O N O N O N O N O N', 'ONONONONON'],
  ['O N N O O N N O O N', 'ONNOONNOON'],
];

const percent = (count: number): string => `${((100 * count) / tables).toFixed(1)} %`;
console.log('| noise between runs | order | two samples | pairs of neighbours |\n|---|---|---:|---:|');
for (const [noise, draw] of NOISES) {
  for (const [name, order] of ORDERS) {
    let [bySamples, byPairs, pairs] = [0, 0, 0];
    for (let table = 0; table < tables; table++) {
      const runs = draw().map((figure, at) => ({ figure, startedAt: String(at), side: order[at] }));
      const [old, now] = ['O', 'N'].map((side) => runs.filter((run) => run.side === side)) as [
        typeof runs,
        typeof runs,
      ];
      if (
        isDifferent(
          old.map(({ figure }) => figure),
          now.map(({ figure }) => figure),
        )
      )
        bySamples++;
      const differences = pairInTime(old, now).map((pair) => pair.new.figure - pair.old.figure);
      pairs = differences.length;
      const [found] = compareRepeats([differences], { better: 'lower', threshold: 1e-9 });
      if (found !== undefined && found.verdict !== 'undecided') byPairs++;
    }
    console.log(
      `| ${noise} | ${name} | ${percent(bySamples)} | ${pairs < 3 ? `no interval (${pairs} pair)` : percent(byPairs)} |`,
    );
  }
}
