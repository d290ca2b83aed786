/** Every problem that a trial can have: one row per reason. Nothing else decides the meaning of a reason. */
import { describeCount } from './counts.ts';
import { METRIC_IDS, METRICS, metricsOf, type MetricId } from './metrics.ts';
import type { Interval } from './interval.ts';
import type { FirstWrong } from './load.ts';
import { describeBytes } from './units.ts';

/** The factors between which the true figures lie, relative to those of a trial; a metric or an end that is absent has no bound. */
export type Bounds = Partial<Record<MetricId, Partial<Interval>>>;

/** The reason why a trial is not simply `ok`: the observation, in words and figures, and the metrics that it invalidates. */
export interface Reason {
  code: ReasonCode;
  text: string;
  invalidates: MetricId[];
  bounds?: Bounds;
}

/** The meaning of a reason. */
type Definition<Facts> = Fatal<Facts> | Doubt<Facts>;

interface Base<Facts> {
  /** The metrics that it invalidates; empty if it only explains. */
  invalidates: readonly MetricId[];
  text: (facts: Facts) => string;
}

/** The trial has failed: none of its figures may be used. */
interface Fatal<Facts> extends Base<Facts> {
  isFatal: true;
}

interface Doubt<Facts> extends Base<Facts> {
  isFatal?: never;
  /** Completes "In 3 of 60 trials, …", for a summary of many trials. */
  summary: string;
  /** Set if it is about the server, in whichever trial it was found: a summary has its whole text. */
  isOfServer?: true;
  /** What to do if it leaves too many figures without a bound. */
  cure?: string;
  /** The invalidated metrics whose figure is still a lower bound. */
  lowerBounds?: readonly MetricId[];
  /** The invalidated metrics whose ratio is still valid between servers that take turns, because it affects them alike. */
  cancelsInTurns?: readonly MetricId[];
  /** Says how far the figures can be from the truth, as factors of them. An invalidated metric without bounds may be anything. */
  bounds?: (facts: Facts) => Bounds;
}

const ALL = METRIC_IDS;
const NONE: readonly MetricId[] = [];
const UNDER_LOAD = metricsOf('pace', 'latency', 'tail', 'cpu', 'memory');
const RATES = metricsOf('pace');
const RATES_AND_CPU = metricsOf('pace', 'cpu');
const RATES_AND_CAPACITY = metricsOf('pace', 'capacity');
const RATES_CPU_AND_CAPACITY = metricsOf('pace', 'cpu', 'capacity');
const RATES_AND_MEMORY = metricsOf('pace', 'memory');
const LATENCY = metricsOf('latency');
const TAIL = metricsOf('tail');
const MEDIAN = LATENCY.filter((id) => !TAIL.includes(id));
const GOODPUT: readonly MetricId[] = ['goodput'];
const CPU: readonly MetricId[] = ['cpu'];
const CAPACITY: readonly MetricId[] = ['capacity'];
/** Percentiles include the unanswered requests, as lower bounds. */
const UNANSWERED = UNDER_LOAD.filter((id) => !LATENCY.includes(id));

/** A reason that fails the trial. */
function fatal<Facts>(text: (facts: Facts) => string): Fatal<Facts> {
  return { isFatal: true, invalidates: ALL, text };
}

/** A thrown failure: its message is the text. */
const thrown = fatal(({ message }: { message: string }) => message);

/** A companion that was saturated. */
const saturated = (companion: string) => ({
  invalidates: RATES,
  lowerBounds: GOODPUT,
  summary: `the ${companion} was saturated`,
  cure: 'Lower the rate, or use fewer connections',
  text: (use: Saturated) =>
    `the ${companion} used ${shareOf(use)}: goodput is a lower bound, and latency includes the ${companion}'s delays`,
});

/** Rows that ran out. `lives` are the trials that share the file; `needed` are the rows that it would need, the checks included. */
export interface RowsFacts {
  file: string;
  rows: number;
  seconds: number;
  lives: number;
  needed?: number | undefined;
}

function describeRows(rows: number, lives: number): string {
  const all = `${rows.toLocaleString('en-US')} rows`;
  return lives === 1 ? `its ${all}` : `the ${all} of one of ${lives.toLocaleString('en-US')} loads`;
}

