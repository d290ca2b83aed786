import type { LatencyUs } from 'bench-model/figures';
import type { LoadMode } from 'bench-model/settings';
import type { ClusterLoad, GeneratorUse, LoadResult } from 'bench-model/load';
import type { Alone, HostWindow, Limit, Measured, ServerBudget, Shape } from 'bench-model/measured';
import { isFatal, makeReason, type Reason, type ReasonCode, type Uncertain } from 'bench-model/reasons';
import { classifySlices, widenSlices } from 'bench-statistics/steadiness';
import { isSaturated, type CompanionEvidence, type CompanionJudge } from './companions.ts';
import { FULL, coresOfLoad } from 'bench-model/saturation';
import { findBudget, isUsedUp, type ServerEvidence } from './server.ts';
import { countCompletions } from 'bench-model/counts';
import { countAbove, mergeHistograms, sumLongest } from 'bench-statistics/histogram';
import { growthOf, memoryByAnswers } from 'bench-statistics/growth';
import { readUncertaintyUs, startUncertaintyUs } from 'bench-model/metrics';
import { sum } from 'bench-statistics/numbers';

const LITTLE_TOLERANCE = 0.05;
const ERROR_SHARE = 0.001;
/** A small request and its response are two segments, of which one was lost in a request of a thousand. */
const LOST_SHARE = ERROR_SHARE / 2;
const BUSY_CORES = 0.1;

/** The measurements of a trial that its judgement rests on. */
export type Seen = Pick<Measured, 'load' | 'server' | 'host' | 'turns' | 'alone'>;

/** The machine of a trial, and the companions that watched its server. */
export interface Surroundings {
  /** Cores of the machine; absent if they are not judged. */
  machineCores?: number;
  companions: Witness[];
}

export interface Evidence extends Seen, Surroundings, Omit<ServerEvidence, 'server'> {
  /** True if the load runs on the same cores. */
  isShared: boolean;
  /** The load. In a closed loop, every connection sends its next request as soon as it is answered. */
  mode: LoadMode;
  /** The command line of its process; absent if unknown. */
  command?: readonly string[] | undefined;
}

/** A companion and its evidence for judging the window. */
export interface Witness {
  companion: CompanionJudge;
  evidence: CompanionEvidence;
}

/** The reasons against a window, the saturated side, and the shape. */
export interface Judgement {
  /** The fatal ones first. */
  reasons: Reason[];
  limit: Limit;
  /** Undefined if the CPU of the server was not measured. */
  budget: ServerBudget | undefined;
  /** Undefined if the window is too short. */
  shape: Shape | undefined;
}

/** Judges one window by the checks that docs/reference/report.md lists under "Status". Pure. */
export function judge(evidence: Evidence): Judgement {
  const budget = budgetOf(evidence);
  const limit = findLimit(evidence, budget);
  const { shape, reasons: unsteady } = judgeShape(evidence);
  const { load, host, companions, mode } = evidence;
  // The short turns that the load sums; 0 for one window.
  const turns = evidence.turns?.answers.length ?? 0;
  const flow = mode.mode === 'closed' ? judgeLittle(load, turns) : { served: [], reasons: [] };
  const growth = growthOf(memoryByAnswers(evidence));
  const reasons = [
    ...judgeCluster(load.cluster),
    ...judgeAccounting(load),
    ...judgeAnswers(load),
    ...judgeErrors(load),
    ...judgeStall(load),
    ...judgeUnanswered(load),
    ...judgeConnections(load, host, flow.served),
    ...flow.reasons,
    ...(mode.mode === 'open' ? judgeOpenLoop(load, mode.perSecond) : []),
    ...judgeGenerator(load),
    ...(turns === 0 ? judgeSpan(evidence) : []),
    ...judgeLimit(limit, evidence),
    ...companions.flatMap(({ companion, evidence: own }) => companion.judge?.(own) ?? []),
    ...judgeCompanions(limit, companions),
    ...unsteady,
    ...(growth?.isKept === true ? [makeReason('memory-grows', growth)] : []),
    ...judgeAlone(evidence),
    ...judgeHost(host, evidence.server?.coresUsed),
  ];
  const sorted = reasons.toSorted((a, b) => Number(isFatal(b)) - Number(isFatal(a)));
  return { reasons: sorted, limit, budget, shape };
}

