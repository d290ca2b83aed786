/** Simulated servers under open loops: first come, first served, by one worker or several. */
import type { LoadResult } from 'bench-model/load';
import { allowedShare, type Promised } from 'bench-model/promise';
import { createRandom, type Random } from 'bench-statistics/random';
import {
  countAbove,
  createHistogram,
  encodeHistogram,
  mergeHistograms,
  recordMilliseconds,
  summariseLatency,
} from 'bench-statistics/histogram';
import { sampleCounts, sampleLoad } from './samples.ts';

/** A server, and the pauses in which none of its workers works. */
export interface Queue {
  /** Returns the time that a request takes, in seconds. */
  service: (random: Random) => number;
  meanSeconds: number;
  workers?: number;
  pauses?: { everySeconds: number; seconds: number };
}

/** Answers that take this long, as M/D/1 has. */
export function fixed(seconds: number, workers = 1): Queue {
  return { service: () => seconds, meanSeconds: seconds, workers };
}

/** Answers whose times are exponential with this mean, as M/M/1 has. */
export function exponential(seconds: number, workers = 1): Queue {
  return { service: (random) => -seconds * Math.log(1 - random.float()), meanSeconds: seconds, workers };
}

/** Answers of which a share takes longer than all others. */
export function mixed(share: number, { slow, fast }: { slow: number; fast: number }, workers = 1): Queue {
  return {
    service: (random) => (random.float() < share ? slow : fast),
    meanSeconds: share * slow + (1 - share) * fast,
    workers,
  };
}

/** Answers whose times are lognormal with this mean and standard deviation of the logarithm. */
export function lognormal(seconds: number, deviation: number, workers = 1): Queue {
  return {
    service: (random) => seconds * Math.exp(deviation * random.normal() - deviation ** 2 / 2),
    meanSeconds: seconds,
    workers,
  };
}

/** The rate at which a server is busy all the time, per second. */
export function paceOf({ meanSeconds, workers = 1, pauses }: Queue): number {
  return (workers / meanSeconds) * (1 - (pauses === undefined ? 0 : pauses.seconds / pauses.everySeconds));
}

/** One server over many loads; idle between them. */
export class SimulatedServer {
  readonly #queue: Queue;
  readonly #random: Random;
  readonly #free: Float64Array;
  #now: number;

  constructor(queue: Queue, random: Random) {
    this.#queue = queue;
    this.#random = random;
    this.#free = new Float64Array(queue.workers ?? 1);
    this.#now = random.float() * (queue.pauses?.everySeconds ?? 0);
  }

  /** Sends requests with exponential gaps, and returns what the generator reports of the window after the ramp. */
  load(perSecond: number, seconds: number, rampSeconds = 0): LoadResult {
    const opens = this.#now + rampSeconds;
    const closes = opens + seconds;
    const histogram = createHistogram();
    const open: number[] = [];
    this.#free.fill(this.#now);
    for (let at = this.#now; ;) {
      at -= Math.log(1 - this.#random.float()) / perSecond;
      if (at >= closes) break;
      const ends = this.#serve(at);
      if (ends >= closes) open.push(closes - at);
      else if (ends >= opens) recordMilliseconds(histogram, 1000 * (ends - at));
    }
    this.#now = closes;
    const ages = createHistogram();
    for (const age of open) if (age * 1e6 > histogram.maxValue) recordMilliseconds(ages, 1000 * age);
    const ok = histogram.totalCount;
    return {
      ...sampleLoad({ counts: sampleCounts({ ok, inFlight: open.length }) }),
      windowSeconds: seconds,
      goodputPerSecond: ok / seconds,
      completionsPerSecond: ok / seconds,
      latencyUs: summariseLatency(histogram),
      latencyHistogram: encodeHistogram(histogram),
      ...(ages.totalCount > 0 && { censoredHistogram: encodeHistogram(ages) }),
    };
  }

  /** Serves a request that arrives now by the worker that is free first. Returns when it ends. */
  #serve(at: number): number {
    let worker = 0;
    for (let other = 1; other < this.#free.length; other++)
      if ((this.#free[other] as number) < (this.#free[worker] as number)) worker = other;
    const starts = Math.max(at, this.#free[worker] as number);
    return (this.#free[worker] = this.#finish(starts, this.#queue.service(this.#random)));
  }

  /** Returns when work of this length ends if it pauses with the server. */
  #finish(starts: number, work: number): number {
    const { pauses } = this.#queue;
    if (pauses === undefined) return starts + work;
    const { everySeconds, seconds } = pauses;
    let left = work;
    for (let cycle = Math.floor(starts / everySeconds); ; cycle++) {
      const wakes = Math.max(starts, cycle * everySeconds + seconds);
      const sleeps = (cycle + 1) * everySeconds;
      if (wakes + left <= sleeps) return wakes + left;
      left -= Math.max(0, sleeps - wakes);
    }
  }
}

/** Returns the highest rate that keeps a promise over a time without end, by bisection of one long load. */
export function findCapacity(queue: Queue, promise: Promised): number {
  let [low, high] = [0, paceOf(queue)];
  for (let turn = 0; turn < 14; turn++) {
    const rate = (low + high) / 2;
    const load = new SimulatedServer(queue, createRandom(1)).load(rate, 3_000_000 / paceOf(queue), 1);
    const histogram = mergeHistograms([load.latencyHistogram ?? '']);
    const share = countAbove(histogram, promise.belowUs ?? 0) / histogram.totalCount;
    if (share < allowedShare(promise, histogram.totalCount)) low = rate;
    else high = rate;
  }
  return (low + high) / 2;
}