const DEFINITIONS = {
  trial: thrown,
  upstream: thrown,
  database: thrown,
  /** The failure of a companion that has no separate row. */
  companion: thrown,
  defect: thrown,
  'not-stopped': fatal(({ message }: { message: string }) => `the server could not be stopped: ${message}`),
  'port-held': fatal(
    ({ port, by }: { port: number; by: string }) => `port ${port} is still open after the stop: ${by}`,
  ),
  'ignored-sigterm': {
    invalidates: NONE,
    summary: 'the server ignored the signal to stop and was killed',
    text: ({ signal, seconds }: { signal: string; seconds: number }) =>
      `the server ignored ${signal} for ${seconds} s and was killed`,
  },
  'not-verified': {
    invalidates: NONE,
    summary: 'the server could not be verified after the load',
    text: ({ problem, inFlight }: { problem: string; inFlight: number }) =>
      `${problem}: ${inFlight} requests were still unanswered when the load ended`,
  },
  'same-code': fatal(
    ({ other, files }: { other: string; files: number }) =>
      `the server ran the same code as ${other} (${files} files with the same contents)`,
  ),
  'rows-used-up': fatal(({ file, rows, seconds, lives, needed }: RowsFacts) =>
    [
      `each row of ${file} is sent once, and ${describeRows(rows, lives)} were used up`,
      seconds > 0 ? ` after ${seconds.toFixed(1)} s of load` : ' before the load began',
      needed === undefined ? '' : `: it takes about ${needed.toLocaleString('en-US')}`,
    ].join(''),
  ),
  accounting: fatal(
    ({ sent, accounted, host }: { sent: number; accounted: number; host?: string | undefined }) =>
      `${from(host)}${sent} requests were sent, but ${accounted} are accounted for: this is a bug in Bench`,
  ),
  'generators-missing': fatal(
    ({ planned, missing }: { planned: number; missing: readonly { host: string; why: string }[] }) =>
      `${missing.length} of ${planned} load generators did not report: ${missing.map(({ host, why }) => `${host}: ${why}`).join('; ')}`,
  ),
  'host-lost': fatal(
    ({ host, task, why }: { host: string; task: string; why: string }) => `${host} did not ${task}: ${why}`,
  ),
  skew: fatal(
    ({ host, skewMs, clockErrorMs, allowedSkewMs }: Skew) =>
      `${host} opened its window ${figureMs(Math.abs(skewMs))} ${skewMs < 0 ? 'before' : 'after'} the plan, and its clock is known to ± ${figureMs(clockErrorMs)}: ${figureMs(allowedSkewMs)} are allowed`,
  ),
  'crossed-answers': fatal(({ count }: { count: number }) => `${count} answers belonged to another request`),
  'wrong-body': fatal(
    ({ count, first }: { count: number; first?: FirstWrong | undefined }) =>
      `${count} answers had a wrong body${first === undefined ? '' : `, the first ${describeWrong(first)}`}`,
  ),
  unsolicited: fatal(
    ({ count }: { count: number }) =>
      `${count === 1 ? '1 answer' : `${figure(count)} answers`} arrived without a request: the server answers some requests more than once`,
  ),
  'no-answers': fatal(
    ({
      planned,
      established,
      seen,
    }: {
      planned: number;
      established: number | undefined;
      seen: [string, number][];
    }) =>
      `no right answer in the window; ${established ?? 'an unknown number'} of ${planned} connections were established: ${list(seen) || 'no requests'}`,
  ),
  'not-all-established': {
    invalidates: RATES_AND_MEMORY,
    summary: 'some connections were not established',
    cure: 'Use fewer connections, or a longer listen backlog',
    text: ({ planned, established, refused }: { planned: number; established: number; refused: number }) => {
      const why =
        refused > 0
          ? `${refused} connects were refused or failed`
          : `${planned - established} never answered`;
      return `${established} of ${planned} connections were established when the window opened: ${why}`;
    },
  },
  errors: {
    invalidates: UNDER_LOAD,
    summary: 'requests failed',
    cure: 'Find out why requests fail',
    bounds: boundErrors,
    text: (facts: Errors) =>
      `${(facts.share * 100).toFixed(2)} % of the requests failed (${list(facts.kinds)})${describeBounds(boundErrors(facts))}`,
  },
  stall: {
    invalidates: NONE,
    summary: 'a few answers stalled',
    text: ({ count, aboveUs, slowestUs, tail, tailUs }: Stall) =>
      `${count === 1 ? '1 answer above' : `${figure(count)} answers above`} ${describeTime(aboveUs)} ${count === 1 ? 'was' : 'were'} stalled: the slowest took ${describeTime(slowestUs)}, while ${tail.replace('_', '.')} is ${describeTime(tailUs)}`,
  },
  unanswered: {
    invalidates: UNANSWERED,
    summary: 'requests were never answered',
    cure: 'Find out which requests hang',
    text: describeUnanswered,
  },
  'few-unanswered': {
    invalidates: NONE,
    summary: 'a few requests were never answered',
    text: describeUnanswered,
  },
  little: {
    invalidates: RATES_AND_MEMORY,
    summary: 'some requests were lost or not served, or the pace changed too much',
    text: (facts: Served | Open) => {
      if ('open' in facts)
        return `rate and latency account for ${digits(facts.served)} open requests, but ${digits(facts.open)} were open on average (Little's law): some were lost, or their latencies are wrong`;
      const { served, planned, silent, host } = facts;
      const found =
        served <= planned
          ? `rate and cycle time account for only ${served} of ${planned} connections (Little's law): the others were not served`
          : `rate and cycle time account for ${served} connections, but there are ${planned} (Little's law): the pace changed too much`;
      return `${from(host)}${found}${silent > 0 ? `; ${silent} got no answer in the window` : ''}`;
    },
  },
  pairing: {
    invalidates: LATENCY,
    summary: 'the latency contradicts the pace',
    text: ({ meanUs, cycleUs }: { meanUs: number; cycleUs: number }) =>
      `a mean latency of ${Math.round(meanUs)} µs is impossible: the mean cycle of a connection was ${Math.round(cycleUs)} µs`,
  },
  'late-reads': {
    invalidates: LATENCY,
    summary: 'a busy load generator read answers late',
    text: describeLateReads,
  },
  'late-tail': {
    invalidates: TAIL,
    summary: 'a busy load generator read the slowest answers late',
    text: describeLateReads,
  },
  'late-starts': {
    invalidates: MEDIAN,
    summary: 'the load generator sent requests late',
    text: describeLateStarts,
  },
  'late-starts-tail': {
    invalidates: TAIL,
    summary: 'the load generator sent some requests late',
    text: describeLateStarts,
  },
  'late-sample': {
    invalidates: CPU,
    summary: 'CPU was read too late',
    bounds: ({ seconds, windowSeconds }) => ({ cpu: { low: 1, high: seconds / windowSeconds } }),
    text: ({ seconds, windowSeconds }: { seconds: number; windowSeconds: number }) =>
      `CPU was read over ${seconds.toFixed(1)} s, but the window lasted ${windowSeconds.toFixed(1)} s: Bench was stopped or got no CPU`,
  },
  overrun: {
    invalidates: RATES,
    summary: 'the server could not keep up with the rate',
    cure: 'Lower the rate',
    text: ({ offered, served }: { offered: number; served: number }) =>
      `offered ${figure(offered)}/s, served ${figure(Math.round(served))}/s: the queue grew by ${figure(Math.round(offered - served))}/s`,
  },
  'generator-bound': {
    invalidates: RATES,
    lowerBounds: GOODPUT,
    summary: 'the load generator was saturated',
    cure: 'Lower the rate, or use fewer connections',
    text: ({ busy, coresUsed, host }: Saturation) => {
      const beside = coresUsed === undefined ? '' : ` while the server used ${coresUsed.toFixed(2)} cores`;
      return `the generator ${host === undefined ? '' : `on ${host} `}was ${Math.round(busy * 100)} % busy${beside}: goodput is a lower bound, and latency includes the generator's delays`;
    },
  },
  'promise-kept': {
    invalidates: CAPACITY,
    lowerBounds: CAPACITY,
    summary: 'the promise did not break at any rate that the load generator reached',
    cure: 'Use more generators: --generators 2',
    text: ({ perSecond, busy, reach }: { perSecond: number; busy: number; reach: number }) =>
      `the promise held at every rate that the load generator could judge, up to ${figure(perSecond)}/s; the generator was ${Math.round(busy * 100)} % busy at most, and reaches about ${figure(reach)}/s`,
  },
  'promise-broken': {
    invalidates: CAPACITY,
    bounds: () => ({ capacity: { high: 1 } }),
    summary: 'the promise was broken at the lowest rate',
    cure: 'Promise less, or measure for longer: --duration',
    text: ({
      promise,
      perSecond,
      brokenShare,
    }: {
      promise: string;
      perSecond: number;
      brokenShare: number;
    }) =>
      `${promise} was broken at every rate, down to ${digits(perSecond)}/s, where ${digits(100 * brokenShare)} % of the requests broke it: the capacity is lower`,
  },
  'promise-rarely-kept': {
    invalidates: NONE,
    summary: 'the capacity is probably lower',
    text: ({ promise, kept, loads }: { promise: string; kept: number; loads: number }) =>
      `${kept} of ${loads} loads kept ${promise}: some requests probably break it without any load, and the capacity is lower. Promise less to know it`,
  },
  'few-answers': {
    invalidates: CAPACITY,
    summary: 'too few answers to judge the promise',
    cure: 'Use a longer --duration',
    bounds: ({ deviation }) => ({
      capacity: { low: Math.exp(-2 * deviation), high: Math.exp(2 * deviation) },
    }),
    text: ({
      answers,
      needed,
      promise,
    }: {
      answers: number;
      needed: number;
      promise: string;
      /** The standard deviation of the logarithm of the capacity. */
      deviation: number;
    }) =>
      `${promise} was judged on ${figure(answers)} answers near the capacity, and needs ${figure(needed)}: use a longer --duration`,
  },
  'upstream-bound': saturated('upstream'),
  'database-bound': saturated('database'),
  'upstream-count': fatal(({ ok, fetches, requests, isShort }: UpstreamCount) => {
    const answered = `${figure(ok)} answers need ${fetches} fixtures each`;
    return isShort
      ? `${answered}, but the upstream got only ${figure(requests)} requests: the server may have cached fixtures`
      : `${answered}, but the upstream got ${figure(requests)} requests: more than needed`;
  }),
  'upstream-failed': {
    invalidates: UNDER_LOAD,
    summary: 'the upstream left requests unanswered',
    text: ({ count }: { count: number }) =>
      `${figure(count)} requests were answered with 502: the upstream did not answer the server`,
  },
  'upstream-slow': {
    invalidates: RATES,
    summary: 'the upstream was slow',
    text: ({ fetchUs }: { fetchUs: number }) =>
      `the upstream took ${Math.round(fetchUs / 1000)} ms per fixture without load: the server had to wait for it`,
  },
  'inserts-lost': fatal(
    ({ acknowledged, stored }: Inserts) =>
      `${figure(acknowledged)} inserts were acknowledged, but the table has only ${figure(stored)}: ${figure(acknowledged - stored)} were lost`,
  ),
  'inserts-unacknowledged': fatal(({ acknowledged, stored, unanswered }: Inserts) => {
    const also = unanswered === 0 ? '' : ` and ${figure(unanswered)} never answered`;
    return `${figure(acknowledged)} inserts were acknowledged${also}, but the table has ${figure(stored)}: some were stored twice, or stored after an error answer`;
  }),
  inserts: {
    invalidates: NONE,
    summary: 'some inserts were never answered',
    text: ({ acknowledged, stored, unanswered }: Inserts) =>
      `${figure(acknowledged)} inserts were acknowledged, ${figure(unanswered)} never answered, and the table has ${figure(stored)}: no acknowledged insert was lost`,
  },
  'background-failed': fatal(describeBackground),
  background: {
    invalidates: UNDER_LOAD,
    summary: 'background requests failed',
    text: describeBackground,
  },
  compiling: {
    invalidates: NONE,
    summary: 'the compilers of the server were still at work',
    text: ({ share, seconds }: { share: number; seconds: number }) =>
      `after ${figure(seconds)} s of load, its compilers still used ${(100 * share).toFixed(0)} % of its CPU: a request costs up to that much less once they rest, if they do`,
  },
  'serial-collector': {
    invalidates: NONE,
    summary: 'the JVM saw one core',
    text: () =>
      'on one core, this JVM collects garbage serially. With several it would use G1: to measure that, use --cores 2, or -XX:+UseG1GC',
  },
  'not-level': {
    invalidates: RATES_AND_CPU,
    summary: 'the warm-up ended before servers were level with each other',
    bounds: ({ change }) => boundChange(change),
    text: (facts: Drift) => describeDrift(facts, 'after the warm-up'),
  },
  'ratio-trend': {
    invalidates: RATES_AND_CPU,
    summary: 'servers changed relative to each other in the window',
    bounds: ({ change }) => boundChange(change),
    text: (facts: Drift) => describeDrift(facts, 'in the window'),
  },
  trend: {
    invalidates: RATES_AND_CPU,
    summary: 'the server became faster or slower in the window',
    cure: 'Use a longer warm-up',
    bounds: ({ least, most }) => boundChange(most / least),
    text: describePace,
  },
  unsteady: {
    invalidates: RATES,
    summary: 'the pace of the server was not steady',
    cure: 'Use a longer window',
    bounds: ({ least, most }) => boundChange(most / least),
    text: describePace,
  },
  'memory-grows': {
    invalidates: NONE,
    summary: 'memory grew with each answer',
    text: ({ estimate, interval }: { estimate: number; interval: Interval }) =>
      `memory grows by ${describeBytes(estimate)} per answer (${describeBytes(interval.low)} to ${describeBytes(interval.high)})`,
  },
  'delayed-ack': {
    invalidates: NONE,
    isOfServer: true,
    summary: 'each answer waited for a delayed acknowledgement',
    text: ({ keptUs, freshUs, command }: { keptUs: number; freshUs: number; command?: string | undefined }) =>
      `an answer takes ${describeTime(keptUs)} on a connection that was used before, although it takes ${describeTime(freshUs)} on a new one: the server sends it in parts, and waits for the delayed acknowledgement of one before it sends the next. ${cureOfNagle(command)}`,
  },
  watcher: {
    invalidates: NONE,
    isOfServer: true,
    summary: 'the server ran under a development watcher',
    text: ({ watcher }: { watcher: string }) =>
      `the server runs under ${watcher}, which restarts it when its files change: figures will differ from those in production. Start it as in production`,
  },
  'server-unknown': {
    invalidates: NONE,
    summary: 'the process of the server was unknown',
    text: ({ cores }: { cores: number }) =>
      `the process of the server is unknown: together with all other processes it used ${percent(cores)} of a core, and its share cannot be determined`,
  },
  'other-processes': {
    invalidates: RATES_AND_CAPACITY,
    summary: 'other processes used the CPU',
    cure: 'Let no other work run at the same time',
    bounds: boundTaken,
    text: ({ cores }: Disturbance) => `other processes used ${percent(cores)} of a core`,
  },
  /** CPU time does not contain what was taken, but each request costs more while it is: see docs/concepts/how-it-works.md. */
  steal: {
    invalidates: RATES_CPU_AND_CAPACITY,
    cancelsInTurns: CPU,
    summary: 'the hypervisor took CPU time',
    cure: 'Use a machine that does not share its CPU',
    bounds: boundTaken,
    text: ({ cores }: Disturbance) => `the hypervisor took ${percent(cores)} of a core`,
  },
  'cores-changed': {
    invalidates: RATES_CPU_AND_CAPACITY,
    summary: 'the server did not stay on its cores',
    cure: 'Let nothing else pin processes',
    text: ({ placed, found }: { placed: readonly number[]; found: readonly number[] }) =>
      `the server was placed on core ${placed.join()}, but could run on ${found.join()} when its window closed`,
  },
  'listen-overflows': {
    invalidates: TAIL,
    summary: 'connects overflowed the accept queue',
    text: ({ count }: { count: number }) => `${count} connects overflowed the accept queue`,
  },
  retransmits: {
    invalidates: TAIL,
    summary: 'TCP segments were lost',
    text: ({ count, sent }: { count: number; sent: number }) =>
      `${figure(count)} of ${figure(sent)} TCP segments were lost and sent again`,
  },
  throttled: {
    invalidates: RATES_CPU_AND_CAPACITY,
    summary: 'the CPU was throttled',
    cure: 'Raise the CPU limit of the container',
    text: ({ count }: { count: number }) => `the CPU was throttled ${count} times`,
  },
} satisfies Record<string, Definition<never>>;