/**
 * Names the saturated side. Generators come first: a saturated generator reads answers late, so it determines the
 * figures, whatever else was busy.
 */
export function findLimit(evidence: Evidence, budget = budgetOf(evidence)): Limit {
  const { load, server, companions, budgetCores, isShared } = evidence;
  if (load.generators.some((use) => busy(use) > FULL)) return 'generator';
  if (budget !== undefined && isUsedUp(budget)) return 'server';
  const full = companions.find(({ companion, evidence: own }) => isSaturated(companion.limit, own));
  if (full?.companion.limit !== undefined) return full.companion.limit;
  if (server === undefined) return 'unknown';
  if (isCrowded(evidence)) return 'others';
  if (!isShared) return 'waiting';
  // The server cannot use the part of shared cores that the load and the companions use.
  const beside = sum(companions.map((one) => one.evidence.resources?.coresUsed ?? 0));
  const taken = coresOfLoad(load) + beside;
  return server.coresUsed + taken >= FULL * budgetCores ? 'server' : 'waiting';
}

function budgetOf({ server, ...evidence }: Evidence): ServerBudget | undefined {
  return server && findBudget({ ...evidence, server });
}

/** Returns true if other processes took the CPU that the server needed. */
function isCrowded({ load, server, host, machineCores = Infinity }: Evidence): boolean {
  const { otherProcessesCores = 0, harnessCores = 0 } = host;
  const used = (server?.coresUsed ?? 0) + coresOfLoad(load) + harnessCores + otherProcessesCores;
  return otherProcessesCores > BUSY_CORES && used >= FULL * machineCores;
}

/** The utilisation of a generator, from 0 to 1: its event loop or its cores, whichever was busier. */
export function busy({ utilisation = 0, cpuUs, seconds, cores = 1 }: GeneratorUse): number {
  return Math.max(utilisation, cpuUs / 1e6 / seconds / cores);
}

function reasonIf<Code extends ReasonCode>(
  holds: boolean,
  ...given: Parameters<typeof makeReason<Code>>
): Reason[] {
  return holds ? [makeReason(...given)] : [];
}

/** Judges whether all generators of a cluster measured the same window. */
function judgeCluster(cluster: ClusterLoad | undefined): Reason[] {
  if (cluster === undefined) return [];
  const { planned, missing, hosts, parts, allowedSkewMs } = cluster;
  const apart = parts.flatMap(({ host, skewMs }) => {
    const { clockErrorMs = Infinity } = hosts.find(({ name }) => name === host) ?? {};
    return Math.abs(skewMs) + clockErrorMs > allowedSkewMs ? [{ host, skewMs, clockErrorMs }] : [];
  });
  const [worst] = apart
    .toSorted((a, b) => Math.abs(b.skewMs) - Math.abs(a.skewMs))
    .map(({ host, skewMs, clockErrorMs }) => ({
      host,
      why: `${Math.abs(skewMs).toFixed(1)} ms ${skewMs < 0 ? 'early' : 'late'}, and its clock is known to ± ${clockErrorMs.toFixed(1)} ms: ${allowedSkewMs} ms are allowed`,
    }));
  const task = `report what one of its ${planned} generators sent`;
  return [
    ...reasonIf(missing.length > 0, 'host-lost', { lost: missing, task }),
    ...(worst ? [makeReason('host-lost', { lost: [worst], task: 'open its window as planned' })] : []),
  ];
}

/** A sampled span may be this much longer than its window: both parts are exceeded where Bench was stopped. */
const LATE_SAMPLE = { seconds: 0.05, share: 0.02 };

