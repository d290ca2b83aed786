/** One look: its round, and the largest signed-rank sum at which it excludes 0. `k` is undefined if none does. */
export interface Boundary {
  rounds: number;
  k: number | undefined;
}

/**
 * Returns the smaller signed-rank sum after each round, 0 after none. The sum of the positive ranks is the number of pairs
 * with a positive sum, each value with itself among them.
 */
export function smallerSums(row: readonly number[]): number[] {
  let above = 0;
  const sums = row.map((last, seen) => {
    for (let first = 0; first <= seen; first++) if ((row[first] as number) + last > 0) above++;
    return Math.min(above, ((seen + 1) * (seen + 2)) / 2 - above);
  });
  return [0, ...sums];
}

/** Checks if the interval of any look misses 0, by the sums that `smallerSums` returns. */
export function missesZero(sums: readonly number[], looks: readonly Boundary[]): boolean {
  return looks.some(({ rounds, k }) => k !== undefined && (sums[rounds] as number) <= k);
}

/**
 * The exact probability that 0 falls outside the interval of at least one look when d is symmetric about 0.
 * Signs are fair and independent of the ranks of |d|, and those are a random permutation: walking from the
 * smallest |d| to the largest, the look that an element first belongs to is drawn without replacement.
 */
export function jointError(looks: readonly Boundary[]): number {
  const able = looks.flatMap(({ rounds, k }) => (k === undefined ? [] : [{ rounds, k }]));
  let error = 0;
  for (let chosen = 1; chosen < 2 ** able.length; chosen++) {
    const some = able.filter((_, i) => chosen & (1 << i));
    error += (some.length % 2 === 1 ? 1 : -1) * crossAll(some);
  }
  return error;
}

/** Bounds of the same probability from pairs of looks only (Hunter 1976; Worsley 1982): quick at any size. */
export function boundJointError(looks: readonly { rounds: number; k: number }[]): {
  low: number;
  high: number;
} {
  const singles = looks.map((look) => crossAll([look])).reduce((sum, p) => sum + p, 0);
  let neighbours = 0;
  let pairs = 0;
  for (const [i, look] of looks.entries()) {
    for (let j = i + 1; j < looks.length; j++) {
      const both = crossAll([look, looks[j]!]);
      pairs += both;
      if (j === i + 1) neighbours += both;
    }
  }
  return { low: singles - pairs, high: singles - neighbours };
}

/** What was computed before: schedules share their first looks. */
const known = new Map<string, number>();

/** The probability that all of these looks exclude 0, on either side. */
export function crossAll(looks: readonly { rounds: number; k: number }[]): number {
  const key = looks.map(({ rounds, k }) => `${rounds}/${k}`).join(' ');
  const probability = known.get(key) ?? computeCrossAll(looks);
  known.set(key, probability);
  return probability;
}

function computeCrossAll(looks: readonly { rounds: number; k: number }[]): number {
  let probability = 0;
  for (let sides = 0; sides < 2 ** (looks.length - 1); sides++) {
    probability +=
      2 * crossOn(looks.map((look, i) => ({ ...look, positive: i === 0 || (sides & (1 << (i - 1))) === 0 })));
  }
  return probability;
}

interface Side {
  rounds: number;
  k: number;
  positive: boolean;
}

/** All combinations of rank sums, one for each look, up to its k: flat, with the distance of two sums of each look. */
interface Grid {
  cells: number;
  strides: number[];
}

/** The probability that in every look the ranks of its sign sum to at most its k. */
function crossOn(looks: readonly Side[]): number {
  const grid = gridOf(looks);
  const sizes = looks.map(({ rounds }, i) => rounds - (looks[i - 1]?.rounds ?? 0));
  const total = looks.at(-1)!.rounds;
  // The chances of the sums, by the number of elements of each group so far.
  let layer = new Map([
    [sizes.map(() => 0).join(), { come: sizes.map(() => 0), chances: new Float64Array(grid.cells) }],
  ]);
  for (const { chances } of layer.values()) chances[0] = 1;

  for (let seen = 0; seen < total; seen++) {
    const next: typeof layer = new Map();
    for (const { come, chances } of layer.values()) {
      for (const [group, size] of sizes.entries()) {
        const left = size - come[group]!;
        if (left === 0) continue;
        const after = come.with(group, come[group]! + 1);
        const target = next.get(after.join()) ?? { come: after, chances: new Float64Array(grid.cells) };
        next.set(after.join(), target);
        for (const positive of [true, false]) {
          const ranks = looks.map((look, i) =>
            i >= group && look.positive === positive ? countUpTo(after, i) : 0,
          );
          const share = left / (total - seen) / 2;
          addShifted(chances, target.chances, ranks, { grid, looks, share, most: (seen * (seen + 1)) / 2 });
        }
      }
    }
    layer = next;
  }
  return [...layer.values()].reduce((sum, { chances }) => sum + chances.reduce((a, b) => a + b, 0), 0);
}

function gridOf(looks: readonly Side[]): Grid {
  const strides = looks.map((_, i) => looks.slice(i + 1).reduce((product, { k }) => product * (k + 1), 1));
  const cells = strides[0]! * (looks[0]!.k + 1);
  return { cells, strides };
}

function countUpTo(come: readonly number[], look: number): number {
  return come.slice(0, look + 1).reduce((sum, count) => sum + count, 0);
}

function addShifted(
  from: Float64Array,
  to: Float64Array,
  ranks: readonly number[],
  { grid, looks, share, most }: { grid: Grid; looks: readonly Side[]; share: number; most: number },
): void {
  const offset = ranks.reduce((sum, rank, i) => sum + rank * grid.strides[i]!, 0);
  // No sum is larger than that of all ranks so far.
  const room = looks.map(({ k }, i) => Math.min(most, k - ranks[i]!));
  if (room.some((left) => left < 0)) return;
  const last = room.length - 1;
  const add = (look: number, first: number): void => {
    const stride = grid.strides[look]!;
    const end = first + room[look]! * stride;
    if (look < last) for (let cell = first; cell <= end; cell += stride) add(look + 1, cell);
    else for (let cell = first; cell <= end; cell++) to[cell + offset]! += from[cell]! * share;
  };
  add(0, 0);
}