/** The code of a reason: one of the rows above. */
export type ReasonCode = keyof typeof DEFINITIONS;

type FactsOf<Code extends ReasonCode> = Parameters<(typeof DEFINITIONS)[Code]['text']>[0];

/** The codes of all reasons. */
export const REASON_CODES = Object.keys(DEFINITIONS) as readonly ReasonCode[];

/** Makes the reason of this code from the facts in its text. */
export function makeReason<Code extends ReasonCode>(code: Code, facts: FactsOf<Code>): Reason {
  const definition = DEFINITIONS[code] as Definition<FactsOf<Code>>;
  const { text, invalidates } = definition;
  const bounds = definition.isFatal ? {} : boundInvalidated(definition, facts);
  return {
    code,
    text: text(facts),
    invalidates: [...invalidates],
    ...(Object.keys(bounds).length > 0 && { bounds }),
  };
}

/** Keeps the bounds of the metrics that a reason invalidates, as far as they are finite. */
function boundInvalidated<Facts>(
  { invalidates, lowerBounds = [], bounds }: Doubt<Facts>,
  facts: Facts,
): Bounds {
  const found: Bounds = {
    ...Object.fromEntries(lowerBounds.map((metric) => [metric, { low: 1 }])),
    ...bounds?.(facts),
  };
  return Object.fromEntries(
    invalidates.flatMap((metric) => {
      const { low = 0, high = Infinity } = found[metric] ?? {};
      const ends = { ...(low > 0 && { low }), ...(high < Infinity && { high }) };
      return Object.keys(ends).length === 0 ? [] : [[metric, ends]];
    }),
  );
}

