/**
 * Compares simultaneous intervals for the rows of a table that share one baseline: how often does any of them miss the
 * truth, and how wide are they? The README of experiments says what came out.
 *
 *     pnpm exec node packages/bench-lab/experiments/matrix/intervals.ts [rounds] [tables]
 */
import { estimateCentre, intervalBetween, trimFor, walshAverages } from 'bench-statistics/signed-rank';
import { studentPoint } from 'bench-statistics/student';
import { mean } from 'bench-statistics/numbers';
import { createRandom, type Random } from 'bench-statistics/random';

const SIZES = [2, 6, 14, 30];
const ERROR = 0.05;
/** Random sign flips of a table, and draws of the largest of correlated t statistics. */
const FLIPS = 999;
const DRAWS = 40_000;

const [rounds = 18, tables = 1000] = process.argv.slice(2).map(Number);

/** Noise at consecutive places in time. */
type Weather = (random: Random, places: number) => number[];

const eachPlace =
  (draw: (random: Random) => number): Weather =>
  (random, places) =>
    Array.from({ length: places }, () => draw(random));

const WEATHERS: Record<string, Weather> = {
  normal: eachPlace((random) => random.normal()),
  t3: eachPlace((random) => {
    const squares = random.normal() ** 2 + random.normal() ** 2 + random.normal() ** 2;
    return random.normal() / Math.sqrt(squares / 3);
  }),
  // A burst only adds time, and often lasts for several places.
  bursts: (random, places) => {
    let isLoaded = false;
    return Array.from({ length: places }, () => {
      isLoaded = random.float() < (isLoaded ? 0.6 : 0.08);
      return 0.3 * random.normal() + (isLoaded ? 2 - 2 * Math.log(1 - random.float()) : 0);
    });
  },
  drift: (random, places) => {
    const slope = 0.5 + random.float();
    let wandered = 0;
    return Array.from({ length: places }, (_, place) => {
      wandered += random.normal();
      return slope * place + wandered + 0.3 * random.normal();
    });
  },
};

/** The differences of each row in each round. All sides of a round have random places. */
function drawTable(rows: number, weather: Weather, random: Random): number[][] {
  const places = weather(random, rounds * (rows + 1));
  const sides = Array.from({ length: rounds }, (_, round) =>
    random.shuffle(places.slice(round * (rows + 1), (round + 1) * (rows + 1))),
  );
  return Array.from({ length: rows }, (_, row) =>
    sides.map((costs) => (costs[row + 1] ?? 0) - (costs[0] ?? 0)),
  );
}

/** The result of one method on one table. */
interface Result {
  isMissed: boolean;
  /** The mean width of its intervals. */
  width: number;
}

type Method = (table: readonly number[][], random: Random) => Result;

/** Signed-rank intervals that leave out `trim` Walsh averages at each end. */
function byRanks(table: readonly number[][], trim: number): Result {
  const intervals = table.map((row) => {
    const averages = walshAverages(row);
    return intervalBetween(averages, averages, trim);
  });
  return {
    isMissed: intervals.some(({ low, high }) => low > 0 || high < 0),
    width: mean(intervals.map(({ low, high }) => high - low)),
  };
}

/** Intervals of this many standard errors around the mean. */
function byMeans(table: readonly number[][], errors: number): Result {
  const stats = table.map((row) => studentOf(row, mean(row)));
  return {
    isMissed: stats.some(({ centre, error }) => Math.abs(centre) > errors * error),
    width: mean(stats.map(({ error }) => 2 * errors * error)),
  };
}

function studentOf(row: readonly number[], centre: number): { centre: number; error: number } {
  const squares = row.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return { centre, error: Math.sqrt(squares / (row.length - 1) / row.length) };
}

