import { METRIC_IDS, type MetricId } from '../metrics.ts';
import type {
  Attestation,
  BackgroundUse,
  Counts,
  GeneratorUse,
  HostWindow,
  Limit,
  LimitProof,
  LoadResult,
  Reason,
  Resources,
  ServerBudget,
  Shape,
} from '../model.ts';
import { classifySlices, widenSlices } from '../steadiness.ts';
import { isDatabaseFull, judgeDatabase, type DatabaseEvidence } from './judge-database.ts';
import { findBudget, isUsedUp } from './judge-server.ts';
import { judgeBackground } from './judge-background.ts';
import {
  FULL,
  RATES,
  coresOfLoad,
  isUpstreamFull,
  judgeUpstream,
  type UpstreamEvidence,
} from './judge-upstream.ts';
import { countCompletions } from '../counts.ts';

const LITTLE_TOLERANCE = 0.05;
const ERROR_SHARE = 0.001;
const FOREIGN_CORES = 0.1;

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
  upstream?: UpstreamEvidence | undefined;
  database?: DatabaseEvidence | undefined;
  background?: BackgroundUse | undefined;
  /** Whether every connection asks again when it is answered, to the end: not so with a fixed amount or rate. */
  isClosedLoop: boolean;
}

/** What was found: whether it failed, why it is suspect, who was the limit, and the window's shape. */
export interface Judgement {
  failed: boolean;
  reasons: Reason[];
  limit: Limit;
  /** Undefined where the server's CPU was not measured. */
  budget: ServerBudget | undefined;
  /** Undefined where the window is too short to tell. */
  shape: Shape | undefined;
}

const ALL: MetricId[] = [...METRIC_IDS];

/** Judges one window by the checks that README explains under "Status". Pure. */
export function judge(evidence: Evidence): Judgement {
  const budget = budgetOf(evidence);
  const limit = findLimit(evidence, budget);
  const { shape, reasons: unsteady } = judgeShape(evidence);
  const upstream = judgeUpstream(evidence, limit);
  const background = judgeBackground(evidence.background);
  const fatal = [
    ...judgeAccounting(evidence.load),
    ...judgeAnswers(evidence.load),
    ...upstream.fatal,
    ...background.fatal,
  ];
  const doubts = [
    ...judgeConnect(evidence.load.connect),
    ...judgeErrors(evidence.load),
    ...(evidence.isClosedLoop ? judgeLittle(evidence.load) : []),
    ...judgeSchedule(evidence.load),
    ...judgeLimit(limit, evidence),
    ...upstream.doubts,
    ...judgeDatabase(evidence.database, limit),
    ...background.doubts,
    ...unsteady,
    ...judgeHost(evidence.host, countCompletions(evidence.load.counts)),
  ];
  return { failed: fatal.length > 0, reasons: [...fatal, ...doubts], limit, budget, shape };
}

/**
 * Names what was saturated. The generators are asked first: a saturated generator takes answers late,
 * so the figures are its own, whatever else was busy.
 */
export function findLimit(evidence: Evidence, budget = budgetOf(evidence)): Limit {
  const { load, server, upstream, database, budgetCores, isShared } = evidence;
  const isFull = (coresUsed: number): boolean => coresUsed >= FULL * budgetCores;
  if (load.generators.some((use) => busy(use) > FULL)) return 'generator';
  if (budget !== undefined && isUsedUp(budget)) return 'server';
  if (upstream !== undefined && isUpstreamFull(upstream, load)) return 'upstream';
  if (database !== undefined && isDatabaseFull(database, load)) return 'database';
  if (server === undefined || !isShared) return 'waiting';
  // What load, upstream and database take of shared cores is not there for the server.
  const beside = (upstream ?? database)?.resources?.coresUsed ?? 0;
  const taken = coresOfLoad(load) + beside;
  return isFull(server.coresUsed + taken) ? 'server' : 'waiting';
}

function budgetOf({ server, ...evidence }: Evidence): ServerBudget | undefined {
  return server && findBudget({ ...evidence, server });
}