/** Judges whether the CPU of the server was read when its window closed; the server is idle afterwards. */
function judgeSpan({ load, server, mode }: Evidence): Reason[] {
  // A fixed amount and an external tool are sampled from an idle server to an idle server.
  if (server === undefined || load.lifetime === undefined || mode.mode === 'amount') return [];
  const { windowSeconds } = load;
  const late = server.seconds - windowSeconds;
  const isLate = late > LATE_SAMPLE.seconds && late > LATE_SAMPLE.share * windowSeconds;
  return reasonIf(isLate, 'late-sample', { seconds: server.seconds, windowSeconds });
}

function judgeAccounting({ counts, cluster }: LoadResult): Reason[] {
  const all = [{ counts, host: undefined }, ...(cluster?.parts ?? [])];
  const wrong = all.flatMap(({ counts: { sent, ...rest }, host }) => {
    const accounted = sum(Object.values(rest));
    return sent === undefined || sent === accounted
      ? []
      : [
          makeReason('defect', {
            message: `${host === undefined ? '' : `from ${host}, `}${sent} requests were sent, but ${accounted} are accounted for: this is a bug in Bench`,
          }),
        ];
  });
  return wrong.slice(0, 1);
}

function judgeAnswers({ counts, connect, crossed = 0, unsolicited = 0, firstWrong }: LoadResult): Reason[] {
  const { planned, established } = connect;
  // After one unsolicited response, every later answer on its connection belongs to another request.
  const wrong = { bodies: (counts.mismatch ?? 0) - crossed, first: firstWrong, crossed, unsolicited };
  const isWrong = wrong.bodies > 0 || crossed > 0;
  const seen = Object.entries(counts).filter(([name, count]) => count > 0 && name !== 'sent');
  return [
    ...reasonIf(isWrong || unsolicited > 0, 'wrong-answers', wrong),
    ...reasonIf(counts.ok === 0 && !isWrong, 'no-answers', { planned, established, seen }),
  ];
}

function judgeErrors({ counts }: LoadResult): Reason[] {
  const { non2xx = 0, timeout = 0, reset = 0, closedEarly = 0, failed = 0 } = counts;
  const all = Object.entries({ non2xx, timeout, reset, closedEarly, failed });
  const kinds = all.filter(([, count]) => count > 0);
  const share = sum(kinds.map(([, count]) => count)) / Math.max(1, countCompletions(counts));
  return reasonIf(share > ERROR_SHARE, 'errors', { share, kinds });
}

/**
 * Little's law for a closed loop (Little 1961): completions per second × mean time from completion to
 * completion = connections. The product falls short if connections starve, which is a finding; it cannot exceed them. Right
 * responses that took longer than all cycles together were paired with the wrong requests. Each generator of a cluster is judged
 * too: together, one that served too few can hide.
 */
function judgeLittle(load: LoadResult, turns: number): { served: Served[]; reasons: Reason[] } {
  const { counts, meanCycleUs, connect, silentConnections = 0, latencyUs, cluster } = load;
  const whole = { ...load, connections: connect.planned, silentConnections, host: undefined };
  const own = weighLittle(load, whole, turns);
  const isMispaired =
    latencyUs !== undefined &&
    meanCycleUs !== undefined &&
    latencyUs.mean * counts.ok > meanCycleUs * own.completions * (1 + own.tolerance);
  const parts = (cluster?.parts ?? []).map((part) => weighLittle(load, part, 0));
  const broken = [own, ...parts].flatMap(({ broken: facts }) => facts ?? []);
  return {
    served: broken.filter(({ served, planned }) => served <= planned),
    reasons: [
      ...broken
        .filter(({ served, planned }) => served > planned)
        .slice(0, 1)
        .map((facts) => makeReason('little', facts)),
      ...(isMispaired ? [makeReason('little', { meanUs: latencyUs.mean, cycleUs: meanCycleUs })] : []),
    ],
  };
}

/** The connections that Little's law accounts for. */
interface Served {
  served: number;
  planned: number;
  silent: number;
  host: string | undefined;
}

