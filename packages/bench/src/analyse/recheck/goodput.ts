/** Bounds of goodput from the printed totals: the number of answers and the seconds they took. */

import { present } from '../../plan/options.ts';
import type { PrintedTest } from './autocannon.ts';
import type { Range } from './figures.ts';

/** Bounds of goodput from the totals of a test. Rates are in requests per second. */
export interface Goodput {
  /** Right answers ÷ the whole duration of the test. Absent if the text does not give the duration. */
  low?: number;
  /** Right answers ÷ the requested duration. Absent if it is unknown. */
  high?: number;
  /** The possible shift of either bound due to the rounding of the printed figures. */
  slack: number;
  /** The source of the count of answers: average × ticks, the exact count of responses, or requests sent. */
  from: 'ticks' | 'responses' | 'sent';
  /** Every answer, right or wrong; absent where only the requests sent are known. */
  answers?: number;
  /** Right answers: 2xx with the expected body, as far as the text shows. */
  right: Range;
  elapsedSeconds?: number;
  /** The seconds that the upper bound divides by. */
  leastSeconds?: number;
}

/** The printed average compared with the bounds. */
export type Verdict = 'too-high' | 'within' | 'consistent' | 'too-low';

/** The lines of a table that bounds would need. */
export interface Missing {
  missing: ('average' | 'samples' | 'totals')[];
}

/** The line `N requests in S s` compared with the answers counted per tick. */
export interface TotalsCheck {
  /** Sent, less answers and errors: requests in flight at the end, or lost without an error. */
  unanswered: Range;
  /** The most requests that can be in flight at once. */
  inFlight?: number;
  /** `lost`: more than that; `few`: fewer than a closed loop has in flight; `contradiction`: fewer than 0. */
  verdict: 'agrees' | 'lost' | 'few' | 'contradiction';
}

/**
 * A histogram of three digits keeps a count to within 1/2048 of itself (hdr-histogram: 2048 sub-buckets, the mean is
 * taken from their middles), and the mean is rounded up to 0.01.
 */
const BUCKET_ERROR = 1 / 2048;
const MEAN_ERROR = 0.01;
/** Elapsed seconds are rounded to 0.01. */
const ELAPSED_ERROR = 0.005;
/** In a closed loop, every connection has requests in flight when the test ends: nearly all, because of rounding. */
const FULL = 0.9;
/** Bounds this close to each other, and to the printed figure, are consistent. */
const CLOSE = 0.02;

/** The most requests in flight at once; undefined if the text does not give the connections. */
export function capacityOf({ connections, pipelining = 1, workers = 1 }: PrintedTest): number | undefined {
  if (connections === undefined) return undefined;
  // Each worker gets a whole number of connections, at least one.
  return Math.max(1, Math.floor(connections / workers)) * workers * pipelining;
}

/** The ticks behind the average: the samples of all workers are added up, but their ticks are merged. */
export function ticksOf({ samples, workers = 1 }: PrintedTest): number | undefined {
  return samples === undefined ? undefined : samples / workers;
}

/** The number of answers of a test and its range; undefined without printed ticks or responses. */
export function answersOf(
  test: PrintedTest,
): { count: number; range: Range; from: 'ticks' | 'responses' } | undefined {
  const { responses, requests } = test;
  if (responses !== undefined) {
    const count = responses.ok + responses.other;
    return { count, range: { low: count, high: count }, from: 'responses' };
  }
  const ticks = ticksOf(test);
  if (ticks === undefined || requests === undefined) return undefined;
  const count = Math.round(requests.average * ticks);
  const error = count * BUCKET_ERROR;
  const low = requests.average * Math.floor(ticks) - MEAN_ERROR * ticks - error;
  return { count, range: { low, high: count + error }, from: 'ticks' };
}

/** Bounds the goodput of a test by its totals, or lists the lines that are missing for that. */
export function boundGoodput(test: PrintedTest): Goodput | Missing {
  const { elapsedSeconds } = test;
  const counted = answersOf(test);
  const right = counted === undefined ? rightOfSent(test) : rightOf(test, counted.count);
  if (right === undefined || (elapsedSeconds === undefined && test.nominalSeconds === undefined)) {
    return { missing: missingOf(test) };
  }
  const leastSeconds = leastSecondsOf(test, elapsedSeconds);
  const spread =
    counted === undefined
      ? 0
      : Math.max(counted.range.high - counted.count, counted.count - counted.range.low);
  const seconds = leastSeconds ?? elapsedSeconds ?? Number.POSITIVE_INFINITY;
  const bySeconds =
    elapsedSeconds === undefined ? 0 : (right.high / elapsedSeconds) * (ELAPSED_ERROR / elapsedSeconds);
  return {
    ...present({
      low: elapsedSeconds === undefined ? undefined : right.low / elapsedSeconds,
      high: leastSeconds === undefined ? undefined : right.high / leastSeconds,
      answers: counted?.count,
      elapsedSeconds,
      leastSeconds,
    }),
    slack: spread / seconds + bySeconds,
    from: counted?.from ?? 'sent',
    right,
  };
}

