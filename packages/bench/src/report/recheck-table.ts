/** Sentences on the figures of one autocannon table and what they prove. */

import type { PrintedTest } from '../analyse/recheck/autocannon.ts';
import type { TickCheck } from '../analyse/recheck/checks.ts';
import type { Range } from '../analyse/recheck/figures.ts';
import type { Goodput, Missing } from '../analyse/recheck/goodput.ts';
import type { CheckedTest } from '../analyse/recheck/recheck.ts';

/** A named paragraph. */
export type Note = readonly [name: string, text: string];

const MISSING: Record<Missing['missing'][number], string> = {
  average: 'the row Req/Sec',
  samples: 'the line "# of samples"',
  totals: 'the line "… requests in …s, … read"',
};

/** Describes one table: the printed figures, the goodput that they prove, and the reasons. */
export function describeTable(test: CheckedTest): Note[] {
  return [
    ['printed', sayPrinted(test.printed)],
    ['shows', sayShown(test)],
    ...note('goodput', sayGoodput(test)),
    ...note('totals', sayTotals(test)),
    ...note('ticks', sayTicks(test)),
    ...note("Little's law", sayLittle(test)),
    ...note('latency', sayLatency(test)),
    ...note('errors', sayErrors(test)),
  ];
}

function sayPrinted({
  requests,
  latencyMs,
  connections,
  nominalSeconds,
  amount,
  warmup,
}: PrintedTest): string {
  const parts = [
    requests === undefined ? 'no Req/Sec' : `${figure(requests.average)} req/s on average`,
    latencyMs === undefined ? 'no latencies' : `${figure(latencyMs.average)} ms mean latency`,
    connections === undefined ? 'connections unknown' : count(connections, 'connection'),
    nominalSeconds === undefined
      ? amount === undefined
        ? 'duration unknown'
        : count(amount, 'request')
      : `${nominalSeconds} s`,
  ];
  return `${parts.join(', ')}${warmup === undefined ? '' : '; a warm-up, not the test'}`;
}

function sayShown({ printed, goodput, verdict }: CheckedTest): string {
  if ('missing' in goodput) {
    return 'no goodput and no bounds: the text does not say over what time the average was counted.';
  }
  const shown = sayBounds(goodput);
  const { low, high } = goodput;
  const average = printed.requests?.average ?? 0;
  if (verdict === undefined) return `${shown}.`;
  if (verdict === 'too-high')
    return `${shown}: the printed figure is ${sayFactors(average, low, high)} too high.`;
  if (verdict === 'too-low') return `${shown}: the printed figure is below the least that the totals prove.`;
  if (verdict === 'consistent') return `${shown}: the printed figure is nearly consistent with them.`;
  return average >= (high ?? 0) * 0.99
    ? `${shown}: the printed figure lies at the upper end. Nothing in the text raises the lower end.`
    : `${shown}: the printed figure lies within. The text does not narrow it further.`;
}

/** The factors by which an average exceeds its bounds. */
function sayFactors(average: number, low: number | undefined, high = average): string {
  if (high === 0 || low === 0) return 'any number of times';
  const least = (average / high).toFixed(2);
  if (low === undefined) return `at least ${least} times`;
  const most = (average / low).toFixed(2);
  return least === most ? `${least} times` : `${least} to ${most} times`;
}

function sayBounds({ low, high }: Goodput): string {
  if (low === undefined) return `at most ${whole(high ?? 0)} req/s`;
  if (high === undefined) return `at least ${whole(low)} req/s`;
  return whole(low) === whole(high) ? `${whole(low)} req/s` : `${whole(low)} to ${whole(high)} req/s`;
}

function sayGoodput({ printed, goodput, ticks }: CheckedTest): string {
  if ('missing' in goodput) {
    const missing = goodput.missing.map((name) => MISSING[name]);
    if (missing.length === 0)
      return 'bounds need the requested or the measured duration; the text has neither.';
    return `missing: ${missing.join(' and ')}. Without ${missing.length === 1 ? 'it' : 'them'}, the number of answers and the seconds are unknown. The average is a count per tick, and the text does not say how long a tick was.`;
  }
  const { low, high, elapsedSeconds, leastSeconds, slack, right } = goodput;
  const over: string[] = [];
  if (low !== undefined) over.push(`over the ${elapsedSeconds} s of the test: ${whole(low)} per second`);
  if (high !== undefined)
    over.push(
      `if all arrived within ${printed.nominalSeconds === leastSeconds ? `the requested ${leastSeconds} s` : `${figure(leastSeconds ?? 0)} s`}: ${whole(high)}`,
    );
  const wrong =
    right.low === right.high && right.high === goodput.answers ? '' : ` ${sayRight(printed, right)}`;
  const rounding = slack >= 0.5 ? ` Rounding moves these by up to ${Math.ceil(slack)}.` : '';
  return `${sayAnswers(printed, goodput, ticks)}.${wrong} ${capital(over.join('; '))}.${rounding}`;
}