/** Names the connections that the server did not accept or did not serve. */
function judgeConnections({ connect }: LoadResult, host: HostWindow, [first]: readonly Served[]): Reason[] {
  const { planned, established = planned, refused = 0 } = connect;
  const { listenOverflows: overflows = 0 } = host;
  if (established >= planned && first === undefined && overflows === 0) return [];
  return [
    makeReason('connections', {
      planned,
      overflows,
      ...(established < planned && { established, refused }),
      ...first,
    }),
  ];
}

/** The load of one generator, or of all. */
type Flow = Pick<LoadResult, 'counts' | 'completionsPerSecond' | 'meanCycleUs'> & {
  connections: number;
  silentConnections: number;
  host: string | undefined;
};

/**
 * Returns the most time that answers can have spent on the other side of an edge of the window, summed over the
 * connections, in seconds. The usual ones cancel out between two edges, so only the excess over the median of the longest
 * counts, one for each connection. In short turns, all that last longer than a turn end after it. A request that is still
 * open is older than all of them.
 */
function straddledSeconds(
  { latencyUs, latencyHistogram, censoredHistogram, windowSeconds }: LoadResult,
  { planned, turns }: { planned: number; turns: number },
): number {
  if (latencyHistogram === undefined) return 0;
  const answers = mergeHistograms([latencyHistogram]);
  const { p50 = 0 } = latencyUs ?? {};
  const longest = turns === 0 ? planned : countAbove(answers, (windowSeconds / turns) * 1e6);
  const open = mergeHistograms(censoredHistogram === undefined ? [] : [censoredHistogram]);
  return (sumLongest(answers, longest, p50) + sumLongest(open, planned, p50)) / 1e6;
}

function weighLittle(
  load: LoadResult,
  { counts, completionsPerSecond, meanCycleUs, connections: planned, silentConnections: silent, host }: Flow,
  turns: number,
): { completions: number; tolerance: number; broken: Served | undefined } {
  const completions = Math.max(1, countCompletions(counts));
  const served = meanCycleUs === undefined ? undefined : (completionsPerSecond * meanCycleUs) / 1e6;
  const share = (served ?? planned) / planned;
  // The end of a turn cuts one cycle of each connection: half of it on average, and more if the cycles differ.
  const cut = (planned * turns) / completions;
  const straddled = straddledSeconds(load, { planned, turns }) / load.windowSeconds;
  // With fewer than ten completions per connection, the edges of the window outweigh the tolerance.
  const tolerance = Math.max(LITTLE_TOLERANCE, planned / (2 * completions)) + cut + straddled / planned;
  const isKept = Math.abs(share - 1) <= tolerance && silent <= planned * LITTLE_TOLERANCE;
  const broken = isKept ? undefined : { served: Math.round(served ?? 0), planned, silent, host };
  return { completions, tolerance, broken };
}

/** A response that takes this long, and this many times as long as the tail of the others, was stalled. */
const STALL = { us: 100_000, ratio: 10, tails: ['p99', 'p97_5', 'p90', 'p75', 'p50'] as const };

/**
 * Names the responses that took far longer than the tail of the others, which no percentile shows. The bound is the largest
 * power of ten below the slowest.
 */
function judgeStall({ latencyUs, latencyHistogram }: LoadResult): Reason[] {
  const tail = STALL.tails.find((name) => latencyUs?.[name] !== undefined);
  const tailUs = tail && latencyUs?.[tail];
  if (tail === undefined || tailUs === undefined || latencyHistogram === undefined) return [];
  const histogram = mergeHistograms([latencyHistogram]);
  const slowestUs = histogram.maxValue;
  const aboveUs = 10 ** Math.floor(Math.log10(slowestUs));
  const facts = { count: countAbove(histogram, aboveUs), aboveUs, slowestUs, tail, tailUs };
  return reasonIf(slowestUs >= Math.max(STALL.us, STALL.ratio * tailUs), 'stall', facts);
}

