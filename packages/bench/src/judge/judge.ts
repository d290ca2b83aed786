import type { Attestation, Counts, Resources } from '../model.ts';
import type {
  CompanionName,
  GeneratorUse,
  HostWindow,
  Limit,
  LimitProof,
  LoadResult,
  Reason,
  ServerBudget,
  Shape,
} from '../results/record.ts';
import { isFatal, makeReason } from '../reasons.ts';
import { classifySlices, widenSlices } from '../steadiness.ts';
import type { CompanionEvidence, TrialCompanion } from '../services/companion.ts';
import { FULL, coresOfLoad } from '../saturation.ts';
import { findBudget, isUsedUp } from './server.ts';
import { countCompletions } from '../counts.ts';

const LITTLE_TOLERANCE = 0.05;
const ERROR_SHARE = 0.001;
const BUSY_CORES = 0.1;

/** What there is to judge a window by. */
export interface Evidence {
  load: LoadResult;
  server: Resources | undefined;
  /** Cores that the server may use. */
  budgetCores: number;
  /** Whether the load runs on the same cores. */
  isShared: boolean;
  /** Processes or event loops that the server was started with. */
  workers: number;
  /** What its live workers said of themselves. */
  attested: readonly Attestation[];
  host: HostWindow;
  /** Cores of the machine; absent where they are not to be judged. */
  machineCores?: number;
  /** What stood beside the server. */
  companions: Witness[];
  /** Whether every connection asks again when it is answered, to the end: not so with a fixed amount or rate. */
  isClosedLoop: boolean;
}

/** A companion, and what it judges the window by. */
export interface Witness {
  name: CompanionName;
  companion: Pick<TrialCompanion, 'isBottleneck' | 'judge'>;
  evidence: CompanionEvidence;
}

/** The reasons against a window, what was saturated in it, and its shape. */
export interface Judgement {
  /** Whether one of them is fatal. */
  failed: boolean;
  reasons: Reason[];
  limit: Limit;
  /** Undefined where the server's CPU was not measured. */
  budget: ServerBudget | undefined;
  /** Undefined where the window is too short to tell. */
  shape: Shape | undefined;
}

/** Judges one window by the checks that docs/reading-a-report.md lists under "Status". Pure. */
export function judge(evidence: Evidence): Judgement {
  const budget = budgetOf(evidence);
  const limit = findLimit(evidence, budget);
  const { shape, reasons: unsteady } = judgeShape(evidence);
  const { load, host, companions, isClosedLoop } = evidence;
  const reasons = [
    ...judgeAccounting(load),
    ...judgeAnswers(load),
    ...judgeUnsolicited(load),
    ...judgeConnect(load.connect),
    ...judgeErrors(load),
    ...(isClosedLoop ? judgeLittle(load) : []),
    ...judgeSchedule(load),
    ...judgeArrivals(load),
    ...judgeLimit(limit, evidence),
    ...companions.flatMap(({ companion, evidence: own }) => companion.judge?.({ ...own, limit }) ?? []),
    ...unsteady,
    ...judgeHost(host, countCompletions(load.counts)),
  ];
  const fatal = reasons.filter(isFatal);
  const doubts = reasons.filter((reason) => !isFatal(reason));
  return { failed: fatal.length > 0, reasons: [...fatal, ...doubts], limit, budget, shape };
}

/**
 * Names what was saturated. The generators are asked first: a saturated generator takes answers late,
 * so the figures are its own, whatever else was busy.
 */
export function findLimit(evidence: Evidence, budget = budgetOf(evidence)): Limit {
  const { load, server, companions, budgetCores, isShared } = evidence;
  const isFull = (coresUsed: number): boolean => coresUsed >= FULL * budgetCores;
  if (load.generators.some((use) => busy(use) > FULL)) return 'generator';
  if (budget !== undefined && isUsedUp(budget)) return 'server';
  const full = companions.find((one) => one.companion.isBottleneck?.(one.evidence) ?? false);
  if (full !== undefined) return full.name;
  if (server === undefined) return 'unknown';
  if (isCrowded(evidence)) return 'others';
  if (!isShared) return 'waiting';
  // What the load and the companions take of shared cores is not there for the server.
  const beside = companions.reduce((sum, one) => sum + (one.evidence.resources?.coresUsed ?? 0), 0);
  const taken = coresOfLoad(load) + beside;
  return isFull(server.coresUsed + taken) ? 'server' : 'waiting';
}

