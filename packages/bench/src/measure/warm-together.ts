/** Warms up servers by turns, until none of them still changes relative to the others. */
import { LONGEST_WARMUP_SECONDS } from 'bench-model/planned';
import type { LoadResult } from 'bench-model/load';
import { findTrends, type RatioTrend } from 'bench-analysis/judge/trend';
import { TurnMeter, whileItLives, type CpuMeter } from 'bench-machine/resources/cpu-meter';

/** The length of a turn in seconds: short, where each gives a ratio; else as long as all keep idle connections. */
const TURN_SECONDS = { measured: 0.125, unmeasured: 2 };
/** The ratios of the last turns that are tested for a trend. */
const TESTED = 24;
/** A turn that takes more than this multiple of its time is late: each has a few ms of orders and of last answers. */
const LATE = 2;
/** The load that is added at a time while there is a trend, in seconds for each server. */
const MORE_SECONDS = 1;
/** The load that is added at most, in seconds over all servers: in a table of many, chance makes some trend more often. */
const MOST_MORE_SECONDS = 2 * LONGEST_WARMUP_SECONDS;

/** One server of several that take turns. */
export interface WarmingSide {
  /** The load that it needs, in seconds. */
  seconds: number;
  meter: CpuMeter | undefined;
  /** Called before it is loaded for this time, in seconds, while its CPU is not read. */
  prepare?(seconds: number): Promise<void>;
  /** Loads it for this time, in seconds. Undefined if it has failed. */
  fire(seconds: number): Promise<LoadResult | undefined>;
}

/** The end of a warm-up. */
interface Warmed {
  /** The time between the answers of a connection, in seconds, of the slowest server. */
  cycleSeconds: number;
  /** The servers whose CPU per request still changed relative to the others at the end. */
  trends: RatioTrend[];
}

/**
 * Loads each server for its time, in turns A B B A, so that none is idle for long. All end at the same time: a server that
 * needs less begins later. If the ratio of their CPU per request has a trend at the end, one of them is not warm. The load
 * then goes on, until each server has had `mostSeconds` at most, and all together two longest warm-ups more than planned.
 * A turn that ends late, because its last answers are slow, counts in full. `now` returns a time in ms.
 */
export async function warmTogether(
  sides: readonly WarmingSide[],
  mostSeconds = LONGEST_WARMUP_SECONDS,
  now: () => number = () => performance.now(),
): Promise<Warmed> {
  const isMeasured = sides.every(({ meter }) => meter !== undefined);
  const longestTurn = isMeasured ? TURN_SECONDS.measured : TURN_SECONDS.unmeasured;
  const warming = sides.map((side) => new Warming(side, longestTurn, now));
  const longest = Math.max(...warming.map(({ turns }) => turns));
  for (let turn = 0; turn < longest; turn++) {
    for (const one of inOrder(warming, turn)) {
      if (turn < longest - one.turns || one.hasEnough()) one.rest();
      else await one.take(one.turnSeconds);
    }
  }
  const find = (): RatioTrend[] => findTrends(warming.map(({ costs }) => costs.slice(-TESTED)));
  let trends = find();
  const moreTurns = MORE_SECONDS / TURN_SECONDS.measured;
  const planned = Math.max(...sides.map(({ seconds }) => seconds));
  const most = Math.min(mostSeconds, planned + MOST_MORE_SECONDS / sides.length);
  const spent = (): number => Math.max(planned, ...warming.map(({ seconds }) => seconds));
  while (trends.length > 0 && spent() + MORE_SECONDS <= most + 1e-9) {
    for (let turn = 0; turn < moreTurns; turn++) {
      for (const one of inOrder(warming, turn)) await one.take(TURN_SECONDS.measured);
    }
    trends = find();
  }
  return { cycleSeconds: Math.max(...warming.map((one) => one.cycleSeconds()), 0), trends };
}

function inOrder<T>(all: readonly T[], turn: number): readonly T[] {
  return turn % 2 === 0 ? all : all.toReversed();
}

class Warming {
  /** CPU per request of each turn, in µs; NaN if it is unknown. */
  readonly costs: number[] = [];
  /** The turns of the planned load, and the length of each. */
  readonly turns: number;
  readonly turnSeconds: number;
  readonly #side: WarmingSide;
  #last: LoadResult | undefined;
  readonly #meter: TurnMeter | undefined;
  readonly #now: () => number;
  /** The time under load so far. */
  seconds = 0;

  constructor(side: WarmingSide, longestTurn: number, now: () => number) {
    this.#side = side;
    this.#now = now;
    this.turns = Math.max(1, Math.ceil(side.seconds / longestTurn - 1e-9));
    this.turnSeconds = side.seconds / this.turns;
    this.#meter = whileItLives(() => side.meter && new TurnMeter(side.meter));
  }

  async take(seconds: number): Promise<void> {
    await this.#side.prepare?.(seconds);
    whileItLives(() => this.#meter?.endRest());
    const beganAtMs = this.#now();
    const load = await this.#side.fire(seconds);
    const tookSeconds = (this.#now() - beganAtMs) / 1000;
    const answers = (load?.lifetime?.ok ?? 0) - (this.#last?.lifetime?.ok ?? 0);
    const cpuUs = whileItLives(() => this.#meter?.endTurn()) ?? Number.NaN;
    this.costs.push(answers > 0 ? cpuUs / answers : Number.NaN);
    this.#last = load ?? this.#last;
    // A server that hangs is not warmed up by waiting for it.
    this.seconds += answers > 0 && tookSeconds > LATE * seconds ? tookSeconds : seconds;
  }

  /** Returns true if it has had the planned load before its last turn, because turns were late. */
  hasEnough(): boolean {
    return this.#last !== undefined && this.seconds > this.#side.seconds - 1e-9;
  }

  /** Leaves a turn to the others. */
  rest(): void {
    this.costs.push(Number.NaN);
  }

  /** The time between the answers of a connection; 0 if it is unknown. */
  cycleSeconds(): number {
    const { connect, lifetime } = this.#last ?? {};
    const cycle = ((connect?.established ?? 0) * this.seconds) / (lifetime?.ok ?? 0);
    return Number.isFinite(cycle) ? cycle : 0;
  }
}