/**
 * Returns the factors between which the true figure lies, relative to the figure that these reasons invalidate: 1 and 1 if none
 * does, 0 and Infinity if one has no bounds.
 */
export function boundFactors(reasons: readonly Reason[], metric: MetricId): Interval {
  let [low, high] = [1, 1];
  for (const { invalidates, bounds } of reasons) {
    if (!invalidates.includes(metric)) continue;
    low *= bounds?.[metric]?.low ?? 0;
    high *= bounds?.[metric]?.high ?? Infinity;
  }
  return { low, high };
}

/** Describes what happened in a number of trials: completes "In 3 of 60 trials, …". Undefined if they failed. */
export function summaryOf(reason: Reason): string | undefined {
  return doubtOf(reason)?.summary;
}

/** Returns true if a reason is about the server, not about the trial that it was found in. */
export function isOfServer(reason: Reason): boolean {
  return doubtOf(reason)?.isOfServer === true;
}

/** Says what to do against a reason; undefined if that depends on what its text says. */
export function cureOf(reason: Reason): string | undefined {
  return doubtOf(reason)?.cure;
}

/** Returns true if a trial with this reason has failed. */
export function isFatal(reason: Reason): boolean {
  return doubtOf(reason) === undefined;
}

/** Returns true if this reason makes the figure of this metric a lower bound. */
export function makesLowerBound(reason: Reason, metric: MetricId): boolean {
  return doubtOf(reason)?.lowerBounds?.includes(metric) === true;
}

