/** Orders of the turns of one round, and the difference of every candidate from the baseline by each. Side 0 is the baseline. */
import { estimateCentre } from 'bench-statistics/signed-rank';
import { planTurns } from 'bench-http/plan/turns';
import type { Random } from 'bench-statistics/random';

export interface Design {
  name: string;
  /** The sides of one rotation. A round repeats it; an odd repetition may differ. */
  rotate(sides: number, random: Random): (repetition: number) => number[];
  /** Returns the difference of each candidate from the noise of each side's turns. */
  compare(turns: readonly Turn[][]): number[];
}

/** One turn: its place in the round, and its log cost. */
export interface Turn {
  place: number;
  cost: number;
}

const candidatesOf = (sides: number): number[] => Array.from({ length: sides - 1 }, (_, index) => index + 1);

const centreOf = (differences: readonly number[]): number =>
  differences.length === 0 ? Number.NaN : estimateCentre(differences);

/** Pairs the turns of two sides by their index. */
function byIndex(ours: readonly Turn[], theirs: readonly Turn[]): number {
  const count = Math.min(ours.length, theirs.length);
  return centreOf(ours.slice(0, count).map(({ cost }, turn) => cost - (theirs[turn]?.cost ?? 0)));
}

/** Pairs each turn with the nearest one of the other side. */
function byPlace(ours: readonly Turn[], theirs: readonly Turn[]): number {
  let near = 0;
  return centreOf(
    ours.map(({ place, cost }) => {
      const distance = (other: number): number => Math.abs((theirs[other]?.place ?? Infinity) - place);
      while (distance(near + 1) < distance(near)) near++;
      return cost - (theirs[near]?.cost ?? 0);
    }),
  );
}

type Pairing = typeof byIndex;

const againstBaseline =
  (pairing: Pairing) =>
  ([baseline = [], ...others]: readonly Turn[][]): number[] =>
    others.map((turns) => pairing(turns, baseline));

export const DESIGNS: Design[] = [
  {
    name: 'A B C D, D C B A',
    rotate: (sides, random) => {
      const there = random.shuffle([0, ...candidatesOf(sides)]);
      const back = there.toReversed();
      return (repetition) => ([0, 3].includes(repetition % 4) ? there : back);
    },
    compare: againstBaseline(byIndex),
  },
  {
    name: 'A B C D, A B C D (chosen)',
    rotate: (sides, random) => {
      const places = random.shuffle([0, ...candidatesOf(sides)]);
      const needs = { sides, windowSeconds: 0.04, cycleSeconds: 0, turnSeconds: 0.02, areShort: true };
      const { order } = planTurns(needs);
      const rotation = order.slice(0, sides).map((place) => places[place] ?? 0);
      return () => rotation;
    },
    compare: againstBaseline(byPlace),
  },
  {
    name: 'baseline in every second place',
    rotate: (sides, random) => {
      const order = random.shuffle(candidatesOf(sides)).flatMap((side) => [0, side]);
      return () => order;
    },
    compare: againstBaseline(byPlace),
  },
  {
    name: 'baseline between two',
    rotate: (sides, random) => {
      const candidates = random.shuffle(candidatesOf(sides));
      const rotation = candidates.flatMap((side, index) => (index % 2 === 0 ? [side, 0] : [side]));
      return () => rotation;
    },
    compare: againstBaseline(byPlace),
  },
  {
    name: 'chain of neighbours',
    rotate: (sides) => {
      const there = [0, ...candidatesOf(sides)];
      const back = there.toReversed();
      return (repetition) => ([0, 3].includes(repetition % 4) ? there : back);
    },
    compare: (turns) => {
      let sum = 0;
      return turns.slice(1).map((ours, index) => (sum += byIndex(ours, turns[index] ?? [])));
    },
  },
  {
    name: 'balanced blocks of two',
    rotate: (sides, random) => {
      const all = [0, ...candidatesOf(sides)];
      const blocks = all.flatMap((one) => all.slice(one + 1).map((other) => [one, other]));
      return () => random.shuffle(blocks).flatMap((block) => random.shuffle(block));
    },
    // Each block gives one difference; the least squares of all of them use direct and indirect comparisons.
    compare: (turns) => {
      const sides = turns.length;
      const difference = (one: number, other: number): number =>
        centreOf(blocksOf(turns[one] ?? [], turns[other] ?? []));
      const means = turns.map((_, one) =>
        turns.reduce((sum, __, other) => sum + (one === other ? 0 : difference(one, other) / sides), 0),
      );
      return means.slice(1).map((mean) => mean - (means[0] ?? 0));
    },
  },
];

/** The differences of the turns in one block: at places 2 n and 2 n + 1. */
function blocksOf(ours: readonly Turn[], theirs: readonly Turn[]): number[] {
  const blocks = new Map(theirs.map(({ place, cost }) => [place >> 1, cost]));
  return ours.flatMap(({ place, cost }) => {
    const other = blocks.get(place >> 1);
    return other === undefined ? [] : [cost - other];
  });
}
