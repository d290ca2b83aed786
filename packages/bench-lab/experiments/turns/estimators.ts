/**
 * Compares estimates of the difference of two servers in a round of turns, on all published rounds, and with a planted cost
 * that comes in bursts. Prints a table:
 *
 *     pnpm exec node packages/bench-lab/experiments/turns/estimators.ts
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { estimateCentre } from 'bench-statistics/signed-rank';
import { mean, median, robustDeviation, sum } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';
import { readRun } from 'bench-analysis/results/store';

const PUBLISHED = join(import.meta.dirname, '../../../../results/published');
const FEWEST_ROUNDS = 6;

/** The answers and the CPU in µs of each turn. */
interface Course {
  answers: readonly number[];
  cpuUs: readonly number[];
}

/** CPU per request of consecutive blocks of turns. */
function costsOf({ answers, cpuUs }: Course, blocks: number): number[] {
  const edge = (block: number): number => Math.floor((block * answers.length) / blocks);
  return Array.from({ length: blocks }, (_, block) => {
    const [from, to] = [edge(block), edge(block + 1)];
    return sum(cpuUs.slice(from, to)) / sum(answers.slice(from, to));
  });
}

function logsOf(one: Course, other: Course, most: number): number[] {
  const blocks = Math.min(most, one.answers.length, other.answers.length);
  const costs = costsOf(other, blocks);
  return costsOf(one, blocks).map((cost, block) => Math.log(cost / (costs[block] as number)));
}

function winsorise(values: readonly number[], share: number): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  const cut = Math.floor(share * sorted.length);
  const [least, most] = [sorted[cut] as number, sorted.at(-1 - cut) as number];
  return values.map((value) => Math.min(most, Math.max(least, value)));
}

const ESTIMATES: Record<string, (one: Course, other: Course) => number> = {
  'ratio of sums': (one, other) => logsOf(one, other, 1)[0] as number,
  'centre of the pairs of turns': (one, other) => estimateCentre(logsOf(one, other, Infinity)),
  'centre of 10 blocks': (one, other) => estimateCentre(logsOf(one, other, 10)),
  'centre of 5 blocks': (one, other) => estimateCentre(logsOf(one, other, 5)),
  'winsorised mean of the pairs (10 %)': (one, other) => mean(winsorise(logsOf(one, other, Infinity), 0.1)),
};

/** Every pair of servers that took turns: its courses by round. */
function readPairs(): [Course, Course][][] {
  const pairs = readdirSync(PUBLISHED)
    .filter((run) => existsSync(join(PUBLISHED, run, 'trials.jsonl')))
    .flatMap((run) => {
      const trials = readRun(join(PUBLISHED, run)).trials.flatMap((trial) => {
        if (trial.status === 'failed' || trial.duel === undefined) return [];
        const { answers, cpuUs } = trial.measured.turns ?? {};
        if (answers === undefined || cpuUs === undefined || answers.includes(0)) return [];
        return [{ duel: trial.duel, id: trial.target.id, at: trial.connections, course: { answers, cpuUs } }];
      });
      const found = new Map<string, [Course, Course][]>();
      for (const duel of Map.groupBy(trials, (trial) => trial.duel).values()) {
        const sorted = duel.toSorted((a, b) => a.id.localeCompare(b.id));
        for (const [index, one] of sorted.entries()) {
          for (const other of sorted.slice(index + 1)) {
            const name = `${one.at} ${one.id} ${other.id}`;
            found.set(name, [...(found.get(name) ?? []), [one.course, other.course]]);
          }
        }
      }
      return [...found.values()];
    });
  return pairs.filter((rounds) => rounds.length >= FEWEST_ROUNDS);
}

/** Adds a cost to one turn in `every` that makes the whole course dearer by this share. */
function plant({ answers, cpuUs }: Course, every: number, share: number, random: () => number): Course {
  const hit = cpuUs.map(() => random() < 1 / every);
  if (!hit.includes(true)) hit[Math.floor(random() * hit.length)] = true;
  const burst = (sum(cpuUs) * share) / hit.filter(Boolean).length;
  return { answers, cpuUs: cpuUs.map((us, turn) => (hit[turn] === true ? us + burst : us)) };
}

const pairs = readPairs();
const random = createRandom(12);
const percent = (log: number): string => `${(100 * (Math.exp(log) - 1)).toFixed(1)} %`;
console.log(`${pairs.length} comparisons, ${sum(pairs.map(({ length }) => length))} rounds`);
console.log(
  '| estimate | deviation ÷ that of the ratio of sums | distance from it | +5 % in 1 of 20 turns | in 1 of 60 |',
);
console.log('|---|---:|---:|---:|---:|');
const deviations = (estimate: (one: Course, other: Course) => number): number[] =>
  pairs.map((rounds) => robustDeviation(rounds.map(([one, other]) => estimate(one, other))));
const usual = deviations(ESTIMATES['ratio of sums']!);
for (const [name, estimate] of Object.entries(ESTIMATES)) {
  const relative = median(deviations(estimate).map((one, pair) => one / (usual[pair] as number)));
  const distances = pairs.map((rounds) =>
    Math.abs(
      median(rounds.map(([one, other]) => estimate(one, other))) -
        median(rounds.map(([one, other]) => ESTIMATES['ratio of sums']!(one, other))),
    ),
  );
  const seen = [20, 60].map((every) =>
    median(
      pairs.map((rounds) =>
        median(
          rounds.map(
            ([one, other]) =>
              estimate(
                plant(one, every, 0.05, () => random.float()),
                other,
              ) - estimate(one, other),
          ),
        ),
      ),
    ),
  );
  console.log(
    `| ${name} | ${relative.toFixed(2)} | ${percent(median(distances))}, at most ${percent(Math.max(...distances))} | ${seen.map(percent).join(' | ')} |`,
  );
}