/** Returns true if this reason leaves the ratio of this metric valid between servers that take turns. */
export function cancelsInTurns(reason: Reason, metric: MetricId): boolean {
  return doubtOf(reason)?.cancelsInTurns?.includes(metric) === true;
}

/** The definition of a reason; undefined if a trial with it has failed. */
function doubtOf({ code }: Reason): Doubt<never> | undefined {
  const definition: Definition<never> = DEFINITIONS[code];
  return definition.isFatal ? undefined : definition;
}

/** Latency percentiles that are known only as bounds, in µs. */
interface Uncertain {
  uncertain: { metric: MetricId; least: number; most: number }[];
}

function describeRanges({ uncertain }: Uncertain, decimals: number): string {
  const toMs = (us: number): string => (us / 1000).toFixed(decimals);
  return uncertain
    .map(({ metric, least, most }) => `${metric} is ${toMs(least)} to ${toMs(most)} ms`)
    .join(', ');
}

function describeLateReads(facts: Uncertain): string {
  return `answers waited in the load generator: ${describeRanges(facts, 1)}`;
}

function describeLateStarts(facts: Uncertain): string {
  return `requests waited in the load generator although a connection was free: ${describeRanges(facts, 2)}`;
}

function describeWrong({ seconds, bytes, rightBytes }: FirstWrong): string {
  const length =
    bytes === rightBytes
      ? `of the right length, ${figure(bytes)} bytes`
      : `of ${figure(bytes)} bytes${rightBytes === undefined ? '' : ` instead of ${figure(rightBytes)}`}`;
  return `${seconds.toFixed(1)} s after the window opened: ${length}`;
}