/** Names the requests that got no response, long after the slowest one. Percentiles include them as lower bounds. */
function judgeUnanswered({ unanswered, counts: { sent = 0 }, latencyHistogram }: LoadResult): Reason[] {
  if (unanswered === undefined || latencyHistogram === undefined) return [];
  const slowestUs = mergeHistograms([latencyHistogram]).maxValue;
  return [makeReason('unanswered', { ...unanswered, sent, slowestUs })];
}

/**
 * Holds what an open loop sent against its rate, and its open requests against Little's law (Little 1961): correct responses
 * per second × mean latency = requests that were open on average. Requests that vanish, and latencies that belong to
 * other requests, break it.
 */
function judgeOpenLoop(load: LoadResult, perSecond: number): Reason[] {
  const { schedule, connect, windowSeconds, counts, latencyUs, latencyHistogram } = load;
  const { started, meanOpen } = schedule ?? {};
  if (started === undefined || meanOpen === undefined) return [];
  const due = Math.round(perSecond * windowSeconds);
  // A pause of the server just before the close leaves requests waiting, too. They only pile up if no connection is free
  // for most of the time.
  const isOverrun = due - started > due * ERROR_SHARE && meanOpen > connect.planned;
  const overrun = { offered: perSecond, served: countCompletions(counts) / windowSeconds };
  const reasons = isOverrun ? [makeReason('overrun', overrun)] : [];
  const isWhole = countCompletions(counts) === counts.ok && load.unanswered === undefined;
  if (latencyUs === undefined || latencyHistogram === undefined || !isWhole) return reasons;
  const served = (load.goodputPerSecond * latencyUs.mean) / 1e6;
  // A pause at an edge of the window cuts the latencies of all requests that became due in it.
  const slowest = mergeHistograms([latencyHistogram]).maxValue / 1e6;
  const cut = (perSecond * slowest ** 2) / 2 / windowSeconds;
  if (Math.abs(served - meanOpen) <= LITTLE_TOLERANCE * Math.max(served, meanOpen) + cut) return reasons;
  return [...reasons, makeReason('little', { served, open: meanOpen })];
}

/**
 * Finds what a busy generator made of latencies. One that is idle on average can still read the responses of a burst long after they
 * arrived, and a request that it sends late although a connection is free is not slow itself.
 */
function judgeGenerator({ latencyUs, latencyAtLeastUs, schedule }: LoadResult): Reason[] {
  const reads = compareBounds(latencyUs, latencyAtLeastUs, readUncertaintyUs);
  const starts = compareBounds(latencyUs, schedule?.sinceSentUs, startUncertaintyUs);
  return reasonIf(reads.length + starts.length > 0, 'late-generator', { reads, starts });
}

/** Returns the percentiles whose bounds differ by more than is allowed for the upper one. */
function compareBounds(
  upper: LatencyUs | undefined,
  lower: LatencyUs | undefined,
  allowed: (mostUs: number) => number,
): Uncertain[] {
  return (['p50', 'p99'] as const).flatMap((metric) => {
    const most = upper?.[metric];
    const least = lower?.[metric];
    if (most === undefined || least === undefined) return [];
    return most - least > allowed(most) ? [{ metric, most, least }] : [];
  });
}

/** The shortest time for which an operating system delays an acknowledgement: 40 ms on Linux, by a clock that can be early. */
const DELAYED_ACK_US = 38_000;

/**
 * Recognises answers of which a part waits until the client acknowledges the one before: the body, or the rest of the head. It
 * comes late only on a connection that has been used: a new one acknowledges at once (tcp(7), TCP_QUICKACK).
 */
export function isHeldBack({ freshUs, keptUs, bodyUs }: Alone): boolean {
  const waits = bodyUs > keptUs / 2 ? bodyUs : keptUs - freshUs;
  return waits >= DELAYED_ACK_US && freshUs < keptUs / 2;
}

/** From this share of the requests on, opened connections belong to each request. */
export const EACH = 0.9;

