/**
 * Evaluates a probe as a covariate: how much less do costs differ that were measured at different times, once the part that
 * the probe predicts is subtracted? Coefficients are always fitted on other processes than those that are compared.
 *
 *     pnpm exec node experiments/probe/evaluate.ts <folder>
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { robustDeviation } from 'bench-http/analyse/quantiles';
import { mean, sum } from 'bench-http/numbers';
import { PARTS, type ProbedProcess } from './probed.ts';

/** Slices between the two that are compared. */
const LAGS = [1, 10, 80];

/** A difference of two costs, and those of their probes, as natural logarithms. */
interface Difference {
  cost: number;
  probes: number[];
  /** The processes that it was measured on. */
  of: readonly ProbedProcess[];
}

/** The deviation of differences without and with the probe. */
export interface Effect {
  target: string;
  /** The pairs that were compared: `slices 10 apart`. */
  what: string;
  pairs: number;
  deviation: number;
  adjusted: number;
  /** The same with each part alone. */
  alone: number[];
}

/** Reads the processes of an experiment. */
export function readProbed(folder: string): ProbedProcess[] {
  const lines = readFileSync(join(folder, 'probe.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as ProbedProcess);
}

/** Evaluates the probe for each target: on slices of one process, and on fresh processes of one sitting and of different ones. */
export function evaluateProbe(processes: readonly ProbedProcess[]): Effect[] {
  const targets = [...Map.groupBy(processes, ({ target }) => target)];
  return targets.flatMap(([target, own]) => {
    const slices = LAGS.map((lag) => ({
      what: `slices ${lag} apart`,
      differences: own.flatMap((one) => differencesWithin(one, lag)),
    }));
    const pairs = own.flatMap((one, index) => own.slice(index + 1).map((other) => [one, other] as const));
    const [together, apart] = [true, false].map((isTogether) =>
      pairs.filter(([one, other]) => (one.sitting === other.sitting) === isTogether).map(differenceBetween),
    );
    return [
      ...slices,
      { what: 'fresh processes, one sitting', differences: together ?? [] },
      { what: 'fresh processes, different sittings', differences: apart ?? [] },
    ]
      .filter(({ differences }) => differences.length > 0)
      .map(({ what, differences }) => ({ target, what, ...summarise(differences) }));
  });
}

function summarise(differences: readonly Difference[]): Omit<Effect, 'target' | 'what'> {
  const every = PARTS.map((_, part) => part);
  return {
    pairs: differences.length,
    deviation: robustDeviation(differences.map(({ cost }) => cost)),
    adjusted: robustDeviation(adjust(differences, every)),
    alone: every.map((part) => robustDeviation(adjust(differences, [part]))),
  };
}

function differencesWithin(one: ProbedProcess, lag: number): Difference[] {
  const points = pointsOf(one);
  return points.slice(lag).map((point, index) => difference(point, points[index] as Point, [one]));
}

function differenceBetween([one, other]: readonly [ProbedProcess, ProbedProcess]): Difference {
  return difference(meanOf(pointsOf(one)), meanOf(pointsOf(other)), [one, other]);
}

type Point = Pick<Difference, 'cost' | 'probes'>;

/** The logarithms of cost and probes in each slice. A probe is the mean of those before and after. */
function pointsOf({ slices }: ProbedProcess): Point[] {
  return slices.map(([cost, , before, after]) => ({
    cost: Math.log(cost),
    probes: PARTS.map((_, part) => Math.log(((before[part] ?? 0) + (after[part] ?? 0)) / 2)),
  }));
}

function meanOf(points: readonly Point[]): Point {
  return {
    cost: mean(points.map(({ cost }) => cost)),
    probes: PARTS.map((_, part) => mean(points.map(({ probes }) => probes[part] ?? 0))),
  };
}

function difference(one: Point, other: Point, of: readonly ProbedProcess[]): Difference {
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
    const key = of.map(({ startedAt }) => startedAt).join();
    const fit =
      fits.get(key) ??
      fitLine(
        differences.filter((other) => !other.of.some((one) => of.includes(one))),
        parts,
      );
    fits.set(key, fit);
    return cost - sum(parts.map((part, index) => (fit[index] ?? 0) * (probes[part] ?? 0)));
  });
}

/** Returns the least-squares coefficients of the probes; zeros without enough differences. */
function fitLine(differences: readonly Difference[], parts: readonly number[]): number[] {
  const rows = parts.map((one) => [
    ...parts.map((other) => sum(differences.map(({ probes }) => (probes[one] ?? 0) * (probes[other] ?? 0)))),
    sum(differences.map(({ probes, cost }) => (probes[one] ?? 0) * cost)),
  ]);
  if (differences.length < 3 * parts.length) return parts.map(() => 0);
  return solve(rows);
}

/** Solves a system of linear equations, each with its right side last, by elimination. The matrix is positive definite. */
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
  for (const { target, what, pairs, deviation, adjusted, alone } of evaluateProbe(
    readProbed(process.argv[2] ?? ''),
  )) {
    const single = PARTS.map((part, index) => `${part} ${percent(alone[index] ?? 0)}`);
    console.log(
      `${target}, ${what} (${pairs}): ${percent(deviation)}, with the probe ${percent(adjusted)}; ${single.join(', ')}`,
    );
  }
}
