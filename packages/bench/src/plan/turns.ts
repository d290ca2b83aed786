/** The order and length of the windows when several servers are loaded in turn. */
import type { Plan } from 'bench-model/plan';
import { clamp } from 'bench-statistics/numbers';

/** A side is idle between its windows, and servers close connections that are idle for long. */
export const LONGEST_TURN_SECONDS = 1;

/**
 * The length of one side's window. Short windows share conditions with their neighbours, so the differences cancel
 * out. The table has the deviation of a round of 2 s a side (Hodges-Lehmann of the pairs, CPU per request, in %), from
 * recorded turns of servers against themselves:
 *
 * | server, connections                        | 10 ms | 20 ms | 50 ms | 100 ms | 200 ms |
 * | disturbances in bursts, 20 µs a request, 10 | 0.5   | 0.5   | 1.5   | 1.7    | 1.6    |
 * | twice as many processes as cores: 12 µs, 10 | 2.3   | 1.4   | 1.6   | 1.3    | 2.6    |
 * | the same, 12 µs, 100                        | 2.0   | 1.4   | 1.8   | 1.0    | 1.0    |
 * | the same, 52 µs, 10                         | 1.2   | 1.2   | 1.1   | 1.4    | 1.6    |
 * | the same, 770 µs, 10                        | 0.6   | 0.8   | 1.1   | 1.0    | 0.7    |
 *
 * Each turn begins with cold caches, which costs 0.4 to 0.7 ms of CPU: about 6 % of a busy turn of 20 ms, 12 % of one of
 * 10 ms. Both sides pay it, so a difference of 3 % is seen as 2.8 %.
 */
const SPAN_SECONDS = {
  /** For an engine that reports each window in full, and for resources that are sampled in full. */
  least: 0.1,
  most: LONGEST_TURN_SECONDS,
};
/** After a rest all connections of a side send at once, so its window opens one cycle later. */
const RAMP_SECONDS = { leastShare: 0.1, most: 0.5 };
/** One response of this many is less than the noise between rounds. */
const FEWEST_ANSWERS = 200;
/** Answers that wait by design arrive in waves, so a window holds at least this many whole waits. */
export const FEWEST_WAITS = 5;
/** Most servers close a connection after 5 s without a request, the default of uvicorn and Node. */
export const IDLE_SECONDS = 5;

/** The turns of servers that run at once. */
export interface TurnPlan {
  /** The index of the side that each window belongs to. */
  order: number[];
  /** The time from the first request of a turn to the opening of its window. */
  rampSeconds: number;
  spanSeconds: number;
}

interface TurnNeeds {
  sides: number;
  /** The sum of the windows of each side. */
  windowSeconds: number;
  /** The time from answer to answer on one connection, of the slowest side. */
  cycleSeconds: number;
  waitSeconds?: number | undefined;
  /** The shortest turn that is wanted. */
  turnSeconds: number;
  /** The answers on each connection that a turn has time for; 10 by default. */
  turnAnswers?: number;
  /** True if a turn costs no more than an order and one reading of the CPU time. */
  areShort?: boolean;
}

/**
 * Plans the turns A B B A, B A A B, …, so that a linear drift affects every side alike. The windows of each side
 * sum to `windowSeconds`; if answers wait, to the whole waits in it. Short turns of more than two sides go round,
 * A B C A B C: a side that came back sooner than the others was 5 % cheaper.
 */
export function planTurns(needs: TurnNeeds): TurnPlan {
  const {
    sides,
    windowSeconds,
    cycleSeconds,
    waitSeconds,
    turnSeconds,
    turnAnswers = 10,
    areShort = false,
  } = needs;
  if (waitSeconds !== undefined) return planWaits(sides, windowSeconds, waitSeconds);
  const leastSeconds = areShort ? turnSeconds : Math.max(turnSeconds, SPAN_SECONDS.least);
  const { rampSeconds, spanSeconds } = sizeTurn(cycleSeconds, { leastSeconds, turnAnswers });
  if (areShort && sides > 2) {
    const rotation = Array.from({ length: sides }, (_, side) => side);
    const turns = 2 * Math.max(1, Math.round(windowSeconds / (2 * spanSeconds)));
    const order = Array.from({ length: turns }, () => rotation).flat();
    return { order, rampSeconds, spanSeconds: windowSeconds / turns };
  }
  const order = orderWindows(sides, windowSeconds, spanSeconds);
  return { order, rampSeconds, spanSeconds: windowSeconds / (order.length / sides) };
}