/** How busy a generator was, from 0 to 1: its event loop or its cores, whichever was busier. */
function busy({ utilisation = 0, cpuUs, seconds, cores = 1 }: GeneratorUse): number {
  return Math.max(utilisation, cpuUs / 1e6 / seconds / cores);
}

function judgeAccounting({ counts }: LoadResult): Reason[] {
  const { sent, ...rest } = counts;
  if (sent === undefined) return [];
  const sum = Object.values(rest).reduce((total, count) => total + count, 0);
  if (sent === sum) return [];
  return [
    {
      code: 'accounting',
      text: `${sent} requests were sent but ${sum} are accounted for: a defect of the tool`,
      invalidates: ALL,
    },
  ];
}

function judgeAnswers({ counts, connect, foreign = 0 }: LoadResult): Reason[] {
  const wrong = (counts.mismatch ?? 0) - foreign;
  const reasons: Reason[] = [];
  if (foreign > 0) {
    reasons.push({
      code: 'foreign-answer',
      text: `${foreign} answers belonged to another request`,
      invalidates: ALL,
    });
  }
  if (wrong > 0)
    reasons.push({ code: 'wrong-body', text: `${wrong} answers had a wrong body`, invalidates: ALL });
  if (reasons.length > 0) return reasons;
  if (counts.ok === 0) {
    const seen = Object.entries(counts).filter(([name, count]) => count > 0 && name !== 'sent');
    const what = seen.map(([name, count]) => `${count} ${name}`).join(', ') || 'nothing at all';
    return [
      {
        code: 'no-answers',
        text: `no right answer in the window, ${connect.stood ?? 'not known how many'} of ${connect.asked} connections stood: ${what}`,
        invalidates: ALL,
      },
    ];
  }
  return [];
}

function judgeConnect({ asked, stood, refused = 0 }: LoadResult['connect']): Reason[] {
  if (stood === undefined || stood >= asked) return [];
  const why = refused > 0 ? `${refused} connects were refused or failed` : `${asked - stood} never answered`;
  return [
    {
      code: 'not-all-stood',
      text: `${stood} of ${asked} connections stood when the window opened: ${why}`,
      invalidates: [...RATES, 'memory'],
    },
  ];
}

function judgeErrors({ counts }: LoadResult): Reason[] {
  const { non2xx = 0, timeout = 0, reset = 0, closedEarly = 0, failed = 0 } = counts;
  const kinds = { non2xx, timeout, reset, closedEarly, failed };
  const errors = Object.values(kinds).reduce((sum, count) => sum + count, 0);
  const share = errors / Math.max(1, countCompletions(counts));
  if (share <= ERROR_SHARE) return [];
  const named = Object.entries(kinds).filter(([, count]) => count > 0);
  const list = named.map(([name, count]) => `${count} ${name}`).join(', ');
  return [
    {
      code: 'errors',
      text: `${(share * 100).toFixed(2)} % of the requests failed (${list})`,
      invalidates: ALL.filter((metric) => metric !== 'startup'),
    },
  ];
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
    const silent = silentConnections > 0 ? `; ${silentConnections} got no answer in the window` : '';
    reasons.push({
      code: 'little',
      text: `${describeServed(Math.round(served ?? 0), connect.asked)}${silent}`,
      invalidates: [...RATES, 'memory'],
    });
  }
  if (
    latencyUs !== undefined &&
    meanCycleUs !== undefined &&
    latencyUs.mean * counts.ok > meanCycleUs * countCompletions(counts) * (1 + tolerance)
  ) {
    reasons.push({
      code: 'pairing',
      text: `mean latency ${Math.round(latencyUs.mean)} µs cannot be: the mean cycle of a connection was ${Math.round(meanCycleUs)} µs`,
      invalidates: ['p50', 'p99'],
    });
  }
  return reasons;
}

/** An open loop that found no free connection at its end: what waited there is in no percentile. */
function judgeSchedule({ schedule }: LoadResult): Reason[] {
  if (schedule === undefined || schedule.dropped <= schedule.intended * ERROR_SHARE) return [];
  return [
    {
      code: 'overrun',
      text: `${schedule.dropped} of ${schedule.intended} starts still waited for a connection when the window closed: the rate was more than was served`,
      invalidates: RATES,
    },
  ];
}

