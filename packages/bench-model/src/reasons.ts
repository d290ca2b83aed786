/** Every problem that a trial can have: one row per reason. Nothing else decides the meaning of a reason. */
import type { InsertAccount } from './companions.ts';
import { describeCount } from './counts.ts';
import type { Interval } from './interval.ts';
import type { FirstWrong } from './load.ts';
import type { Shape } from './measured.ts';
import { METRIC_IDS, metricsOf, type MetricId } from './metrics.ts';
import { describeBytes, describeTime } from './units.ts';

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
interface Meaning {
  /**
   * What it does to a trial.
   * - `fatal`: the trial has failed, and none of its figures may be used
   * - `disturbance`: the machine, the load generator or the plan got in the way: figures are invalid, or known only within bounds
   * - `finding`: the server did something that its user wants to know, which takes no figure away
   */
  kind: 'fatal' | 'disturbance' | 'finding';
  /** Completes "In 3 of 60 trials, …", for a summary of many trials. */
  summary: string;
  /** What to do if a disturbance leaves too many figures without a bound; absent if that depends on what its text says. */
  cure?: string;
  /** The invalidated metrics whose ratio is still valid between servers that take turns, because it affects them alike. */
  cancelsInTurns?: readonly MetricId[];
}

/** The meaning of a reason, and what it says of a trial with these facts. The text of a finding begins with what the server did, in figures. */
interface Row<Facts> extends Meaning {
  text: (facts: Facts) => string;
  invalidates: readonly MetricId[] | ((facts: Facts) => readonly MetricId[]);
  /** Says how far the figures can be from the truth, as factors of them. An invalidated metric without bounds may be anything. */
  bounds?: (facts: Facts) => Bounds;
}

const RATES = metricsOf('pace');
const RATES_AND_CPU = metricsOf('pace', 'cpu');
const RATES_CPU_AND_CAPACITY = metricsOf('pace', 'cpu', 'capacity');
const LATENCY = metricsOf('latency');
const TAIL = metricsOf('tail');
const MEDIAN = LATENCY.filter((id) => !TAIL.includes(id));
const CAPACITY: readonly MetricId[] = ['capacity'];

/** A reason that fails the trial. */
function fatal<Facts>(text: Row<Facts>['text']): Row<Facts> {
  return { kind: 'fatal', summary: 'a server failed', invalidates: METRIC_IDS, text };
}

/** Something that the server did. */
function finding<Facts>(summary: string, text: Row<Facts>['text']): Row<Facts> {
  return { kind: 'finding', summary, invalidates: [], text };
}

/** Something that got in the way. */
function disturbance<Facts>(summary: string, rest: Omit<Row<Facts>, 'kind' | 'summary'>): Row<Facts> {
  return { kind: 'disturbance', summary, ...rest };
}

/** A thrown failure: its message is the text. */
const thrown = fatal(({ message }: { message: string }) => message);

/** Rows that ran out. `lives` are the trials that share the file; `needed` are the rows that it would need, the checks included. */
export interface RowsFacts {
  file: string;
  rows: number;
  seconds: number;
  lives: number;
  needed?: number;
}

/** A percentile that the load generator may have made, between two figures in µs. */
export interface Uncertain {
  metric: 'p50' | 'p99';
  least: number;
  most: number;
}

