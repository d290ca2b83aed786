/** Further checks of one table: Little's law, the length of a tick, the tail, the errors. */

import { present } from '../../plan/options.ts';
import type { PrintedTest } from './autocannon.ts';
import type { Range } from './figures.ts';
import { answersOf, capacityOf, ticksOf, type Goodput, type Missing } from './goodput.ts';

/** Little's law, `connections = throughput x latency`, on the printed figures and on the bounds. */
export interface LittleCheck {
  capacity: number;
  /** The range of the true mean: the histogram truncates every latency to whole milliseconds. */
  latencyMs: Range;
  /** Connections that the printed average keeps busy. */
  needed: Range;
  /** The needed connections ÷ the existing ones. */
  factor: Range;
  verdict: 'too-many' | 'agrees' | 'idle';
  /** The same for goodput: from its lower bound at the shorter mean to its upper bound at the longer. */
  neededByGoodput?: Range;
  /** True if even the lower bound of goodput needs more connections than existed: the printed mean is too long. */
  latencyTooLong: boolean;
  /** Requests a second that the connections can carry at the printed mean. */
  carried?: Range;
}

/** The ticks behind the average, compared with the clock. */
export interface TickCheck {
  ticks: number;
  meantSeconds: number;
  /** The number of ticks in the requested time. */
  expected?: number;
  /** The mean length of a tick. */
  seconds?: number;
  stretched: boolean;
  /** The number of ticks by bytes: total read ÷ read in an average tick. */
  byBytes?: Range;
  contradiction: boolean;
}

/** The limits of a table's latencies. */
export interface LatencyCheck {
  meanMs: Range;
  /** The share of answers that were the first of their connection, and so include the time to connect. */
  firstShare?: number;
  /** Percentiles beyond the retransmission times of a lost SYN, with a much lower median. */
  retransmits: { name: string; ms: number; mark: number }[];
  /** The longest latency, if it exceeds the default timeout although no timeout was reported. */
  pastTimeoutMs?: number;
}

/** Requests that were never answered. */
export interface ErrorCheck {
  /** The share of answers and errors together, or of the requests sent if the answers are unknown. */
  share: Range;
  ranked: boolean;
}

/** The tolerated deviation from Little's law. */
const TOLERANCE = 0.05;
/** The times of the first four retransmissions of a SYN (1, 2, 4, 8 s apart). */
const SYN_MARKS_MS = [1000, 3000, 7000, 15_000];
/** The shortest usual accept queue: fewer connections cannot overflow it. */
const LEAST_BACKLOG = 100;
/** Autocannon's default. */
const TIMEOUT_MS = 10_000;
/** Above this share of errors, a figure cannot be ranked. */
const ERRORS_RANKED = 0.001;

/** Checks Little's law; undefined without printed connections, mean latency and average. */
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

/** The range of a mean whose latencies were truncated to whole milliseconds: up to one millisecond more. */
function meanOf(printed: number): Range {
  return { low: printed, high: printed + 1 };
}

/** Checks the ticks; undefined without a printed number of samples. */
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

/** Checks the latencies; undefined without a latency table. */
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

/** Checks the errors; undefined without printed errors, or without answers or requests to compare them with. */
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