function describeServed(served: number, asked: number): string {
  return served <= asked
    ? `rate and cycle time account for ${served} of ${asked} connections only (Little's law): the others were not served`
    : `rate and cycle time make ${served} connections where there are ${asked} (Little's law): the pace changed too much to trust it`;
}

function judgeLimit(limit: Limit, { load, server }: Evidence): Reason[] {
  if (limit !== 'generator') return [];
  const most = Math.max(...load.generators.map(busy));
  const beside = server === undefined ? '' : ` while the server used ${server.coresUsed.toFixed(2)} cores`;
  return [
    {
      code: 'generator-bound',
      text: `the generator was ${Math.round(most * 100)} % busy${beside}: goodput is a lower bound, latency is the client's`,
      invalidates: RATES,
    },
  ];
}

/** What a server is doubted for that gives no answer after the load, because it is at work for those who have left. */
export function judgeUnverified(problem: string, { inFlight }: Counts): Reason {
  const owed = `it still owed ${inFlight} answers when the load left`;
  return { code: 'not-verified', text: `${problem}: ${owed}`, invalidates: [] };
}

/** How much goodput may rise with one generator more before the first figure counts as the client's. */
const PROOF_RATIO = 1.03;

/** What a proof of the limit says against the trial. */
export function judgeProof(proof: LimitProof): Reason[] {
  if ('unproven' in proof) return [];
  if (proof.ratio <= PROOF_RATIO) return [];
  const rise = ((proof.ratio - 1) * 100).toFixed(1);
  return [
    {
      code: 'generator-bound',
      text: `one generator more raised goodput by ${rise} %: the first figure was the client's`,
      invalidates: RATES,
    },
  ];
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
  const words = {
    'warm-up': 'it was still getting faster',
    slowdown: 'it was getting slower',
    none: 'it kept changing its pace',
  };
  const range = `${Math.min(...counts)} to ${Math.max(...counts)} answers per ${milliseconds} ms`;
  const isOwn = shape !== 'none' && !isDisturbed(host);
  return {
    shape,
    reasons: [
      {
        code: isOwn ? 'trend' : 'unsteady',
        text: `not steady in the window: ${words[shape]} (${range})`,
        invalidates: isOwn ? [...RATES, 'cpu'] : RATES,
      },
    ],
  };
}

function isDisturbed({ foreignCores = 0, stealCores = 0 }: HostWindow): boolean {
  return foreignCores > FOREIGN_CORES || stealCores > FOREIGN_CORES;
}

function judgeHost(
  { foreignCores, stealCores, listenOverflows, retransmits, throttled }: HostWindow,
  completions: number,
): Reason[] {
  const reasons: Reason[] = [];
  if ((foreignCores ?? 0) > FOREIGN_CORES) {
    reasons.push({
      code: 'foreign-cpu',
      text: `other processes used ${percent(foreignCores ?? 0)} of a core`,
      invalidates: RATES,
    });
  }
  if ((stealCores ?? 0) > FOREIGN_CORES) {
    reasons.push({
      code: 'steal',
      text: `the hypervisor took ${percent(stealCores ?? 0)} of a core`,
      invalidates: RATES,
    });
  }
  if ((listenOverflows ?? 0) > 0) {
    reasons.push({
      code: 'listen-overflows',
      text: `${listenOverflows} connects overran the accept queue`,
      invalidates: ['p99'],
    });
  }
  if ((retransmits ?? 0) > completions * ERROR_SHARE) {
    reasons.push({
      code: 'retransmits',
      text: `${retransmits} TCP segments were sent again`,
      invalidates: ['p99'],
    });
  }
  if ((throttled ?? 0) > 0) {
    reasons.push({
      code: 'throttled',
      text: `the CPU was throttled ${throttled} times`,
      invalidates: [...RATES, 'cpu'],
    });
  }
  return reasons;
}

function percent(cores: number): string {
  return `${Math.round(cores * 100)} %`;
}
