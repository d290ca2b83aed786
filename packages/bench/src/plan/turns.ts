/** The order and length of the windows when several servers are loaded in turn. */
import { clamp } from '../numbers.ts';

/**
 * The length of one side's window. Short windows share conditions with their neighbours, so the differences cancel
 * out.
 */
const SPAN_SECONDS = {
  least: 0.1,
  /** A side is idle between its windows, and servers close connections that are idle for long. */
  most: 1,
  /** Answers per connection. */
  cycles: 10,
};
/** After a rest all connections of a side send at once, so its window opens one cycle later. */
const RAMP_SECONDS = { least: 0.01, most: 0.5 };
/** Answers that wait by design arrive in waves, so a window holds at least this many whole waits. */
const FEWEST_WAITS = 5;
/** Most servers close a connection after 5 s without a request, the default of uvicorn and Node. */
export const IDLE_SECONDS = 5;

/** The turns of a duel. */
export interface Turns {
  /** The index of the side that each window belongs to. */
  order: number[];
  /** The time from the first request of a turn to the opening of its window. */
  rampSeconds: number;
  spanSeconds: number;
}

/** The needs of a plan of turns. */
export interface TurnNeeds {
  sides: number;
  /** The sum of the windows of each side. */
  windowSeconds: number;
  /** The time from answer to answer on one connection, of the slowest side. */
  cycleSeconds: number;
  /** The designed wait of each answer. */
  waitSeconds?: number | undefined;
}

/**
 * Plans the turns A B B A, B A A B, …, so that a linear drift affects every side alike. The windows of each side
 * sum to `windowSeconds`; if answers wait, to the whole waits in it.
 */
export function planTurns({ sides, windowSeconds, cycleSeconds, waitSeconds }: TurnNeeds): Turns {
  if (waitSeconds !== undefined) return planWaits(sides, windowSeconds, waitSeconds);
  const { least, most, cycles } = SPAN_SECONDS;
  const order = orderWindows(sides, windowSeconds, clamp(cycles * cycleSeconds, least, most));
  return {
    order,
    rampSeconds: clamp(cycleSeconds, RAMP_SECONDS.least, RAMP_SECONDS.most),
    spanSeconds: windowSeconds / (order.length / sides),
  };
}

/** Plans windows of whole waits. Each follows a ramp of one wait, during which the connections spread out again. */
function planWaits(sides: number, windowSeconds: number, waitSeconds: number): Turns {
  const least = Math.max(FEWEST_WAITS, Math.ceil(SPAN_SECONDS.least / waitSeconds));
  const order = orderWindows(sides, windowSeconds, least * waitSeconds);
  const waits = Math.max(least, Math.floor(windowSeconds / (order.length / sides) / waitSeconds + 1e-6));
  return { order, rampSeconds: waitSeconds, spanSeconds: waits * waitSeconds };
}

/** Returns the longest idle time of a connection while the other sides have their turns, in seconds. */
export function longestSilence(sides: number, { rampSeconds, spanSeconds }: Omit<Turns, 'order'>): number {
  return 2 * (sides - 1) * (rampSeconds + spanSeconds);
}

/**
 * Returns the order: forwards and backwards, then backwards and forwards, repeated until no window exceeds its
 * span.
 */
function orderWindows(sides: number, windowSeconds: number, spanSeconds: number): number[] {
  const blocks = Math.max(1, Math.round(windowSeconds / (2 * spanSeconds)));
  const there = Array.from({ length: sides }, (_, side) => side);
  const back = there.toReversed();
  return Array.from({ length: blocks }, (_, block) =>
    block % 2 === 0 ? [...there, ...back] : [...back, ...there],
  ).flat();
}