function sayAnswers(
  printed: PrintedTest,
  { answers, from, right }: Goodput,
  ticks: TickCheck | undefined,
): string {
  if (from === 'responses') return `${whole(answers ?? 0)} answers, counted one by one`;
  if (from === 'ticks')
    return `${whole(answers ?? 0)} answers: ${figure(printed.requests?.average ?? 0)} per tick × ${figure(ticks?.ticks ?? 0)} ticks`;
  return `${spread(right)} answers: ${printed.sent?.printed} sent, less errors and requests that may have been in flight`;
}

function sayRight({ responses, mismatches }: PrintedTest, right: Range): string {
  const wrong = [
    ...(responses === undefined || responses.other === 0
      ? []
      : [`${whole(responses.other)} that were not 2xx`]),
    ...(mismatches === undefined ? [] : [`${mismatches.printed} with a different body`]),
  ];
  return wrong.length === 0 ? '' : `Excluding ${wrong.join(' and ')}, ${spread(right)} count.`;
}

function sayTotals({ printed, totals, goodput }: CheckedTest): string | undefined {
  if (totals === undefined || 'missing' in goodput) return undefined;
  const { sent, errors } = printed;
  const left = `${sent?.printed} requests sent, less ${whole(goodput.answers ?? 0)} answers${errors === undefined ? '' : ` and ${errors.printed} errors`}`;
  const { unanswered, inFlight, verdict } = totals;
  if (verdict === 'contradiction') {
    return `${left}, leaves a negative number: the lines contradict each other. The text was altered or mixes two tests.`;
  }
  const between = `leaves ${spread({ low: Math.max(0, unanswered.low), high: unanswered.high })} without an answer`;
  if (inFlight === undefined) return `${left}, ${between}.`;
  if (verdict === 'lost') {
    return `${left}, ${between}, but at most ${whole(inFlight)} can have been in flight at the end: the rest was lost and not counted as errors.`;
  }
  if (verdict === 'few') {
    return `${left}, ${between}, but a closed loop has ${whole(inFlight)} in flight at the end: a rate limit held them back, or this version counts answers on that line.`;
  }
  return printed.amount === undefined
    ? `${left}, ${between}: consistent with up to ${whole(inFlight)} in flight at the end. The line counts requests sent, not answers.`
    : `${left}, ${between}: consistent.`;
}

function sayTicks({ printed, ticks }: CheckedTest): string | undefined {
  if (ticks === undefined) return undefined;
  const { meantSeconds, seconds, stretched, expected, byBytes, contradiction } = ticks;
  const number = `${figure(ticks.ticks)} ${ticks.ticks === 1 ? 'sample' : 'samples'}${expected === undefined ? '' : ` of ${figure(expected)} expected`}${seconds === undefined ? '' : `, one every ${figure(seconds)} s`}`;
  const meaning = stretched
    ? `: autocannon intends ${figure(meantSeconds)} s, its timer ran late, and it does not divide by the time. The average is therefore per tick, not per second.`
    : meantSeconds === 1
      ? ': a tick was one second.'
      : `: the average is per ${figure(meantSeconds)} s, not per second, despite the name of its row.`;
  if (byBytes === undefined) return number + meaning;
  const bytes = `${printed.bytesRead?.printed} read at ${printed.bytesAverage?.printed} per tick`;
  return `${number}${meaning} ${bytes} ${contradiction ? `gives ${fixed(byBytes)} ticks, which contradicts that: the text was altered or mixes two tests.` : 'confirms it.'}`;
}