const ROWS = {
  trial: thrown,
  /** A companion failed, which says nothing about the server. */
  companion: thrown,
  defect: thrown,
  'not-stopped': fatal(({ message }: { message: string }) => `the server could not be stopped: ${message}`),
  'rows-used-up': fatal(({ file, rows, seconds, lives, needed }: RowsFacts) => {
    const all = `${figure(rows)} rows`;
    const whose = lives === 1 ? `its ${all}` : `the ${all} of one of ${figure(lives)} loads`;
    const when = seconds > 0 ? ` after ${seconds.toFixed(1)} s of load` : ' before the load began';
    const wanted = needed === undefined ? '' : `: it takes about ${figure(needed)}`;
    return `each row of ${file} is sent once, and ${whose} were used up${when}${wanted}`;
  }),
  'host-lost': fatal(({ lost, task }: { lost: readonly { host: string; why: string }[]; task: string }) =>
    lost.map(({ host, why }) => `${host} did not ${task}: ${why}`).join('; '),
  ),
  /** `bodies` are responses with another body, `crossed` those that belonged to another request, `unsolicited` those without one. */
  'wrong-answers': fatal(
    ({
      bodies,
      first,
      crossed,
      unsolicited,
    }: Record<'bodies' | 'crossed' | 'unsolicited', number> & { first?: FirstWrong }) =>
      join([
        crossed > 0 && `${responses(crossed)} belonged to another request`,
        bodies > 0 && `${responses(bodies)} had a wrong body${describeFirst(first)}`,
        unsolicited > 0 &&
          `${responses(unsolicited)} arrived without a request: the server responds to some requests more than once`,
      ]),
  ),
  'no-answers': fatal(
    ({ planned, established, seen }: { planned: number; established: number | undefined; seen: Counted }) =>
      `no correct response in the window; ${established ?? 'an unknown number'} of ${planned} connections were established: ${list(seen) || 'no requests'}`,
  ),
  'upstream-count': fatal(
    ({
      ok,
      fetches,
      requests,
      isShort,
    }: Record<'ok' | 'fetches' | 'requests', number> & { isShort: boolean }) => {
      const answered = `${figure(ok)} responses need ${fetches} fixtures each`;
      return isShort
        ? `${answered}, but the upstream got only ${figure(requests)} requests: the server may have cached fixtures`
        : `${answered}, but the upstream got ${figure(requests)} requests: more than needed`;
    },
  ),
  inserts: fatal(({ acknowledged, stored, unanswered }: InsertAccount) => {
    const also = unanswered === 0 ? '' : `, ${figure(unanswered)} without a response`;
    const account = `${figure(acknowledged)} inserts were acknowledged${also}, and the table has ${figure(stored)}`;
    if (stored < acknowledged) return `${account}: ${figure(acknowledged - stored)} were lost`;
    if (stored <= acknowledged + unanswered) return `${account}: no acknowledged insert was lost`;
    return `${account}: some were stored twice, or stored after an error response`;
  }),
  background: fatal(
    ({ failed, ended, kinds }: { failed: number; ended: number; kinds: Counted }) =>
      `${failed} of ${ended} background requests failed (${list(kinds)}): the server did not do the background work`,
  ),

  connections: finding('not all connections were served', describeConnections),
  errors: finding(
    'requests failed',
    ({ share, kinds, what = 'requests' }: { share: number; kinds: Counted; what?: string }) =>
      `${(share * 100).toFixed(2)} % of the ${what} failed (${list(kinds)})`,
  ),
  /** Of `sent` requests, `count` waited for `leastUs` or longer, beyond the slowest response. */
  unanswered: finding(
    'requests had no response',
    ({ count, sent, leastUs, slowestUs }: Record<'count' | 'sent' | 'leastUs' | 'slowestUs', number>) =>
      `${figure(count)} of ${figure(sent)} requests (${digits((100 * count) / sent)} %) got no response in ${(leastUs / 1e6).toFixed(1)} s or more; the slowest response took ${describeTime(slowestUs)}`,
  ),
  overrun: finding(
    'the server could not keep up with the rate',
    ({ offered, served }: { offered: number; served: number }) =>
      `offered ${figure(offered)}/s, served ${figure(Math.round(served))}/s: the queue grew by ${figure(Math.round(offered - served))}/s`,
  ),
  'memory-grows': finding(
    'memory grew with each response',
    ({ estimate, interval, withoutFall }: { estimate: number; interval: Interval; withoutFall?: number }) => {
      const grown = `memory grows by ${describeBytes(estimate)} per response (${describeBytes(interval.low)} to ${describeBytes(interval.high)})`;
      return withoutFall === undefined
        ? grown
        : `${grown}: it never fell in ${figure(withoutFall)} responses. If a collector may free it later, use a longer --duration`;
    },
  ),
  /** `tail` is the highest known percentile up to p99. */
  stall: finding(
    'a few responses stalled',
    ({
      count,
      aboveUs,
      slowestUs,
      tail,
      tailUs,
    }: Record<'count' | 'aboveUs' | 'slowestUs' | 'tailUs', number> & { tail: string }) =>
      `${responses(count)} stalled for up to ${describeTime(slowestUs)}: ${count === 1 ? 'it' : 'they'} took more than ${describeTime(aboveUs)}, while ${tail.replace('_', '.')} is ${describeTime(tailUs)}`,
  ),
  'delayed-ack': finding(
    'each response waited for a delayed acknowledgement',
    ({ keptUs, freshUs, command }: { keptUs: number; freshUs: number; command?: string }) =>
      `a response takes ${describeTime(keptUs)} on a connection that was used before, although it takes ${describeTime(freshUs)} on a new one: the server sends it in parts, and waits for the delayed acknowledgement of one before it sends the next. ${cureOfNagle(command)}`,
  ),
  watcher: finding(
    'the server ran under a development watcher',
    ({ watcher }: { watcher: string }) =>
      `the server runs under ${watcher}: that restarts it when its files change, and figures will differ from those in production. Start it as in production`,
  ),
  /** `least` and `most` are the responses in the slowest and the fastest span, each of these milliseconds. */
  unsteady: finding(
    'the pace of the server was not steady',
    ({
      shape,
      least,
      most,
      milliseconds,
    }: { shape: keyof typeof PACES } & Record<'least' | 'most' | 'milliseconds', number>) => {
      const [low, high] = [least, most].map((count) => figure(Math.round((1000 * count) / milliseconds)));
      return `${PACES[shape]} in the window, with ${low} responses/s in its slowest ${milliseconds} ms and ${high}/s in its fastest`;
    },
  ),
  compiling: finding(
    'the compilers of the server were still at work',
    ({ share, seconds }: { share: number; seconds: number }) =>
      `after ${figure(seconds)} s of load, its compilers still used ${percent(share)} of its CPU: a request costs up to that much less once they rest, if they do`,
  ),
  'serial-collector': finding<undefined>(
    'the JVM saw one core',
    () =>
      'on one core, this JVM collects garbage serially. With several it would use G1: to measure that, use --cores 2, or -XX:+UseG1GC',
  ),
  'slo-rarely-met': finding(
    'the capacity is probably lower',
    ({ promise, kept, loads }: { promise: string; kept: number; loads: number }) =>
      `${kept} of ${loads} loads met ${promise}: some requests probably violate it without any load, and the capacity is lower. A looser SLO tells`,
  ),
  'not-verified': finding(
    'the server could not be verified after the load',
    ({ problem, inFlight }: { problem: string; inFlight: number }) =>
      `${inFlight} requests were still unanswered when the load ended: ${problem}`,
  ),
  'ignored-sigterm': finding(
    'the server ignored the signal to stop and was killed',
    ({ signal, seconds }: { signal: string; seconds: number }) =>
      `the server ignored ${signal} for ${seconds} s and was killed`,
  ),

  little: disturbance('figures contradicted each other', {
    invalidates: metricsOf('pace', 'latency', 'tail'),
    text: describeContradiction,
  }),
  /** `reads` may come from responses that were read late, `starts` from requests that were sent late although a connection was free. */
  'late-generator': disturbance('the load generator was late', {
    invalidates: ({ reads, starts }) =>
      METRIC_IDS.filter(
        (id) =>
          (LATENCY.includes(id) && !reads.every(isTail)) ||
          (MEDIAN.includes(id) && !starts.every(isTail)) ||
          (TAIL.includes(id) && [...reads, ...starts].some(isTail)),
      ),
    text: ({ reads, starts }: { reads: readonly Uncertain[]; starts: readonly Uncertain[] }) =>
      join([
        reads.length > 0 && `responses waited in the load generator: ${describeRanges(reads, 1)}`,
        starts.length > 0 &&
          `requests waited in the load generator although a connection was free: ${describeRanges(starts, 2)}`,
      ]),
  }),
  'late-sample': disturbance('CPU was read too late', {
    invalidates: ['cpu'],
    bounds: ({ seconds, windowSeconds }) => ({ cpu: { low: 1, high: seconds / windowSeconds } }),
    text: ({ seconds, windowSeconds }: { seconds: number; windowSeconds: number }) =>
      `CPU was read over ${seconds.toFixed(1)} s, but the window lasted ${windowSeconds.toFixed(1)} s: Bench was stopped or got no CPU`,
  }),
  /** `host` is that of the busiest generator, if there are several. */
  'generator-bound': disturbance('the load generator was saturated', {
    invalidates: RATES,
    bounds: () => ({ goodput: { low: 1 } }),
    cure: 'Lower the rate, or use fewer connections',
    text: ({ busy, coresUsed, host }: { busy: number; coresUsed: number | undefined; host?: string }) => {
      const beside = coresUsed === undefined ? '' : ` while the server used ${coresUsed.toFixed(2)} cores`;
      return `the generator ${host === undefined ? '' : `on ${host} `}was ${percent(busy)} busy${beside}: goodput is a lower bound, and latency includes the generator's delays`;
    },
  }),
  /** `cores` are those that it could use; undefined if nothing is pinned. */
  'companion-bound': disturbance('the upstream or the database was saturated', {
    invalidates: RATES,
    bounds: () => ({ goodput: { low: 1 } }),
    cure: 'Lower the rate, or use fewer connections',
    text: ({
      name,
      coresUsed,
      cores,
    }: {
      name: 'upstream' | 'database';
      coresUsed: number;
      cores: readonly number[] | undefined;
    }) => {
      const where = cores === undefined ? '' : ` (core ${cores.join(',')})`;
      return `the ${name} used ${coresUsed.toFixed(2)} cores${where}: goodput is a lower bound, and latency includes the ${name}'s delays`;
    },
  }),
  'slo-met': disturbance('the SLO was met at every rate that the load generator reached', {
    invalidates: CAPACITY,
    bounds: () => ({ capacity: { low: 1 } }),
    cure: 'Send the load from several hosts: --cluster bench.cluster.json',
    text: ({ perSecond, busy, reach }: { perSecond: number; busy: number; reach: number }) =>
      `the SLO was met at every rate that the load generator could judge, up to ${figure(perSecond)}/s; the generator was ${percent(busy)} busy at most, and reaches about ${figure(reach)}/s`,
  }),
  'slo-violated': disturbance('the SLO was violated at the lowest rate', {
    invalidates: CAPACITY,
    bounds: () => ({ capacity: { high: 1 } }),
    cure: 'Set a looser SLO, or measure for longer: --duration',
    text: ({
      promise,
      perSecond,
      brokenShare,
    }: {
      promise: string;
      perSecond: number;
      brokenShare: number;
    }) =>
      `${promise} was violated at every rate, down to ${digits(perSecond)}/s, where ${digits(100 * brokenShare)} % of the requests violated it: the capacity is lower`,
  }),
  /** `deviation` is the standard deviation of the logarithm of the capacity. */
  'few-answers': disturbance('too few responses to judge the SLO', {
    invalidates: CAPACITY,
    cure: 'Use a longer --duration',
    bounds: ({ deviation }) => ({
      capacity: { low: Math.exp(-2 * deviation), high: Math.exp(2 * deviation) },
    }),
    text: ({
      answers,
      needed,
      promise,
    }: Record<'answers' | 'needed' | 'deviation', number> & { promise: string }) =>
      `${promise} was judged on ${figure(answers)} responses near the capacity, and needs ${figure(needed)}: use a longer --duration`,
  }),
  /** A change of one server's cost relative to another, or to all others. */
  'ratio-trend': disturbance('servers changed relative to each other', {
    invalidates: RATES_AND_CPU,
    bounds: ({ change }) => {
      const most = Math.max(change, 1 / change);
      const within = { low: 1 / most, high: most };
      // Turns are a closed loop: no response takes longer by a larger factor than its cost and that of those before it.
      return { cpu: within, goodput: within, p50: within };
    },
    text: ({
      other,
      change,
      when,
    }: {
      other?: string;
      change: number;
      when: 'after the warm-up' | 'in the window';
    }) =>
      `CPU per request relative to ${other ?? 'the other servers'} still changed ${when}, by a factor of ${change.toFixed(2)}: ${other === undefined ? 'this server' : 'one of the two servers'} was not warm`,
  }),
  'other-processes': disturbance('other processes used the CPU', {
    invalidates: metricsOf('pace', 'capacity'),
    cancelsInTurns: RATES,
    cure: 'Let no other work run at the same time',
    bounds: boundTaken,
    text: ({ cores }: Taken) => `other processes used ${percent(cores)} of a core`,
  }),
  /** CPU time does not contain what was taken, but each request costs more while it is: see docs/concepts/how-it-works.md. */
  steal: disturbance('the hypervisor took CPU time', {
    invalidates: RATES_CPU_AND_CAPACITY,
    cancelsInTurns: RATES_AND_CPU,
    cure: 'Use a machine that does not share its CPU',
    bounds: boundTaken,
    text: ({ cores }: Taken) => `the hypervisor took ${percent(cores)} of a core`,
  }),
  'cores-changed': disturbance('the server did not stay on its cores', {
    invalidates: RATES_CPU_AND_CAPACITY,
    cure: 'Let nothing else pin processes',
    text: ({ placed, found }: { placed: readonly number[]; found: readonly number[] }) =>
      `the server was placed on core ${placed.join()}, but could run on ${found.join()} when its window closed`,
  }),
  retransmits: disturbance('TCP segments were lost', {
    invalidates: TAIL,
    text: ({ count, sent }: { count: number; sent: number }) =>
      `${figure(count)} of ${figure(sent)} TCP segments were lost and sent again`,
  }),
  throttled: disturbance('the CPU was throttled', {
    invalidates: RATES_CPU_AND_CAPACITY,
    cure: 'Raise the CPU limit of the container',
    text: ({ count }: { count: number }) =>
      `the CPU was throttled ${count === 1 ? 'once' : `${count} times`}`,
  }),
} satisfies Record<string, Row<never>>;