function budgetOf({ server, ...evidence }: Evidence): ServerBudget | undefined {
  return server && findBudget({ ...evidence, server });
}

/** Whether other processes kept the machine busy, so that nothing was left for the server. */
function isCrowded({ load, server, host, machineCores = Infinity }: Evidence): boolean {
  const { otherProcessesCores = 0, harnessCores = 0 } = host;
  const used = (server?.coresUsed ?? 0) + coresOfLoad(load) + harnessCores + otherProcessesCores;
  return otherProcessesCores > BUSY_CORES && used >= FULL * machineCores;
}

/** How busy a generator was, from 0 to 1: its event loop or its cores, whichever was busier. */
function busy({ utilisation = 0, cpuUs, seconds, cores = 1 }: GeneratorUse): number {
  return Math.max(utilisation, cpuUs / 1e6 / seconds / cores);
}

function judgeAccounting({ counts }: LoadResult): Reason[] {
  const { sent, ...rest } = counts;
  const accounted = Object.values(rest).reduce((total, count) => total + count, 0);
  return sent === undefined || sent === accounted ? [] : [makeReason('accounting', { sent, accounted })];
}

function judgeAnswers({ counts, connect, crossed = 0 }: LoadResult): Reason[] {
  const wrong = (counts.mismatch ?? 0) - crossed;
  const reasons = [
    ...(crossed > 0 ? [makeReason('crossed-answers', { count: crossed })] : []),
    ...(wrong > 0 ? [makeReason('wrong-body', { count: wrong })] : []),
  ];
  if (reasons.length > 0 || counts.ok > 0) return reasons;
  const seen = Object.entries(counts).filter(([name, count]) => count > 0 && name !== 'sent');
  return [makeReason('no-answers', { asked: connect.asked, stood: connect.stood, seen })];
}

/** One answer too many, and every later one on its connection belongs to another request. */
function judgeUnsolicited({ unsolicited = 0 }: LoadResult): Reason[] {
  return unsolicited === 0 ? [] : [makeReason('unsolicited', { count: unsolicited })];
}

function judgeConnect({ asked, stood, refused = 0 }: LoadResult['connect']): Reason[] {
  if (stood === undefined || stood >= asked) return [];
  return [makeReason('not-all-stood', { asked, stood, refused })];
}

function judgeErrors({ counts }: LoadResult): Reason[] {
  const { non2xx = 0, timeout = 0, reset = 0, closedEarly = 0, failed = 0 } = counts;
  const kinds = Object.entries({ non2xx, timeout, reset, closedEarly, failed });
  const errors = kinds.reduce((sum, [, count]) => sum + count, 0);
  const share = errors / Math.max(1, countCompletions(counts));
  if (share <= ERROR_SHARE) return [];
  return [makeReason('errors', { share, kinds: kinds.filter(([, count]) => count > 0) })];
}

/**
 * Little's law for a closed loop (Little 1961): completions per second × mean time from completion to
 * completion = connections. It falls short where connections starve. And right answers that took longer
 * than all cycles together were paired with the wrong requests.
 */
function judgeLittle({
  counts,
  completionsPerSecond,
  meanCycleUs,
  connect,
  silentConnections = 0,
  latencyUs,
}: LoadResult): Reason[] {
  const reasons: Reason[] = [];
  const served = meanCycleUs === undefined ? undefined : (completionsPerSecond * meanCycleUs) / 1e6;
  const share = (served ?? connect.asked) / connect.asked;
  // Fewer than ten completions a connection: the window's edges weigh more than the tolerance.
  const tolerance = Math.max(LITTLE_TOLERANCE, connect.asked / Math.max(1, 2 * countCompletions(counts)));
  if (Math.abs(share - 1) > tolerance || silentConnections > connect.asked * LITTLE_TOLERANCE) {
    reasons.push(
      makeReason('little', {
        served: Math.round(served ?? 0),
        asked: connect.asked,
        silent: silentConnections,
      }),
    );
  }
  if (
    latencyUs !== undefined &&
    meanCycleUs !== undefined &&
    latencyUs.mean * counts.ok > meanCycleUs * countCompletions(counts) * (1 + tolerance)
  ) {
    reasons.push(makeReason('pairing', { meanUs: latencyUs.mean, cycleUs: meanCycleUs }));
  }
  return reasons;
}

