/**
 * How often is a comparison of equal servers wrong if its run is stopped, and if it is then continued to its end? Draws rounds of
 * normal noise and looks at them as a run does. Takes about 20 seconds.
 *
 *     pnpm exec node packages/bench-lab/experiments/stops/experiment.ts
 */
import { fixedSchedule, levelOf, withStops } from 'bench-analysis/looks';
import { trimFor, walshAverages } from 'bench-statistics/signed-rank';
import { mostRounds, scheduleNamed, type Schedule } from 'bench-targets/catalogue/looks';
import { createRandom } from 'bench-statistics/random';

const RUNS = 50_000;
const PLANS: [string, Schedule][] = [
  ['12/18/24', scheduleNamed('12/18/24')],
  ['12/18/27/40/60', scheduleNamed('12/18/27/40/60')],
  ['12 fixed rounds', fixedSchedule(12)],
];
const STOPS = [[6], [8], [11], [13], [17], [17, 20], [23], [30], [59]];

const cases = PLANS.flatMap(([name, planned]) =>
  STOPS.filter((stops) => (stops.at(-1) as number) < mostRounds(planned)).map((stops) => {
    const schedule = withStops(planned, stops);
    const looks = schedule.flatMap((look) => {
      const k = trimFor(look.rounds, levelOf(look, schedule));
      return k === undefined ? [] : [{ rounds: look.rounds, k }];
    });
    return { name, stops, looks, stopped: 0, continued: 0 };
  }),
);

const random = createRandom(1);
for (let run = 0; run < RUNS; run++) {
  const differences = Array.from({ length: 60 }, () => random.normal());
  const misses = new Map<string, boolean>();
  const doesMiss = (rounds: number, k: number): boolean => {
    const key = `${rounds} ${k}`;
    const known = misses.get(key);
    if (known !== undefined) return known;
    const { count, below } = countsOf(differences.slice(0, rounds));
    const missing = Math.min(below, count - below) <= k;
    misses.set(key, missing);
    return missing;
  };
  for (const one of cases) {
    const first = one.looks.find(({ rounds, k }) => doesMiss(rounds, k));
    if (first === undefined) continue;
    one.continued++;
    if (first.rounds <= (one.stops.at(-1) as number)) one.stopped++;
  }
}

console.log('| plan | stopped after | wrong when stopped | wrong by the end, if continued |');
console.log('|---|---|---|---|');
for (const { name, stops, stopped, continued } of cases)
  console.log(`| ${name} | ${stops.join(' and ')} | ${share(stopped)} | ${share(continued)} |`);

/** The number of Walsh averages, and of those below 0. */
function countsOf(differences: readonly number[]): { count: number; below: number } {
  const averages = walshAverages(differences);
  return { count: averages.length, below: averages.filter((average) => average < 0).length };
}

function share(count: number): string {
  return `${((100 * count) / RUNS).toFixed(1)} %`;
}
