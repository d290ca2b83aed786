/** The result of a comparison, paired or not: figures, verdict, and why there is none. */
import { type Better, judge, type Ratio, thetaOf, toRatio } from './verdict.ts';
import type { Interval } from './signed-rank.ts';

/** A table is undecided where more of its rounds than this share were dropped. */
const MOST_DROPPED = 0.05;

/** What holds for every comparison of a table. */
export interface Rules {
  better: Better;
  /** The difference that matters, a share: 0.02. */
  threshold: number;
}

interface Compared {
  /** Whether both sides ran in the same rounds; unpaired comparisons also see what changed between the two times. */
  paired: boolean;
  /** Rounds that the comparison stands on, those dropped not counted; unpaired, those of the smaller side. */
  rounds: number;
  dropped: number;
  /** The smallest overall error of the table at which this comparison's interval excludes "no difference". */
  adjustedP: number;
}

/** A comparison that says something; `estimate` and `interval` are log ratios, above 0 where the candidate is worse. */
export interface Decided extends Compared {
  verdict: 'faster' | 'slower' | 'same';
  byMoreThanThreshold: boolean;
  estimate: number;
  interval: Interval;
  ratio: Ratio;
}

/** A comparison that cannot say: `wide` has an interval, the others have none; without rounds there is no estimate. */
export interface Undecided extends Compared {
  verdict: 'undecided';
  byMoreThanThreshold: false;
  why: 'too-few-rounds' | 'blocks-dropped' | 'wide';
  estimate?: number;
  interval?: Interval;
  ratio?: Ratio;
  /** About how many rounds in all would show the sought effect; absent where that many were measured already. */
  neededRounds?: number;
}

export type Comparison = Decided | Undecided;

/** What a comparison is concluded from; log ratios, above 0 where the candidate is worse. */
export interface Figures {
  estimate: number;
  /** Absent where the rounds allow none at the error that is left for it. */
  interval?: Interval | undefined;
  /** The smallest and largest difference seen. */
  range: Interval;
  neededRounds?: number | undefined;
}

/** Whether so many rounds were dropped that what is left may be a selection: more than 5 %. */
export function losesTooMany(dropped: number, rounds: number): boolean {
  return dropped > MOST_DROPPED * rounds;
}

/** The verdict on figures, or why there is none. Throws RangeError unless the threshold is above 0. */
export function conclude(
  compared: Compared,
  tooManyDropped: boolean,
  figures: Figures | undefined,
  rules: Rules,
): Comparison {
  const theta = thetaOf(rules.threshold);
  const undecided = { ...compared, verdict: 'undecided', byMoreThanThreshold: false } as const;
  const why = tooManyDropped ? 'blocks-dropped' : 'too-few-rounds';
  if (!figures) return { ...undecided, why };

  const { estimate, interval, neededRounds } = figures;
  const ratio = toRatio(figures, rules.better);
  const foreseen = neededRounds !== undefined && neededRounds > compared.rounds ? { neededRounds } : {};
  if (!interval) return { ...undecided, why, estimate, ratio, ...foreseen };

  const { verdict, byMoreThanThreshold } = judge(estimate, interval, theta);
  return verdict === 'undecided'
    ? { ...undecided, why: 'wide', estimate, interval, ratio, ...foreseen }
    : { ...compared, verdict, byMoreThanThreshold, estimate, interval, ratio };
}