/** Returns the connections opened in a window, as a share of its requests; undefined if they were not counted. */
export function openedShare(load: Partial<Pick<LoadResult, 'opened' | 'counts'>>): number | undefined {
  const { opened, counts } = load;
  if (opened === undefined || counts === undefined) return undefined;
  return opened.count / Math.max(1, countCompletions(counts));
}

/** True if nearly every request of a window opened a connection. */
export function opensEach(load: Parameters<typeof openedShare>[0]): boolean {
  return (openedShare(load) ?? 0) >= EACH;
}

/** A load that opens a connection for each request meets no delayed acknowledgement. */
function judgeAlone({ alone, load, command }: Evidence): Reason[] {
  if (alone === undefined || opensEach(load) || !isHeldBack(alone)) return [];
  return [makeReason('delayed-ack', { ...alone, command: command?.join(' ') })];
}

function judgeLimit(limit: Limit, { load, server }: Evidence): Reason[] {
  if (limit !== 'generator') return [];
  const uses = load.generators.map(busy);
  const most = Math.max(...uses);
  const host = load.cluster?.parts[uses.indexOf(most)]?.host;
  return [makeReason('generator-bound', { busy: most, coresUsed: server?.coresUsed, host })];
}

/** Names the companion that holds back the server; services are its own. */
function judgeCompanions(limit: Limit, companions: readonly Witness[]): Reason[] {
  if (limit !== 'upstream' && limit !== 'database') return [];
  return companions.flatMap(({ companion, evidence: { resources, placement } }) =>
    companion.limit === limit && resources !== undefined
      ? [
          makeReason('companion-bound', {
            name: limit,
            coresUsed: resources.coresUsed,
            cores: placement.beside?.[limit],
          }),
        ]
      : [],
  );
}

/**
 * Judges a window that is not flat: on a quiet machine, that comes from the server. Where the generators cost as much CPU in
 * each slice, although they got more responses in some, the pace of the machine changed. Of servers that take short turns, the
 * trend of their ratio shows whether it comes from one of them (see trend.ts).
 */
function judgeShape({ load: { slices, windowSeconds, meanCycleUs }, host, mode }: Evidence): {
  shape: Shape | undefined;
  reasons: Reason[];
} {
  // The pace of an open loop of a search is that of its random arrivals.
  if (slices === undefined || mode.mode === 'promise') return { shape: undefined, reasons: [] };
  const widen = (ok: readonly number[]) =>
    widenSlices({ milliseconds: slices.milliseconds, ok }, { windowSeconds, meanCycleUs });
  const { milliseconds, counts } = widen(slices.ok);
  const shape = classifySlices(counts);
  if (shape === undefined || shape === 'flat') return { shape, reasons: [] };
  const isOfMachine = slices.cpuUs !== undefined && classifySlices(widen(slices.cpuUs).counts) === 'flat';
  const facts = { shape, least: Math.min(...counts), most: Math.max(...counts), milliseconds };
  return { shape, reasons: reasonIf(!isOfMachine && !isDisturbed(host), 'unsteady', facts) };
}

/** Returns true if other processes or the hypervisor took so much CPU that the pace says little about the server. */
export function isDisturbed({ otherProcessesCores = 0, stealCores = 0 }: HostWindow): boolean {
  return otherProcessesCores > BUSY_CORES || stealCores > BUSY_CORES;
}

/** Judges what the machine did to a window. */
function judgeHost(host: HostWindow, coresUsed: number | undefined): Reason[] {
  const {
    otherProcessesCores = 0,
    stealCores = 0,
    throttled = 0,
    lostSegments = 0,
    sentSegments: sent = 0,
  } = host;
  return [
    ...reasonIf(otherProcessesCores > BUSY_CORES, 'other-processes', {
      cores: otherProcessesCores,
      coresUsed,
    }),
    ...reasonIf(stealCores > BUSY_CORES, 'steal', { cores: stealCores, coresUsed }),
    ...reasonIf(throttled > 0, 'throttled', { count: throttled }),
    ...reasonIf(lostSegments > sent * LOST_SHARE, 'retransmits', { count: lostSegments, sent }),
  ];
}