/** An open loop that found no free connection at its end: what waited there is in no percentile. */
function judgeSchedule({ schedule }: LoadResult): Reason[] {
  if (schedule === undefined || schedule.dropped <= schedule.intended * ERROR_SHARE) return [];
  return [makeReason('overrun', schedule)];
}

/** Percentiles that are known no better than this are not given: the generator read the answers too late. */
const UNCERTAINTY = { share: 0.1, us: 1000 };

/** A generator may be idle on average and still read the answers of a burst long after they arrived. */
function judgeArrivals({ latencyUs, latencyAtLeastUs }: LoadResult): Reason[] {
  const uncertain = (['p50', 'p99'] as const).flatMap((metric) => {
    const most = latencyUs?.[metric];
    const least = latencyAtLeastUs?.[metric];
    if (most === undefined || least === undefined) return [];
    return most - least > Math.max(UNCERTAINTY.us, UNCERTAINTY.share * most) ? [{ metric, most, least }] : [];
  });
  const [first] = uncertain;
  if (first === undefined) return [];
  return [makeReason(first.metric === 'p50' ? 'late-reads' : 'late-tail', { uncertain })];
}

function judgeLimit(limit: Limit, { load, server }: Evidence): Reason[] {
  if (limit !== 'generator') return [];
  const most = Math.max(...load.generators.map(busy));
  return [makeReason('generator-bound', { busy: most, coresUsed: server?.coresUsed })];
}

/** Doubts a server that gives no answer after the load because it still works for clients that have left. */
export function judgeUnverified(problem: string, { inFlight }: Counts): Reason {
  return makeReason('not-verified', { problem, inFlight });
}

/** How much goodput may rise with one generator more before the first figure counts as the client's. */
const PROOF_RATIO = 1.03;

/** Returns what a proof of the limit says against the trial. */
export function judgeProof(proof: LimitProof): Reason[] {
  if ('unproven' in proof || proof.ratio <= PROOF_RATIO) return [];
  return [makeReason('generator-bound', proof)];
}

/**
 * A window that is not flat. Where the machine was quiet, a trend is the server's own and its CPU per request is on the
 * move as well; a pace that wanders, or that others disturbed, says nothing of that.
 */
function judgeShape({ load: { slices, windowSeconds, meanCycleUs }, host }: Evidence): {
  shape: Shape | undefined;
  reasons: Reason[];
} {
  if (slices === undefined) return { shape: undefined, reasons: [] };
  const { milliseconds, counts } = widenSlices(slices, { windowSeconds, meanCycleUs });
  const shape = classifySlices(counts)?.shape;
  if (shape === undefined || shape === 'flat') return { shape, reasons: [] };
  const isOwn = shape !== 'erratic' && !isDisturbed(host);
  const facts = { shape, least: Math.min(...counts), most: Math.max(...counts), milliseconds };
  return { shape, reasons: [makeReason(isOwn ? 'trend' : 'unsteady', facts)] };
}

function isDisturbed({ otherProcessesCores = 0, stealCores = 0 }: HostWindow): boolean {
  return otherProcessesCores > BUSY_CORES || stealCores > BUSY_CORES;
}

function judgeHost(
  {
    otherProcessesCores = 0,
    unattributedCores,
    stealCores = 0,
    listenOverflows = 0,
    retransmits = 0,
    throttled = 0,
  }: HostWindow,
  completions: number,
): Reason[] {
  return [
    ...(unattributedCores === undefined ? [] : [makeReason('server-unknown', { cores: unattributedCores })]),
    ...(otherProcessesCores > BUSY_CORES
      ? [makeReason('other-processes', { cores: otherProcessesCores })]
      : []),
    ...(stealCores > BUSY_CORES ? [makeReason('steal', { cores: stealCores })] : []),
    ...(listenOverflows > 0 ? [makeReason('listen-overflows', { count: listenOverflows })] : []),
    ...(retransmits > completions * ERROR_SHARE ? [makeReason('retransmits', { count: retransmits })] : []),
    ...(throttled > 0 ? [makeReason('throttled', { count: throttled })] : []),
  ];
}
