/**
 * Evaluates probes as covariates: how much less do costs differ that were measured at different times, once the part that a
 * probe predicts is subtracted? Coefficients are always fitted on other processes than those that are compared.
 *
 *     pnpm exec node packages/bench-lab/experiments/probe/evaluate.ts <folder…>
 *
 * A folder holds a `probe.jsonl` of experiment.ts, or a study of `pnpm warmup`, whose reference then is the probe.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mean, robustDeviation, sum } from 'bench-statistics/numbers';
import type { Turns } from 'bench-model/measured';
import { readStudy } from 'bench-analysis/results/study/store';
import { PARTS, type ProbedProcess } from './probed.ts';

/** Slices between the two that are compared. */
const LAGS = [1, 10, 80];
/** Turns of a study that make one slice: 100 ms of each server. */
const TURNS = 5;

/** A cost and those of the probes, as natural logarithms. */
interface Point {
  cost: number;
  probes: readonly number[];
}

/** One process, measured in slices. */
interface Course {
  /** Unique. */
  name: string;
  target: string;
  sitting: string;
  points: Point[];
}

/** The difference of two points, and the processes that it was measured on. */
interface Difference extends Point {
  of: readonly Course[];
}

/** The deviation of differences without and with probes. */
export interface Effect {
  /** The compared points: `slices, 10 apart`. */
  what: string;
  count: number;
  deviation: number;
  /** With all parts of the probe. */
  adjusted: number;
  /** With each part alone. */
  alone: number[];
}

/** The effects of the probes of some folders, and the names of their parts. */
export interface Evaluation {
  parts: readonly string[];
  effects: Effect[];
}

/** Evaluates the probe of these folders: on slices of one process, and on fresh processes of one target. Throws for folders of two kinds. */
export function evaluateProbe(folders: readonly string[]): Evaluation {
  const isStudy = folders.every((folder) => !existsSync(join(folder, 'probe.jsonl')));
  const parts = isStudy ? ['reference'] : PARTS;
  const courses = folders.flatMap(isStudy ? readStudied : readProbed);
  const pairs = [...Map.groupBy(courses, ({ target }) => target).values()].flatMap((own) =>
    own.flatMap((one, index) => own.slice(index + 1).map((other): [Course, Course] => [one, other])),
  );
  const compared: [what: string, differences: Difference[]][] = [
    ...LAGS.map((lag): [string, Difference[]] => [
      `slices, ${lag} apart`,
      courses.flatMap((one) => differencesWithin(one, lag)),
    ]),
    ['fresh processes of one sitting', pairs.filter(isTogether).map(differenceBetween)],
    [
      'fresh processes of different sittings',
      pairs.filter((pair) => !isTogether(pair)).map(differenceBetween),
    ],
  ];
  const effects = compared
    .filter(([, differences]) => differences.length > 0)
    .map(([what, differences]) => summarise(what, differences, parts));
  return { parts, effects };
}

function isTogether([one, other]: [Course, Course]): boolean {
  return one.sitting === other.sitting;
}

function readProbed(folder: string): Course[] {
  const lines = readFileSync(join(folder, 'probe.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const { target, sitting, startedAt, slices } = JSON.parse(line) as ProbedProcess;
    return {
      name: startedAt,
      target,
      sitting,
      // A probe is the mean of those before and after.
      points: slices.map(([cost, , before, after]) => ({
        cost: Math.log(cost),
        probes: PARTS.map((_, part) => Math.log(((before[part] ?? 0) + (after[part] ?? 0)) / 2)),
      })),
    };
  });
}

function readStudied(folder: string): Course[] {
  return readStudy(folder).processes.flatMap(({ target, startedAt, course }): Course[] => {
    if (course === undefined) return [];
    const probes = costsOf(course.reference);
    const points = costsOf(course.fresh).map((cost, index) => ({
      cost,
      probes: [probes[index] ?? Number.NaN],
    }));
    if (points.length === 0) return [];
    return [{ name: startedAt, target: target.id, sitting: basename(folder), points }];
  });
}

