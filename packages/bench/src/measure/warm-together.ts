/** Warms up servers, one or several by turns, until each of them is warm. */
import { orUndefined } from 'bench-model/errors';
import type { LiveRuntime } from 'bench-model/runtimes';
import type { LoadResult } from 'bench-model/load';
import { findTrends, type RatioTrend } from 'bench-analysis/judge/trend';
import { costOf, isWarm, stillCompiling, type WarmSlice } from 'bench-analysis/judge/warm';
import { TurnMeter, type CpuMeter } from 'bench-machine/resources/cpu-meter';
import { sum } from 'bench-statistics/numbers';

/** The slices of each server whose ratios are tested for a trend. */
const TESTED = 24;
/** A slice that takes more than this multiple of its time is late: each has a few ms of orders and of last responses. */
const LATE = 2;
/** The slices that are added at a time while a server is not warm. */
const MORE_SLICES = 4;
/** The load beyond the least, over all servers, in longest warm-ups: in a table of many, chance makes some trend more often. */
const MOST_MORE = 2;

/** One server to warm up. */
export interface WarmingSide {
  /** The least load that it needs and the most that it gets, in seconds. They are equal if the user has set the time. */
  leastSeconds: number;
  mostSeconds: number;
  /** The length of a slice. */
  sliceSeconds: number;
  runtime: LiveRuntime | undefined;
  meter: CpuMeter | undefined;
  compilers: CpuMeter | undefined;
  /** Called before it is loaded for this time, in seconds, while its CPU is not read. */
  prepare?(seconds: number): Promise<void>;
  /** Loads it for this time, in seconds. Undefined if it has failed. */
  fire(seconds: number): Promise<LoadResult | undefined>;
}

/** One server after its warm-up. */
export interface WarmedSide {
  /** The time under load. */
  seconds: number;
  /** The share of its compilers in its CPU if they were not quiet at the end. */
  compilersShare?: number;
}

/** The end of a warm-up. */
interface Warmed {
  /** The time between the responses of a connection, in seconds, of the slowest server. */
  cycleSeconds: number;
  sides: WarmedSide[];
  /** The servers whose CPU per request still changed relative to the others at the end; empty if they are not compared. */
  trends: RatioTrend[];
}

/**
 * Loads each server in slices, in turns A B B A, so that none is idle for long. A server that needs less begins later, so that all
 * have had their least load at the same time. Then the load goes on with those that are not warm. If the servers are compared, it
 * goes on with all of them, also while the ratio of their CPU per request has a trend. A slice that ends late, because its last
 * responses are slow, counts in full. `now` returns a time in ms.
 */
export async function warmTogether(
  sides: readonly WarmingSide[],
  { compares = false, now = () => performance.now() }: { compares?: boolean; now?: () => number } = {},
): Promise<Warmed> {
  const warming = sides.map((side) => new Warming(side, now));
  const longest = Math.max(...warming.map(({ planned }) => planned));
  for (let turn = 0; turn < longest; turn++) {
    for (const one of inOrder(warming, turn)) {
      if (turn >= longest - one.planned && !one.hasLeast()) await one.take();
    }
  }
  const findAll = (): RatioTrend[] =>
    compares ? findTrends(warming.map(({ slices }) => slices.slice(-TESTED).map(costOf))) : [];
  let [trends, moreSeconds] = [findAll(), 0];
  const mostSeconds = MOST_MORE * Math.max(...sides.map((side) => side.mostSeconds));
  for (;;) {
    const isOver = trends.length === 0 && warming.every((one) => one.isOver());
    const due = isOver ? [] : warming.filter((one) => one.hasTime() && (compares || !one.isOver()));
    if (due.length === 0 || moreSeconds >= mostSeconds) break;
    const before = sum(warming.map(({ seconds }) => seconds));
    for (let turn = 0; turn < MORE_SLICES; turn++) {
      for (const one of inOrder(due, turn)) if (one.hasTime()) await one.take();
    }
    moreSeconds += sum(warming.map(({ seconds }) => seconds)) - before;
    trends = findAll();
  }
  return {
    cycleSeconds: Math.max(...warming.map((one) => one.cycleSeconds()), 0),
    sides: warming.map((one) => one.warmed()),
    trends,
  };
}