interface Stall {
  count: number;
  aboveUs: number;
  slowestUs: number;
  /** The highest known percentile up to p99. */
  tail: string;
  tailUs: number;
}

/** `3.01 s`, `100 ms`, `570 µs`. */
function describeTime(us: number): string {
  if (us >= 1e6) return `${Number((us / 1e6).toPrecision(3))} s`;
  return us >= 1000 ? `${Number((us / 1000).toPrecision(3))} ms` : `${Math.round(us)} µs`;
}

/** Servers that send head and body apart, and what makes each send them at once. */
const NAGLE_CURES: readonly [server: RegExp, cure: string][] = [
  [/\buvicorn\b/, 'With uvloop, uvicorn sends both at once: install uvloop'],
  [/\bjava\b/, "Set TCP_NODELAY; for the JDK's HttpServer: java -Dsun.net.httpserver.nodelay=true"],
];

function cureOfNagle(command = ''): string {
  const [, cure] = NAGLE_CURES.find(([server]) => server.test(command)) ?? [];
  return cure ?? 'Set TCP_NODELAY on its sockets, or send answers in one write';
}

interface Unanswered {
  count: number;
  /** All requests of the window. */
  sent: number;
  /** How long the youngest of them had waited, in µs. */
  leastUs: number;
  /** The latency of the slowest answer, in µs. */
  slowestUs: number;
}