function sayLittle({ printed, little, goodput, errors }: CheckedTest): string | undefined {
  if (little === undefined) return undefined;
  const { capacity, needed, factor, verdict, neededByGoodput, latencyTooLong, latencyMs, carried } = little;
  const mean = `a mean of ${wide(latencyMs) ? `${figure(latencyMs.low)} to ${figure(latencyMs.high)}` : figure(latencyMs.low)} ms`;
  const average = (printed.requests?.average ?? 0) / (printed.tickSeconds ?? 1);
  const busy = wide(latencyMs) ? `${few(needed.low)} to ${few(needed.high)}` : few(needed.low);
  const first = `${figure(average)} req/s at ${mean} keep ${busy} connections busy`;
  const [there, limit] =
    printed.pipelining === undefined
      ? [`there were ${whole(capacity)}`, `the ${whole(capacity)} that existed`]
      : [
          `up to ${whole(capacity)} requests can be in flight`,
          `the ${whole(capacity)} requests that can be in flight`,
        ];
  const sentences = [
    verdict === 'too-many'
      ? `${first}, ${factor.low.toFixed(2)} times ${limit}. Throughput and latency cannot both be true.`
      : verdict === 'idle'
        ? `${first}; ${there}: the others were waiting to connect, held back by a rate limit, ${printed.amount === undefined ? 'or lost' : 'lost, or done before the last tick'}.`
        : `${first}; ${there}: consistent.`,
  ];
  if (neededByGoodput !== undefined && verdict === 'too-many') {
    sentences.push(
      latencyTooLong
        ? `At the goodput above it is ${spread(neededByGoodput)}, still too many: the mean latency is too long as well${errors === undefined ? '' : ' (after an error, autocannon pairs later answers on that connection with older requests)'}.`
        : `At the goodput above it is ${spread(neededByGoodput)}, which is possible with ${whole(capacity)}.`,
    );
  }
  if ('missing' in goodput && verdict === 'too-many' && carried !== undefined) {
    sentences.push(
      `If the latency is right, the connections can carry ${whole(carried.low)} to ${whole(carried.high)} req/s: a hint, not a bound.`,
    );
  }
  return sentences.join(' ');
}

function sayLatency({ printed, latency }: CheckedTest): string | undefined {
  if (latency === undefined) return undefined;
  const { meanMs, firstShare, retransmits, pastTimeoutMs } = latency;
  const sentences = [
    `truncated to whole milliseconds: the mean is between ${figure(meanMs.low)} and ${figure(meanMs.high)} ms.`,
    `The first request of a connection includes the time to connect${firstShare === undefined ? '' : ` (${percent(firstShare)} of the answers)`}. Unanswered requests are not included.`,
  ];
  if (retransmits.length > 0) {
    const seen = retransmits.map(({ name, ms, mark }) => `${name} at ${whole(ms)} ms (past ${mark} s)`);
    sentences.push(
      `With a median of ${whole(printed.latencyMs?.p50 ?? 0)} ms, ${join(seen)} fit SYNs that an overflowing accept queue dropped and that were sent again after 1, 3 and 7 s. That is time spent connecting, not waiting for an answer. The table cannot prove it.`,
    );
  }
  if (pastTimeoutMs !== undefined) {
    sentences.push(
      `${whole(pastTimeoutMs)} ms is longer than autocannon's default timeout of 10 s, yet none is reported: another timeout was set, or its timers ran late.`,
    );
  }
  return sentences.join(' ');
}

function sayErrors({ printed, errors }: CheckedTest): string | undefined {
  if (errors === undefined) return undefined;
  const { share, ranked } = errors;
  const of = `${printed.errors?.printed} ${printed.errors?.printed === '1' ? 'error is' : 'errors are'} ${percentages(share)} of answers and errors together`;
  return ranked ? `${of}.` : `${of}: above 0.1 %, a figure cannot be ranked.`;
}

function note(name: string, text: string | undefined): Note[] {
  return text === undefined ? [] : [[name, text]];
}

const WHOLE = new Intl.NumberFormat('en-US');
const TWO_DECIMALS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** A count as a whole number. */
function whole(value: number): string {
  return WHOLE.format(Math.round(value));
}

/** A figure as it would be printed: up to two decimals. */
function figure(value: number): string {
  return TWO_DECIMALS.format(value);
}

/** A number of connections: whole, or with one decimal below 100. */
function few(value: number): string {
  return value < 100 ? value.toFixed(1) : whole(value);
}

function spread({ low, high }: Range): string {
  return whole(low) === whole(high) ? whole(low) : `${whole(low)} to ${whole(high)}`;
}

function fixed({ low, high }: Range): string {
  return `${low.toFixed(1)} to ${high.toFixed(1)}`;
}

function wide({ low, high }: Range): boolean {
  return high > low * 1.01;
}

function percent(share: number): string {
  return share < 0.001 ? 'under 0.1 %' : `${(share * 100).toFixed(1)} %`;
}

function percentages({ low, high }: Range): string {
  return percent(low) === percent(high) ? percent(low) : `${percent(low)} to ${percent(high)}`;
}

/** `1 table`, `2 tables`. */
export function count(number: number, noun: string): string {
  return `${whole(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function join(parts: string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
