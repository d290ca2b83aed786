/** The result of a comparison: its figures, and its verdict or the reason for having none. */
import { type Better, judge, type Judgement, type Ratio, thetaOf, toRatio } from './verdict.ts';
import type { Interval } from '../numbers.ts';

/** Dropped rounds up to this share are left out; if there are more, each counts as the worst difference. */
const MOST_DROPPED = 0.05;

/** The rules for every comparison of a table. */
export interface Rules {
  better: Better;
  /** The smallest difference that matters, as a share: 0.02. */
  threshold: number;
}

interface Compared {
  /** Rounds used, without the dropped ones. */
  rounds: number;
  dropped: number;
  /** The smallest overall error of the table at which this comparison's interval excludes "no difference". */
  adjustedP: number;
}

/** A comparison with a verdict. `estimate` and `interval` are log ratios; above 0 the candidate is worse. */
export interface Decided extends Compared {
  verdict: 'faster' | 'slower' | 'same';
  byMoreThanThreshold: boolean;
  estimate: number;
  interval: Interval;
  ratio: Ratio;
}

/** A comparison without a verdict. Only `wide` has an interval; without rounds there is no estimate. */
export interface Undecided extends Compared {
  verdict: 'undecided';
  byMoreThanThreshold: false;
  /** `blocks-dropped`: too many rounds were dropped for an interval that holds whatever their differences were. */
  why: 'too-few-rounds' | 'blocks-dropped' | 'wide';
  estimate?: number;
  interval?: Interval;
  ratio?: Ratio;
  /** The estimated total of rounds that would show the sought effect; absent if that many were measured already. */
  neededRounds?: number;
}

export type Comparison = Decided | Undecided;

/**
 * Returns true if further rounds of a sequential test may answer its question. If only a difference beyond the threshold
 * counts, `faster` and `slower` stay open until their whole interval lies there.
 */
export function isOpen({ verdict, byMoreThanThreshold }: Judgement, isBeyond = false): boolean {
  return verdict === 'undecided' || (isBeyond && verdict !== 'same' && !byMoreThanThreshold);
}

/** The figures behind a conclusion, as log ratios; above 0 the candidate is worse. */
export interface Figures {
  estimate: number;
  /** Absent if there are too few rounds for an interval at the permitted error. */
  interval?: Interval | undefined;
  /** The smallest and the largest observed difference. */
  range: Interval;
  neededRounds?: number | undefined;
}

/** Returns true if more than 5 % of the rounds were dropped: the rest may be a biased selection. */
export function losesTooMany(dropped: number, rounds: number): boolean {
  return dropped > MOST_DROPPED * rounds;
}

/** Reaches a verdict on figures, or gives the reason for having none. Throws RangeError unless the threshold is above 0. */
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
