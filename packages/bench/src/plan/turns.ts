/** Whose windows come in which order when several servers are loaded in turn, and how long each window is. */

/** How long a window of one side is: as short as possible, because what it shares with the next cancels out. */
const SPAN_SECONDS = {
  least: 0.1,
  /** Between its windows a side is silent, and servers close connections that are idle for long. */
  most: 1,
  /** Answers per connection. */
  cycles: 10,
};
/** A side that has rested begins its next window after the time of one answer: until then all its connections ask at once. */
const RAMP_SECONDS = { least: 0.01, most: 0.5 };
/** Answers that wait by design come in waves: a window holds at least this many whole waits. */
const FEWEST_WAITS = 5;
/** Most servers close a connection that is idle for 5 s (uvicorn's and Node's default). */
export const IDLE_SECONDS = 5;

/** The turns of a duel. */
export interface Turns {
  /** The side of each window. */
  order: number[];
  /** From the first request of a turn to the opening of its window. */
  rampSeconds: number;
  spanSeconds: number;
}

/** What the turns are planned from. */
export interface TurnNeeds {
  sides: number;
  /** What the windows of each side are to sum to. */
  windowSeconds: number;
  /** From answer to answer of one connection, of the slowest side. */
  cycleSeconds: number;
  /** How long each answer waits by design. */
  waitSeconds?: number | undefined;
}

/**
 * Plans the turns: A B B A, B A A B, … so that a linear drift meets every side alike. The windows of each side sum to
 * `windowSeconds`; where answers wait, to the whole waits in it.
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

/** Windows of whole waits, each after a ramp of one wait over which the connections spread again. */
function planWaits(sides: number, windowSeconds: number, waitSeconds: number): Turns {
  const least = Math.max(FEWEST_WAITS, Math.ceil(SPAN_SECONDS.least / waitSeconds));
  const order = orderWindows(sides, windowSeconds, least * waitSeconds);
  const waits = Math.max(least, Math.floor(windowSeconds / (order.length / sides) / waitSeconds + 1e-6));
  return { order, rampSeconds: waitSeconds, spanSeconds: waits * waitSeconds };
}

/** How long a connection of one side is silent at most while the others have their turns, in seconds. */
export function longestSilence(sides: number, { rampSeconds, spanSeconds }: Omit<Turns, 'order'>): number {
  return 2 * (sides - 1) * (rampSeconds + spanSeconds);
}

/** There and back, and the next time back and there, as many times as keep each window to its span. */
function orderWindows(sides: number, windowSeconds: number, spanSeconds: number): number[] {
  const blocks = Math.max(1, Math.round(windowSeconds / (2 * spanSeconds)));
  const there = Array.from({ length: sides }, (_, side) => side);
  const back = there.toReversed();
  return Array.from({ length: blocks }, (_, block) =>
    block % 2 === 0 ? [...there, ...back] : [...back, ...there],
  ).flat();
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