/** Returns the length of a window that holds enough responses, as far as the plan allows it. */
export function sizeWindow(
  { windowSeconds, byTurns }: Pick<Plan, 'windowSeconds' | 'byTurns'>,
  { cycleSeconds, connections }: { cycleSeconds: number; connections: number },
): number {
  const needed = (FEWEST_ANSWERS * cycleSeconds) / connections;
  return Math.max(windowSeconds, Math.min(needed, byTurns?.mostSeconds ?? 0));
}

/** Returns the length of a turn, by the time from answer to answer on one connection, and the least that it has to be and to hold. */
export function sizeTurn(
  cycleSeconds: number,
  { leastSeconds, turnAnswers }: { leastSeconds: number; turnAnswers: number },
): Omit<TurnPlan, 'order'> {
  const { most } = SPAN_SECONDS;
  const { leastShare, most: mostRamp } = RAMP_SECONDS;
  return {
    rampSeconds: clamp(cycleSeconds, leastShare * leastSeconds, mostRamp),
    spanSeconds: clamp(turnAnswers * cycleSeconds, leastSeconds, most),
  };
}

/** Plans windows of whole waits. Each follows a ramp of one wait, during which the connections spread out again. */
function planWaits(sides: number, windowSeconds: number, waitSeconds: number): TurnPlan {
  const least = leastWaits(waitSeconds);
  const order = orderWindows(sides, windowSeconds, least * waitSeconds);
  const waits = Math.max(least, Math.floor(windowSeconds / (order.length / sides) / waitSeconds + 1e-6));
  return { order, rampSeconds: waitSeconds, spanSeconds: waits * waitSeconds };
}

function leastWaits(waitSeconds: number): number {
  return Math.max(FEWEST_WAITS, Math.ceil(SPAN_SECONDS.least / waitSeconds));
}

/** Returns the shortest window of whole waits that lasts at least this many seconds. */
export function wholeWaits(seconds: number, waitSeconds: number | undefined): number {
  if (waitSeconds === undefined) return seconds;
  return tidy(waitSeconds * Math.max(FEWEST_WAITS, Math.ceil(tidy(seconds / waitSeconds))));
}

/** Rounds off the error of binary fractions. */
export function tidy(value: number): number {
  return Number(value.toFixed(6));
}

/** Returns true if this many servers whose responses wait so long can take turns. */
export function canTakeTurns(sides: number, waitSeconds: number | undefined): boolean {
  if (waitSeconds === undefined) return true;
  const turn = { rampSeconds: waitSeconds, spanSeconds: leastWaits(waitSeconds) * waitSeconds };
  return tidy(longestSilence(sides, turn)) <= IDLE_SECONDS;
}

/** Returns the longest idle time of a connection while the other sides have their turns, in seconds. */
export function longestSilence(sides: number, { rampSeconds, spanSeconds }: Omit<TurnPlan, 'order'>): number {
  return 2 * (sides - 1) * (rampSeconds + spanSeconds);
}

/** Returns the order: forwards, backwards, backwards, forwards, until no window exceeds its span. */
function orderWindows(sides: number, windowSeconds: number, spanSeconds: number): number[] {
  const blocks = Math.max(1, Math.round(windowSeconds / (2 * spanSeconds)));
  const there = Array.from({ length: sides }, (_, side) => side);
  const back = there.toReversed();
  return Array.from({ length: blocks }, (_, block) =>
    block % 2 === 0 ? [...there, ...back] : [...back, ...there],
  ).flat();
}
