/**
 * Kinds of processes among the trials of a run, by CPU per request. Each trial has a fresh process, so several levels
 * among the trials of a target are kinds of processes, unless the machine changed its pace in the middle of the run.
 */
import { METRICS } from '../metrics.ts';
import { sum } from '../numbers.ts';
import { createRandom } from '../random.ts';
import type { Trial } from '../results/record.ts';
import { figureOf } from './metrics.ts';
import { compareKinds } from './warmup/compare-kinds.ts';
import { findKinds } from './warmup/kinds.ts';
import type { Kinds, RatioEstimate } from './warmup/study.ts';

/** With fewer processes, two far from the others are not yet a kind. */
const FEWEST_PROCESSES = 5;
/** The deviation within a kind that is expected: of separate figures, and of the ratios of a duel's rounds. */
const EXPECTED = { separate: 0.05, duel: 0.02 };
/** Kinds are at least this many deviations apart: halves of one kind that varies more than expected are nearer. */
const LEAST_DEVIATIONS = 5;
/** Levels that follow one another in time so neatly by chance in fewer cases are a change of the machine. */
const LEAST_CHANCE = 0.05;
const DRAWS = 1000;
/** The same figures always give the same answer. */
const SEED = 17;

/** One kind of processes. */
export interface ProcessKind {
  /** Its processes, of those that have a valid figure. */
  processes: number;
  of: number;
  /** CPU per request in µs, or its ratio in the rounds of a duel: the geometric mean, and the range. */
  centre: number;
  low: number;
  high: number;
}

/** A comparison by CPU per request of two targets of which at least one has several kinds. */
export interface ComparedKinds {
  baseline: ProcessKind[];
  candidate: ProcessKind[];
  /** Candidate ÷ baseline within kinds: the shift of all matched kinds. */
  within?: RatioEstimate;
  /** Candidate ÷ baseline of the mean of many processes: what a fleet would see. */
  fleet: RatioEstimate;
}

/** Returns the kinds among trials of one target at one rung, in µs per request; undefined if there is one, or no evidence. */
export function kindsAmong(trials: readonly Trial[]): ProcessKind[] | undefined {
  const found = severalKinds(figuresOf(trials), EXPECTED.separate);
  return found && toKinds(found);
}

/** Returns the kinds among the ratios of a duel's rounds, which are kinds of processes of either target; undefined as above. */
export function kindsOfRounds(ratios: readonly number[]): ProcessKind[] | undefined {
  const found = severalKinds(
    ratios.map((ratio) => ({ ratio })),
    EXPECTED.duel,
  );
  return found && toKinds(found);
}

/** Compares two targets of which at least one has several kinds; undefined if neither has, or one has too few trials. */
export function compareTrialKinds(
  baseline: readonly Trial[],
  candidate: readonly Trial[],
): ComparedKinds | undefined {
  const sides = [figuresOf(baseline), figuresOf(candidate)] as const;
  if (sides.some(({ length }) => length < FEWEST_PROCESSES)) return undefined;
  const [one, other] = [findKinds(sides[0], EXPECTED.separate), findKinds(sides[1], EXPECTED.separate)];
  if (!areEvident(one) && !areEvident(other)) return undefined;
  const { withinKinds, fleet } = compareKinds(
    { figures: sides[0], found: one },
    { figures: sides[1], found: other },
  );
  return {
    baseline: toKinds(one),
    candidate: toKinds(other),
    ...(withinKinds && { within: withinKinds }),
    fleet,
  };
}

function toKinds({ kinds }: Kinds): ProcessKind[] {
  const of = sum(kinds.map(({ processes }) => processes.length));
  return kinds.map(({ processes, centre, low, high }) => ({
    processes: processes.length,
    of,
    centre,
    low,
    high,
  }));
}

/** The valid figures of trials with fresh processes, in the order of the rounds. */
function figuresOf(trials: readonly Trial[]): RatioEstimate[] {
  const pids = trials.flatMap(({ process }) => process?.pid ?? []);
  if (new Set(pids).size < pids.length) return [];
  return trials
    .toSorted((a, b) => a.round - b.round)
    .flatMap((trial) => {
      const figure = figureOf(trial, METRICS.cpu);
      return figure?.valid === true && !figure.atLeast && figure.value > 0 ? [{ ratio: figure.value }] : [];
    });
}

function severalKinds(figures: readonly RatioEstimate[], expected: number): Kinds | undefined {
  if (figures.length < FEWEST_PROCESSES) return undefined;
  const found = findKinds(figures, expected);
  return areEvident(found) ? found : undefined;
}

/** True if there are several kinds that are neither an accident nor a change of the machine. */
function areEvident(found: Kinds): boolean {
  if (found.kinds.length === 1) return false;
  // One process far from the others may be an accident.
  if (found.kinds.some(({ processes }) => processes.length === 1)) return false;
  if (leastDistance(found) < LEAST_DEVIATIONS * found.deviation) return false;
  const kinds: number[] = [];
  for (const [kind, { processes }] of found.kinds.entries()) for (const at of processes) kinds[at] = kind;
  return isOrderLikely(kinds);
}

/** The least distance of neighbouring kinds, as a logarithm. */
function leastDistance({ kinds }: Kinds): number {
  return Math.min(...kinds.slice(1).map(({ centre }, at) => Math.log(centre / kinds[at]!.centre)));
}

/** True if kinds change as seldom from one process to the next in at least 5 % of random orders. */
function isOrderLikely(kinds: readonly number[]): boolean {
  const random = createRandom(SEED);
  const changes = countChanges(kinds);
  const enough = LEAST_CHANCE * DRAWS;
  let seldom = 0;
  for (let draw = 0; draw < DRAWS && seldom < enough; draw++) {
    if (countChanges(random.shuffle(kinds)) <= changes) seldom++;
  }
  return seldom >= enough;
}

function countChanges(kinds: readonly number[]): number {
  return kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
}