/** The code of a reason: one of the rows above. */
export type ReasonCode = keyof typeof ROWS;

type FactsOf<Code extends ReasonCode> = Parameters<(typeof ROWS)[Code]['text']>[0];

/** The codes of all reasons. */
export const REASON_CODES = Object.keys(ROWS) as readonly ReasonCode[];

/** Makes the reason of this code from the facts in its text. */
export function makeReason<Code extends ReasonCode>(code: Code, facts: FactsOf<Code>): Reason {
  const row = ROWS[code] as Row<FactsOf<Code>>;
  const invalidates = typeof row.invalidates === 'function' ? row.invalidates(facts) : row.invalidates;
  const bounds = boundInvalidated(invalidates, row.bounds?.(facts));
  return {
    code,
    text: row.text(facts),
    invalidates: [...invalidates],
    ...(Object.keys(bounds).length > 0 && { bounds }),
  };
}

/** Keeps the bounds of the metrics that a reason invalidates, as far as they are finite. */
function boundInvalidated(invalidates: readonly MetricId[], found: Bounds = {}): Bounds {
  return Object.fromEntries(
    invalidates.flatMap((metric) => {
      const ends = Object.entries(found[metric] ?? {}).filter(([, end]) => end > 0 && end < Infinity);
      return ends.length === 0 ? [] : [[metric, Object.fromEntries(ends)]];
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

/** Returns the meaning of a reason. */
export function meaningOf({ code }: Reason): Meaning {
  return ROWS[code];
}

/** Returns true if a trial with this reason has failed. */
export function isFatal(reason: Reason): boolean {
  return meaningOf(reason).kind === 'fatal';
}

/** Returns true if a reason is about the server, and takes no figure away. */
export function isFinding(reason: Reason): boolean {
  return meaningOf(reason).kind === 'finding';
}

/** Returns the figure of a finding: its text up to the explanation. */
export function briefOf({ text }: Reason): string {
  return text.split(': ', 1)[0] ?? text;
}

/** Returns true if this reason makes the figure of this metric a lower bound: it is at least that, and has no bound above. */
export function makesLowerBound({ bounds }: Reason, metric: MetricId): boolean {
  const { low, high } = bounds?.[metric] ?? {};
  return low === 1 && high === undefined;
}

/** A figure that can change by more than this share says little. */
const MOST_CHANGE = 0.5;

/** Returns the share by which a figure of 1 can change within its bounds; undefined if that leaves it to say little. */
export function changeWithin({ low = 0, high = Infinity }: Partial<Interval> = {}): number | undefined {
  const change = Math.max(1 / low, high) - 1;
  return change <= MOST_CHANGE ? change : undefined;
}

function isTail({ metric }: Uncertain): boolean {
  return metric !== 'p50';
}

function describeRanges(uncertain: readonly Uncertain[], decimals: number): string {
  const toMs = (us: number): string => (us / 1000).toFixed(decimals);
  return uncertain
    .map(({ metric, least, most }) => `${metric} is ${toMs(least)} to ${toMs(most)} ms`)
    .join(', ');
}

/** `, the first 1.2 s after the window opened: of 17 bytes instead of 1,200`. */
function describeFirst(first: FirstWrong | undefined): string {
  if (first === undefined) return '';
  const { seconds, bytes, rightBytes } = first;
  const instead = rightBytes === undefined ? '' : ` instead of ${figure(rightBytes)}`;
  const length =
    bytes === rightBytes
      ? `of the right length, ${figure(bytes)} bytes`
      : `of ${figure(bytes)} bytes${instead}`;
  return `, the first ${seconds.toFixed(1)} s after the window opened: ${length}`;
}

/** Connections that the server did not accept, or did not serve. */
interface Connections {
  planned: number;
  /** Those whose rate and cycle time account for the responses; absent if all of them were served. */
  served?: number;
  /** Those without a response in the window. */
  silent?: number;
  /** Those that were established when the window opened; absent if all of them were. */
  established?: number;
  refused?: number;
  /** Connects that found the accept queue full. */
  overflows?: number;
  /** The host of the generator, if the finding is about one of several. */
  host?: string;
}

function describeConnections(facts: Connections): string {
  const { planned, served, silent = 0, established = planned, refused = 0, overflows = 0, host } = facts;
  const lost =
    refused > 0
      ? `${refused} connects were refused or failed`
      : `${planned - established} without a response`;
  const found =
    silent > 0 ? `${silent} got no response in the window` : "by their rate and cycle time (Little's law)";
  const parts = join([
    established < planned &&
      `${established} of ${planned} connections were established when the window opened: ${lost}`,
    served !== undefined && `${served} of ${planned} connections were served: ${found}`,
    overflows > 0 && `${figure(overflows)} connects overflowed the accept queue`,
  ]);
  return `${from(host)}${parts}`;
}

/** Figures that cannot all be right: connections served or requests open by Little's law, or the mean latency and the mean cycle in µs. */
type Contradiction =
  | { served: number; planned: number; host?: string }
  | { served: number; open: number }
  | { meanUs: number; cycleUs: number };

function describeContradiction(facts: Contradiction): string {
  if ('meanUs' in facts)
    return `a mean latency of ${Math.round(facts.meanUs)} µs is impossible: the mean cycle of a connection was ${Math.round(facts.cycleUs)} µs`;
  if ('open' in facts)
    return `rate and latency account for ${digits(facts.served)} open requests, but ${digits(facts.open)} were open on average (Little's law): some were lost, or their latencies are wrong`;
  return `${from(facts.host)}rate and cycle time account for ${facts.served} connections, but there are ${facts.planned} (Little's law): the pace changed too much`;
}

/** Servers that send head and body apart, and what makes each send them at once. */
const NAGLE_CURES: readonly [server: RegExp, cure: string][] = [
  [/\buvicorn\b/, 'With uvloop, uvicorn sends both at once: install uvloop'],
  [/\bjava\b/, "Set TCP_NODELAY; for the JDK's HttpServer: java -Dsun.net.httpserver.nodelay=true"],
];

function cureOfNagle(command = ''): string {
  const [, cure] = NAGLE_CURES.find(([server]) => server.test(command)) ?? [];
  return cure ?? 'Set TCP_NODELAY on its sockets, or send responses in one write';
}

const PACES: Record<Exclude<Shape, 'flat'>, string> = {
  'warm-up': 'the server was still getting faster',
  slowdown: 'the server was getting slower',
  erratic: 'the pace of the server kept changing',
};

/** The cores that others took, and those that the server itself used; undefined if unknown. */
interface Taken {
  cores: number;
  coresUsed?: number;
}

/** While the hypervisor takes a core, a request costs more, by up to twice the share that was taken. */
const COST_OF_TAKEN = 2;

/** With the time that others took, the server could have answered that much more. */
function boundTaken({ cores, coresUsed = 0 }: Taken): Bounds {
  const share = cores / coresUsed;
  const pace = { low: 1, high: 1 + share };
  return { goodput: pace, capacity: pace, cpu: { low: 1 / (1 + COST_OF_TAKEN * share), high: 1 } };
}

/** Says which generator a reason is about. */
function from(host: string | undefined): string {
  return host === undefined ? '' : `from ${host}, `;
}

/** Outcomes with their numbers. */
type Counted = readonly [outcome: string, count: number][];

function list(counts: Counted): string {
  return counts.map(([name, count]) => describeCount(name, count)).join(', ');
}

/** Joins the parts that apply. */
function join(parts: readonly (string | false)[]): string {
  return parts.filter(Boolean).join('; ');
}

function responses(count: number): string {
  return count === 1 ? '1 response' : `${figure(count)} responses`;
}

/** A figure with two digits, or whole. */
function digits(value: number): string {
  return value >= 10 ? figure(Math.round(value)) : value.toPrecision(2);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function figure(count: number): string {
  return count.toLocaleString('en-US');
}
