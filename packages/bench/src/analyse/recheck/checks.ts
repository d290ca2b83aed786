/** What else a table gives away about itself: Little's law, the length of a tick, the tail, the errors. */

import { present } from '../../plan/options.ts';
import type { PrintedTest } from './autocannon.ts';
import type { Range } from './figures.ts';
import { answersOf, capacityOf, ticksOf, type Goodput, type Missing } from './goodput.ts';

/** Little's law, `connections = throughput x latency`, on the printed figures and on the bounds. */
export interface LittleCheck {
  capacity: number;
  /** The true mean lies here: the histogram cuts every latency to whole milliseconds. */
  latencyMs: Range;
  /** Connections that the printed average keeps busy. */
  needed: Range;
  /** How many times the connections there were. */
  factor: Range;
  verdict: 'too-many' | 'agrees' | 'idle';
  /** The same for goodput: from its lower bound at the shorter mean to its upper at the longer. */
  neededByGoodput?: Range;
  /** Even the lower bound of goodput needs more connections than there were: the printed mean is too long. */
  latencyTooLong: boolean;
  /** Requests a second that the connections can carry at the printed mean. */
  carried?: Range;
}

/** The ticks that the average is over, against the clock. */
export interface TickCheck {
  ticks: number;
  meantSeconds: number;
  /** How many there should be in the time asked for. */
  expected?: number;
  /** How long one lasted on average. */
  seconds?: number;
  stretched: boolean;
  /** The same number from bytes: read in all, over read in an average tick. */
  byBytes?: Range;
  contradiction: boolean;
}

/** What the latencies of a table can and cannot be read as. */
export interface LatencyCheck {
  meanMs: Range;
  /** The share of the answers that were a connection's first, and so include its connect. */
  firstShare?: number;
  /** Percentiles past the seconds after which a lost SYN is sent again, beside a median far below. */
  retransmits: { name: string; ms: number; mark: number }[];
  /** The longest latency, if it is longer than a request may take by default though none was timed out. */
  pastTimeoutMs?: number;
}

/** Requests that were never answered. */
export interface ErrorCheck {
  /** Of answers and errors together, or of the requests sent where the answers are not known. */
  share: Range;
  ranked: boolean;
}

/** How far Little's law may be off before it is said. */
const TOLERANCE = 0.05;
/** Seconds after which a SYN has been sent once, twice, three and four times more (1, 2, 4, 8 s apart). */
const SYN_MARKS_MS = [1000, 3000, 7000, 15_000];
/** Accept queues are at least this long: with fewer connections none is dropped. */
const LEAST_BACKLOG = 100;
/** Autocannon's default. */
const TIMEOUT_MS = 10_000;
/** Above this share of errors a figure is not fit for a ranking. */
const ERRORS_RANKED = 0.001;

/** Undefined where connections, mean latency or average are not printed. */
export function checkLittle(test: PrintedTest, goodput: Goodput | Missing): LittleCheck | undefined {
  const capacity = capacityOf(test);
  const { latencyMs, requests, tickSeconds = 1 } = test;
  if (capacity === undefined || latencyMs === undefined || requests === undefined) return undefined;
  const mean = meanOf(latencyMs.average);
  const busy = (low: number, high: number): Range => ({
    low: (low * mean.low) / 1000,
    high: (high * mean.high) / 1000,
  });
  const rate = requests.average / tickSeconds;
  const needed = busy(rate, rate);
  const factor = { low: needed.low / capacity, high: needed.high / capacity };
  const { low, high } = 'missing' in goodput ? {} : goodput;
  const neededByGoodput = low === undefined || high === undefined ? undefined : busy(low, high);
  return {
    capacity,
    latencyMs: mean,
    needed,
    factor,
    verdict: factor.low > 1 + TOLERANCE ? 'too-many' : factor.high < 1 - TOLERANCE ? 'idle' : 'agrees',
    ...present({
      neededByGoodput,
      carried:
        mean.low > 0 ? { low: (capacity / mean.high) * 1000, high: (capacity / mean.low) * 1000 } : undefined,
    }),
    latencyTooLong: (neededByGoodput?.low ?? 0) > capacity * (1 + TOLERANCE),
  };
}

/** A mean of latencies that were each cut to whole milliseconds stands for up to one millisecond more. */
function meanOf(printed: number): Range {
  return { low: printed, high: printed + 1 };
}

/** Undefined where the number of samples is not printed. */
export function checkTicks(test: PrintedTest): TickCheck | undefined {
  const ticks = ticksOf(test);
  if (ticks === undefined || ticks === 0) return undefined;
  const { tickSeconds = 1, elapsedSeconds, nominalSeconds, bytesRead, bytesAverage } = test;
  const seconds = elapsedSeconds === undefined ? undefined : elapsedSeconds / ticks;
  const expected = nominalSeconds === undefined ? undefined : nominalSeconds / tickSeconds;
  const byBytes =
    bytesRead === undefined || bytesAverage === undefined || bytesAverage.low <= 0
      ? undefined
      : { low: bytesRead.low / bytesAverage.high, high: bytesRead.high / bytesAverage.low };
  return {
    ticks,
    meantSeconds: tickSeconds,
    ...present({ expected, seconds, byBytes }),
    stretched: (seconds ?? 0) > tickSeconds * (1 + TOLERANCE) || ticks < (expected ?? 0) * (1 - TOLERANCE),
    contradiction: byBytes !== undefined && (ticks < byBytes.low * 0.99 || ticks > byBytes.high * 1.01),
  };
}

/** Undefined without a latency table. */
export function checkLatency(test: PrintedTest): LatencyCheck | undefined {
  const { latencyMs, connections, timeouts } = test;
  if (latencyMs === undefined) return undefined;
  const answers = answersOf(test)?.count;
  const past = latencyMs.max !== undefined && latencyMs.max > TIMEOUT_MS && (timeouts?.high ?? 0) === 0;
  return {
    meanMs: meanOf(latencyMs.average),
    ...present({
      firstShare:
        connections === undefined || answers === undefined || answers === 0
          ? undefined
          : Math.min(1, connections / answers),
      pastTimeoutMs: past ? latencyMs.max : undefined,
    }),
    retransmits: (connections ?? LEAST_BACKLOG) < LEAST_BACKLOG ? [] : findRetransmits(test),
  };
}

function findRetransmits({ latencyMs }: PrintedTest): LatencyCheck['retransmits'] {
  const { p50, p97_5, p99, max } = latencyMs ?? {};
  const [first = 0] = SYN_MARKS_MS;
  if (p50 === undefined || p50 * 2 >= first) return [];
  return Object.entries({ '97.5 %': p97_5, '99 %': p99, 'the longest': max }).flatMap(([name, ms]) => {
    const mark = SYN_MARKS_MS.findLast((at) => ms !== undefined && ms >= at);
    return ms === undefined || mark === undefined ? [] : [{ name, ms, mark: mark / 1000 }];
  });
}

/** Undefined where no errors are printed, or nothing to hold them against. */
export function checkErrors(test: PrintedTest): ErrorCheck | undefined {
  const { errors, sent } = test;
  const answered = answersOf(test)?.count;
  const of = sent === undefined ? undefined : (sent.low + sent.high) / 2;
  if (errors === undefined || (answered === undefined && of === undefined)) return undefined;
  const share = (count: number): number => {
    const all = answered === undefined ? (of ?? 0) : answered + count;
    return all === 0 ? 0 : count / all;
  };
  return {
    share: { low: share(errors.low), high: share(errors.high) },
    ranked: share(errors.high) <= ERRORS_RANKED,
  };
}