function inOrder<T>(all: readonly T[], turn: number): readonly T[] {
  return turn % 2 === 0 ? all : all.toReversed();
}

class Warming {
  readonly slices: WarmSlice[] = [];
  /** The slices of the least load. */
  readonly planned: number;
  readonly #sliceSeconds: number;
  readonly #side: WarmingSide;
  readonly #meter: TurnMeter | undefined;
  readonly #now: () => number;
  #last: LoadResult | undefined;
  #compilersUs: number;
  #hasFailed = false;
  /** The time under load so far. */
  seconds = 0;

  constructor(side: WarmingSide, now: () => number) {
    this.#side = side;
    this.#now = now;
    this.planned = Math.ceil(side.leastSeconds / side.sliceSeconds - 1e-9);
    this.#sliceSeconds = this.planned === 0 ? side.sliceSeconds : side.leastSeconds / this.planned;
    this.#meter = orUndefined(() => side.meter && new TurnMeter(side.meter));
    this.#compilersUs = side.compilers?.readUs() ?? 0;
  }

  async take(): Promise<void> {
    const seconds = this.#sliceSeconds;
    await this.#side.prepare?.(seconds);
    const restsBefore = this.#meter?.rests.cpuUs ?? 0;
    orUndefined(() => this.#meter?.end('rests'));
    const beganAtMs = this.#now();
    const load = await this.#side.fire(seconds);
    const tookSeconds = (this.#now() - beganAtMs) / 1000;
    const answers = (load?.lifetime?.ok ?? 0) - (this.#last?.lifetime?.ok ?? 0);
    // A server that hangs is not warmed up by waiting for it.
    const loadedSeconds = answers > 0 && tookSeconds > LATE * seconds ? tookSeconds : seconds;
    this.slices.push({
      seconds: loadedSeconds,
      answers,
      cpuUs: orUndefined(() => this.#meter?.end('turns')) ?? Number.NaN,
      restUs: (this.#meter?.rests.cpuUs ?? 0) - restsBefore,
      compilersUs: this.#takeCompilersUs(),
    });
    this.seconds += loadedSeconds;
    this.#hasFailed = load === undefined;
    this.#last = load ?? this.#last;
  }

  #takeCompilersUs(): number | undefined {
    const now = this.#side.compilers?.readUs();
    if (now === undefined) return undefined;
    const spent = now - this.#compilersUs;
    this.#compilersUs = now;
    return spent;
  }

  /** Returns true if it has had its least load: before its last planned slice, if slices were late. */
  hasLeast(): boolean {
    return this.#hasFailed || this.seconds > this.#side.leastSeconds - 1e-9;
  }

  /** Returns true if it may be loaded for longer. */
  hasTime(): boolean {
    return !this.#hasFailed && this.seconds + this.#sliceSeconds <= this.#side.mostSeconds + 1e-9;
  }

  /** Returns true if it needs no more load: it is warm, its time was set by the user, or it has failed. */
  isOver(): boolean {
    const isSet = this.#side.mostSeconds <= this.#side.leastSeconds;
    return this.#hasFailed || isSet || isWarm(this.slices, this.#side.runtime);
  }

  warmed(): WarmedSide {
    const share = stillCompiling(this.slices, this.#side.runtime);
    return { seconds: this.seconds, ...(share !== undefined && { compilersShare: share }) };
  }

  /** The time between the responses of a connection; 0 if it is unknown. */
  cycleSeconds(): number {
    const { connect, lifetime } = this.#last ?? {};
    const cycle = ((connect?.established ?? 0) * this.seconds) / (lifetime?.ok ?? 0);
    return Number.isFinite(cycle) ? cycle : 0;
  }
}
