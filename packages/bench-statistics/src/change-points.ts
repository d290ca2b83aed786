/**
 * Change points in a noisy sequence: the cut into levels with the least cost. The cost of a value is its squared
 * distance to the median of its level, in noises, up to a cap; so outliers do not make levels (Fearnhead & Rigaill,
 * "Changepoint detection in the presence of outliers", JASA 2019).
 */
import { mean, median, medianOfSorted, sum } from './numbers.ts';

/** The constants of a cut. The noise is in the unit of the values; penalty and cap are in squared noises. */
export interface CutRules {
  noise: number;
  /** The most that one value can cost. */
  cap: number;
  /** The cost of one more level. */
  penalty: number;
  /** The fewest values of a level. */
  shortest: number;
}

/** A stretch of values with one level: from index `from` up to, but not including, `to`. */
export interface Stretch {
  from: number;
  to: number;
  /** The median of its values. */
  centre: number;
}

/**
 * The cheapest cut of `values` into stretches, in order, by optimal partitioning (Jackson et al. 2005). Without values,
 * or with fewer than the shortest level, there are no stretches.
 */
export function cutIntoStretches(
  values: readonly number[],
  { noise, cap, penalty, shortest }: CutRules,
): Stretch[] {
  const own = new Float64Array(values.length);
  const cheapest: { cost: number; stretches: Stretch[] }[] = [{ cost: -penalty, stretches: [] }];
  for (let to = 1; to <= values.length; to++) {
    let best = { cost: Infinity, stretches: [] as Stretch[] };
    // Backwards, so that each stretch has one value more than the one before, and stays sorted.
    for (let from = to - 1; from >= 0; from--) {
      const length = to - from;
      let place = length - 1;
      for (; place > 0 && own[place - 1]! > values[from]!; place--) own[place] = own[place - 1]!;
      own[place] = values[from]!;
      const before = cheapest[from]!;
      let cost = before.cost + penalty;
      if (length < shortest || cost > best.cost) continue;
      const centre = medianOfSorted(own, length);
      for (let at = 0; at < length; at++) cost += Math.min(cap, ((own[at]! - centre) / noise) ** 2);
      if (cost <= best.cost) best = { cost, stretches: [...before.stretches, { from, to, centre }] };
    }
    cheapest.push(best);
  }
  return cheapest.at(-1)?.stretches ?? [];
}

/**
 * The cheapest cut; if it has several stretches, once more with the noise widened by the correlation of neighbouring
 * residuals, up to `mostCorrelation`.
 */
export function cutCorrelated(
  values: readonly number[],
  { mostCorrelation, ...rules }: CutRules & { mostCorrelation: number },
): Stretch[] {
  const { noise } = rules;
  const cut = cutIntoStretches(values, rules);
  if (cut.length < 2) return cut;
  const r = Math.min(mostCorrelation, correlateNeighbours(residualsOf(values, cut)));
  return r <= 0 ? cut : cutIntoStretches(values, { ...rules, noise: noise * Math.sqrt((1 + r) / (1 - r)) });
}

/** Joins neighbouring stretches of `values`, those with the smallest step first, until each step is at least `least`. */
export function joinAlike(values: readonly number[], cut: readonly Stretch[], least: number): Stretch[] {
  const levels = [...cut];
  for (;;) {
    const steps = levels.slice(1).map(({ centre }, at) => Math.abs(centre - levels[at]!.centre));
    const smallest = Math.min(...steps);
    if (steps.length === 0 || smallest >= least) return levels;
    const at = steps.indexOf(smallest);
    const [from, to] = [levels[at]!.from, levels[at + 1]!.to];
    levels.splice(at, 2, { from, to, centre: median(values.slice(from, to)) });
  }
}

/**
 * The noise of one value, in its unit, from differences between neighbours (mean) and between every other value
 * (median). A change of level hardly affects either.
 */
export function noiseOf(values: readonly number[]): number {
  const neighbours = differencesAt(values, 1);
  const fromMean = neighbours.length === 0 ? 0 : (mean(neighbours) * Math.sqrt(Math.PI)) / 2;
  const others = differencesAt(values, 2);
  return Math.max(fromMean, others.length === 0 ? 0 : (median(others) * 1.4826) / Math.SQRT2);
}

/** The distance of each value from the centre of its stretch. */
export function residualsOf(values: readonly number[], stretches: readonly Stretch[]): number[] {
  return stretches.flatMap(({ from, to, centre }) => values.slice(from, to).map((value) => value - centre));
}

/** The correlation of each value with the next, for values whose centre is 0; 0 if they are all 0. */
export function correlateNeighbours(values: readonly number[]): number {
  const square = sum(values.map((value) => value ** 2));
  return square === 0 ? 0 : sum(values.slice(1).map((value, at) => value * values[at]!)) / square;
}

function differencesAt(values: readonly number[], lag: number): number[] {
  return values.slice(lag).map((value, i) => Math.abs(value - values[i]!));
}