function describeUnanswered({ count, sent, leastUs, slowestUs }: Unanswered): string {
  return `${figure(count)} of ${figure(sent)} requests (${digits((100 * count) / sent)} %) got no answer in ${(leastUs / 1e6).toFixed(1)} s or more; the slowest answer took ${figureMs(slowestUs / 1000)}`;
}

/** The figures of Little's law in an open loop. */
interface Open {
  served: number;
  open: number;
}

/** A figure with two digits, or whole. */
function digits(value: number): string {
  return value >= 10 ? figure(Math.round(value)) : value.toPrecision(2);
}

interface Served {
  served: number;
  planned: number;
  silent: number;
  /** The host of the generator, if the reason is about one of several. */
  host?: string | undefined;
}

interface Saturation {
  busy: number;
  coresUsed: number | undefined;
  /** The host of the busiest generator, if there are several. */
  host?: string | undefined;
}

interface Skew {
  host: string;
  skewMs: number;
  clockErrorMs: number;
  allowedSkewMs: number;
}

/** Says which generator a reason is about. */
function from(host: string | undefined): string {
  return host === undefined ? '' : `from ${host}, `;
}

function figureMs(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`;
}

interface Saturated {
  coresUsed: number;
  /** The cores that it could use; undefined if nothing is pinned. */
  cores: readonly number[] | undefined;
}

interface Disturbance {
  cores: number;
  /** The cores that the server itself used; undefined if unknown. */
  coresUsed?: number | undefined;
}

interface Errors {
  share: number;
  kinds: [string, number][];
  /** The bounds of the percentiles, if the latencies are known. */
  latency?: Bounds;
}

/** A failed request is taken to cost up to this many times as much as a right one. */
const DEAREST_FAILURE = 10;

/**
 * Bounds the figures that right answers would have had without the failed requests. A timeout holds its connection for a time
 * without a relation to an answer, so goodput then has no upper bound.
 */
function boundErrors({ share, kinds, latency }: Errors): Bounds {
  const most = (1 - share + DEAREST_FAILURE * share) / (1 - share);
  const hasTimeouts = kinds.some(([kind]) => kind === 'timeout');
  return {
    cpu: { low: 1 / most, high: 1 },
    goodput: { low: 1, high: hasTimeouts ? Infinity : most },
    memory: { low: 1 / most, high: most },
    ...latency,
  };
}

/** A figure that can change by more than this share says little. */
const MOST_CHANGE = 0.5;

/** Returns the share by which a figure of 1 can change within its bounds; undefined if that leaves it to say little. */
export function changeWithin({ low = 0, high = Infinity }: Partial<Interval> = {}): number | undefined {
  const change = Math.max(1 / low, high) - 1;
  return change <= MOST_CHANGE ? change : undefined;
}

/** `: that can change goodput by 2.5 %, p99 latency by 12 %`; empty if every figure can change by much. */
function describeBounds(bounds: Bounds): string {
  const changes = METRIC_IDS.flatMap((id) => {
    const change = changeWithin(bounds[id]);
    return change === undefined ? [] : [`${METRICS[id].name} by ${digits(100 * change)} %`];
  });
  return changes.length === 0 ? '' : `: that can change ${changes.join(', ')}`;
}

/** A figure that changed by a factor in its window can be wrong by that factor. */
function boundChange(factor: number): Bounds {
  const most = Math.max(factor, 1 / factor);
  return { cpu: { low: 1 / most, high: most }, goodput: { low: 1 / most, high: most } };
}

/** While the hypervisor takes a core, a request costs more, by up to twice the share that was taken. */
const COST_OF_TAKEN = 2;

/** With the time that others took, the server could have answered that much more. */
function boundTaken({ cores, coresUsed = 0 }: Disturbance): Bounds {
  const share = cores / coresUsed;
  const pace = { low: 1, high: 1 + share };
  return { goodput: pace, capacity: pace, cpu: { low: 1 / (1 + COST_OF_TAKEN * share), high: 1 } };
}

interface UpstreamCount {
  ok: number;
  fetches: number;
  requests: number;
  isShort: boolean;
}

/** A change of one server's cost relative to another, or to all others. */
interface Drift {
  other?: string;
  change: number;
}

function describeDrift({ other, change }: Drift, when: string): string {
  return `CPU per request relative to ${other ?? 'the other servers'} still changed ${when}, by a factor of ${change.toFixed(2)}: ${other === undefined ? 'this server' : 'one of the two servers'} was not warm`;
}

interface Inserts {
  acknowledged: number;
  stored: number;
  unanswered: number;
}

interface Background {
  failed: number;
  ended: number;
  statuses: [string, number][];
  lost: number;
}

interface Pace {
  shape: 'warm-up' | 'slowdown' | 'erratic';
  least: number;
  most: number;
  milliseconds: number;
}

function describeBackground({ failed, ended, statuses, lost }: Background): string {
  const kinds = [
    ...statuses.map(([status, count]) => `${count} with status ${status}`),
    ...(lost > 0 ? [`${lost} without an answer`] : []),
  ];
  return `${failed} of ${ended} background requests failed (${kinds.join(', ')}): the server did not do the background work`;
}

const PACES: Record<Pace['shape'], string> = {
  'warm-up': 'it was still getting faster',
  slowdown: 'it was getting slower',
  erratic: 'its pace kept changing',
};

function describePace({ shape, least, most, milliseconds }: Pace): string {
  return `not steady in the window: ${PACES[shape]} (${least} to ${most} answers per ${milliseconds} ms)`;
}

function shareOf({ coresUsed, cores }: Saturated): string {
  const used = `${coresUsed.toFixed(2)} cores`;
  return cores === undefined ? used : `${used} (core ${cores.join(',')})`;
}

function list(counts: readonly [string, number][]): string {
  return counts.map(([name, count]) => describeCount(name, count)).join(', ');
}

function percent(cores: number): string {
  return `${Math.round(cores * 100)} %`;
}

function figure(count: number): string {
  return count.toLocaleString('en-US');
}