/** The right answers: all answers less the wrong ones that the text shows. */
function rightOf({ responses, mismatches }: PrintedTest, answers: number): Range {
  const ok = answers - (responses?.other ?? 0);
  return { low: Math.max(0, ok - (mismatches?.high ?? 0)), high: ok - (mismatches?.low ?? 0) };
}

/** The right answers by the requests sent: the lower end excludes all that may be unanswered. */
function rightOfSent(test: PrintedTest): Range | undefined {
  const { sent, errors, pipelining = 1, mismatches, requests } = test;
  const capacity = capacityOf(test);
  if (sent === undefined || capacity === undefined || requests === undefined) return undefined;
  const unanswered = capacity + (errors?.high ?? 0) * pipelining + (mismatches?.high ?? 0);
  return {
    low: Math.max(0, sent.low - unanswered),
    high: sent.high - (errors?.low ?? 0) - (mismatches?.low ?? 0),
  };
}

/** The shortest time in which all answers can have arrived, in seconds. */
function leastSecondsOf(test: PrintedTest, elapsed: number | undefined): number | undefined {
  const { nominalSeconds } = test;
  if (nominalSeconds !== undefined) return Math.min(nominalSeconds, elapsed ?? nominalSeconds);
  const ticks = ticksOf(test);
  if (test.amount === undefined || elapsed === undefined || ticks === undefined || ticks <= 1)
    return undefined;
  // A test with a number of requests ends at the tick after the last answer: up to one tick was idle.
  return elapsed - elapsed / ticks;
}

function missingOf({ requests, samples, elapsedSeconds, responses }: PrintedTest): Missing['missing'] {
  const missing: Missing['missing'] = [];
  if (requests === undefined) missing.push('average');
  if (samples === undefined && responses === undefined) missing.push('samples');
  if (elapsedSeconds === undefined) missing.push('totals');
  return missing;
}

/** Compares the printed average with the bounds; undefined if it or the decisive bound is missing. */
export function judgePrinted({ requests }: PrintedTest, bounds: Goodput | Missing): Verdict | undefined {
  if ('missing' in bounds || requests === undefined) return undefined;
  const { low, high, slack } = bounds;
  const { average } = requests;
  if (high !== undefined && average > Math.max(high * (1 + CLOSE / 2), high + slack)) return 'too-high';
  if (low !== undefined && average < low * (1 - CLOSE / 2) - slack) return 'too-low';
  if (low === undefined || high === undefined) return undefined;
  return high <= low * (1 + CLOSE) ? 'consistent' : 'within';
}

/** Compares the requests sent with answers and errors; undefined if one of them is not printed. */
export function checkTotals(test: PrintedTest): TotalsCheck | undefined {
  const { sent, errors, timeouts, pipelining = 1, amount } = test;
  const counted = answersOf(test);
  if (sent === undefined || counted === undefined) return undefined;
  // A broken connection loses its whole pipeline; a timeout is counted once per request in it.
  const lost = (count: number, late: number): number => (count - late) * pipelining + late;
  const failed: Range = {
    low: lost(errors?.low ?? 0, Math.min(timeouts?.high ?? 0, errors?.low ?? 0)),
    high: lost(errors?.high ?? 0, timeouts?.low ?? 0),
  };
  const unanswered: Range = {
    low: sent.low - counted.range.high - failed.high,
    high: sent.high - counted.range.low - failed.low,
  };
  const inFlight = amount === undefined ? capacityOf(test) : 0;
  return { unanswered, ...present({ inFlight }), verdict: judgeTotals(unanswered, inFlight) };
}

function judgeTotals({ low, high }: Range, inFlight = Number.POSITIVE_INFINITY): TotalsCheck['verdict'] {
  if (high < 0) return 'contradiction';
  if (low > inFlight) return 'lost';
  return Number.isFinite(inFlight) && high < inFlight * FULL ? 'few' : 'agrees';
}