/** Returns the logarithms of CPU per request in slices of the second half of a course, when most processes are warm. */
function costsOf({ answers, cpuUs = [] }: Turns): number[] {
  const first = Math.ceil(answers.length / 2 / TURNS) * TURNS;
  const starts = answers.flatMap((_, turn) =>
    turn >= first && turn % TURNS === 0 && turn + TURNS <= answers.length ? [turn] : [],
  );
  return starts.map((at) => Math.log(sum(cpuUs.slice(at, at + TURNS)) / sum(answers.slice(at, at + TURNS))));
}

function summarise(what: string, differences: readonly Difference[], parts: readonly string[]): Effect {
  const every = parts.map((_, part) => part);
  return {
    what,
    count: differences.length,
    deviation: robustDeviation(differences.map(({ cost }) => cost)),
    adjusted: robustDeviation(adjust(differences, every)),
    alone: every.map((part) => robustDeviation(adjust(differences, [part]))),
  };
}

function differencesWithin(one: Course, lag: number): Difference[] {
  return one.points.slice(lag).map((point, index) => subtract(point, one.points[index] as Point, [one]));
}

function differenceBetween([one, other]: [Course, Course]): Difference {
  return subtract(meanOf(one.points), meanOf(other.points), [one, other]);
}

function meanOf(points: readonly Point[]): Point {
  const [first] = points;
  return {
    cost: mean(points.map(({ cost }) => cost)),
    probes: (first?.probes ?? []).map((_, part) => mean(points.map(({ probes }) => probes[part] ?? 0))),
  };
}

function subtract(one: Point, other: Point, of: readonly Course[]): Difference {
  return {
    cost: one.cost - other.cost,
    probes: one.probes.map((value, part) => value - (other.probes[part] ?? 0)),
    of,
  };
}

/** Returns the costs without the part that these probes predict. */
function adjust(differences: readonly Difference[], parts: readonly number[]): number[] {
  const fits = new Map<string, number[]>();
  return differences.map(({ cost, probes, of }) => {
    const key = of.map(({ name }) => name).join();
    const fit = fits.get(key) ?? fitWithout(differences, of, parts);
    fits.set(key, fit);
    return cost - sum(parts.map((part, index) => (fit[index] ?? 0) * (probes[part] ?? 0)));
  });
}

/** Returns the least-squares coefficients of the probes, without these processes; zeros without enough differences. */
function fitWithout(
  differences: readonly Difference[],
  without: readonly Course[],
  parts: readonly number[],
): number[] {
  const used = differences.filter(({ of }) => !of.some((one) => without.includes(one)));
  if (used.length < 3 * parts.length) return parts.map(() => 0);
  const product = (of: (one: Difference) => number): number => sum(used.map(of));
  return solve(
    parts.map((one) => [
      ...parts.map((other) => product(({ probes }) => (probes[one] ?? 0) * (probes[other] ?? 0))),
      product(({ probes, cost }) => (probes[one] ?? 0) * cost),
    ]),
  );
}

/** Solves linear equations, each with its right side last, by elimination. The matrix is positive definite. */
function solve(rows: number[][]): number[] {
  const size = rows.length;
  for (let pivot = 0; pivot < size; pivot++) {
    const own = rows[pivot] as number[];
    for (let row = 0; row < size; row++) {
      const other = rows[row] as number[];
      // A probe that never changes predicts nothing.
      const factor = row === pivot ? 0 : (other[pivot] ?? 0) / (own[pivot] || 1);
      for (let column = pivot; column <= size; column++)
        other[column] = (other[column] ?? 0) - factor * (own[column] ?? 0);
    }
  }
  return rows.map((row, index) => (row[size] ?? 0) / (row[index] || 1));
}

/** Shows a deviation: `12.3 %`. */
export function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { parts, effects } = evaluateProbe(process.argv.slice(2));
  for (const { what, count, deviation, adjusted, alone } of effects) {
    const single = parts.map((part, index) => `${part} ${percent(alone[index] ?? 0)}`);
    console.log(
      `${what} (${count}): ${percent(deviation)}, with all ${percent(adjusted)}; ${single.join(', ')}`,
    );
  }
}