function quantile(values: number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted();
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** Dunnett's point: the 95 % quantile of the largest of t statistics with correlation 1/2, drawn. */
function dunnettPoint(rows: number): number {
  const random = createRandom(rows);
  const largest = Array.from({ length: DRAWS }, () => {
    const own = random.normal();
    let chi = 0;
    for (let freedom = 1; freedom < rounds; freedom++) chi += random.normal() ** 2;
    const scale = Math.sqrt(chi / (rounds - 1)) * Math.SQRT2;
    let most = 0;
    for (let row = 0; row < rows; row++) most = Math.max(most, Math.abs(random.normal() - own) / scale);
    return most;
  });
  return quantile(largest, 1 - ERROR);
}

/** The 95 % quantile of the largest statistic of a table if all signs of a round flip together. */
function flipTogether(
  table: readonly number[][],
  statistic: (row: readonly number[], signs: readonly number[]) => number,
  random: Random,
): number {
  const largest = Array.from({ length: FLIPS }, () => {
    const signs = Array.from({ length: rounds }, () => (random.coin() ? 1 : -1));
    return Math.max(...table.map((row) => statistic(row, signs)));
  });
  return quantile([...largest, Infinity], 1 - ERROR);
}

/** The t statistic of a row with these signs. */
function studentised(row: readonly number[], signs: readonly number[]): number {
  let [sum, squares] = [0, 0];
  for (const [round, value] of row.entries()) {
    sum += value * (signs[round] ?? 0);
    squares += value * value;
  }
  const centre = sum / rounds;
  return Math.abs(centre) / Math.sqrt((squares - rounds * centre * centre) / (rounds - 1) / rounds);
}

/** Minus the smaller signed-rank sum. `row` has the signed ranks. */
function rankSum(row: readonly number[], signs: readonly number[]): number {
  let above = 0;
  for (const [round, rank] of row.entries()) if (rank * (signs[round] ?? 0) > 0) above += Math.abs(rank);
  return -Math.min(above, (rounds * (rounds + 1)) / 2 - above);
}

function toRanks(row: readonly number[]): number[] {
  const order = row
    .map((_, round) => round)
    .toSorted((a, b) => Math.abs(row[a] ?? 0) - Math.abs(row[b] ?? 0));
  const ranks: number[] = [];
  for (const [rank, round] of order.entries()) ranks[round] = (rank + 1) * Math.sign(row[round] ?? 0);
  return ranks;
}

function methodsFor(rows: number): Record<string, Method> {
  const trim = trimFor(rounds, ERROR / rows);
  const student = studentPoint(rounds - 1, ERROR / rows);
  const dunnett = dunnettPoint(rows);
  return {
    'signed ranks, Bonferroni': (table) =>
      trim === undefined ? { isMissed: false, width: Number.NaN } : byRanks(table, trim),
    't, Bonferroni': (table) => byMeans(table, student),
    't, Dunnett': (table) => byMeans(table, dunnett),
    't, sign flips': (table, random) => {
      const centred = table.map((row) => {
        const centre = estimateCentre(row);
        return row.map((value) => value - centre);
      });
      return byMeans(table, flipTogether(centred, studentised, random));
    },
    // The signs are those around the truth, which only a simulation knows: the best case of this method.
    'signed ranks, sign flips': (table, random) => {
      const most = -flipTogether(table.map(toRanks), rankSum, random) - 1;
      return most < 0 ? { isMissed: false, width: Number.NaN } : byRanks(table, most);
    },
  };
}

console.log(
  `${rounds} rounds, ${tables} tables: tables with a missed row, and the width of an interval ÷ that of the first method`,
);
for (const [name, weather] of Object.entries(WEATHERS)) {
  console.log(`\n${['noise ' + name, ...SIZES.map((rows) => `${rows} rows`)].join('\t')}`);
  const cells = new Map<string, string[]>();
  for (const rows of SIZES) {
    const random = createRandom(rows);
    const methods = methodsFor(rows);
    const results = new Map(Object.keys(methods).map((method) => [method, [] as Result[]]));
    for (let table = 0; table < tables; table++) {
      const drawn = drawTable(rows, weather, random);
      for (const [method, run] of Object.entries(methods)) results.get(method)?.push(run(drawn, random));
    }
    const usual = mean(results.get('signed ranks, Bonferroni')?.map(({ width }) => width) ?? []);
    for (const [method, all] of results) {
      const missed = (100 * all.filter(({ isMissed }) => isMissed).length) / tables;
      const width = mean(all.map((one) => one.width)) / usual;
      cells.set(method, [...(cells.get(method) ?? []), `${missed.toFixed(1)} % × ${width.toFixed(2)}`]);
    }
  }
  for (const [method, row] of cells) console.log([method, ...row].join('\t'));
}
