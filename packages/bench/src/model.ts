/** The nouns and units of the project. Every room may import it. */
import type { TimeReport } from './time-report.ts';
import type { MetricId } from './metrics.ts';
import type { ReasonCode } from './reasons.ts';

/** The version of a trial's record. The schema file carries its history, results/older.ts reads older versions. */
export const RECORD_SCHEMA = 3;

/** How much of the work is the framework's: no framework, as documented, or hand-optimised. */
export type StackClass = 'raw' | 'framework' | 'tuned';

/** What a stack runs on: `none` is a compiled binary. */
export type RuntimeKind = 'node' | 'python' | 'none';

/** What must be true in the live server, or what it says of itself: one JSON value per property. */
export type Attestation = Record<string, string | number | boolean | null>;

/** `stack[/variant][@runtime]`, resolved: one thing to be measured. */
export interface Target {
  /** As written in tables: the variant is left out when it is the default, the runtime when not asked for. */
  id: string;
  stack: string;
  variant: string;
  /** Not known of a server that is already running. */
  class: StackClass | 'unknown';
  language: string;
  framework: string;
  /** The runtime as asked for, e.g. `3.13` or `26`; absent where the stack is a binary or already running. */
  runtime?: RuntimeSpec;
  /** Package versions or checkouts on top of the lock (`--with`). */
  packages?: string[];
  /** Locked versions without a wheel for the runtime were replaced by the newest that have one (`--resolve`). */
  resolved?: true;
  /** The target that this one repeats (`--aa`): what differs between the two is noise. */
  aaOf?: string;
  /** The target that this one repeats with a request kept in flight (`--background`). */
  undisturbed?: string;
  /** The target that this one repeats by another engine (`--cross-check`). */
  crossOf?: string;
  /** What loads it, where that is not the engine of the plan. */
  engine?: string;
}

/** The part of each companion in a record's head; `services/<name>/` adds its own. */
export interface CompanionHeads {}

/** The part of each companion in what was measured; `services/<name>/` adds its own. */
export interface CompanionRecords {}

/** What can stand beside a server during a trial. */
export type CompanionName = keyof CompanionRecords;

/** A request that is kept in flight beside the load, to the same server. */
export interface BackgroundRequest {
  method: string;
  path: string;
}

/** How an engine sends: each connection on its answer, at a rate whatever the server does, or an exact number of requests. */
export type LoadMode =
  | { mode: 'closed' }
  | { mode: 'open'; perSecond: number }
  | { mode: 'amount'; requests: number };

/** A runtime as asked for on the command line. */
export interface RuntimeSpec {
  kind: RuntimeKind;
  /** `3.13`, `3.14t`, `3.14+jit`, `22`, `bun`, a path. */
  spec: string;
}

/** A runtime as found on this machine. */
export interface ResolvedRuntime extends RuntimeSpec {
  version: string;
  /** What the build says of itself: compiler, configure flags, V8 version. */
  build: Record<string, string>;
}

/** What can be the upstream of a workload: nginx, or a server of our own. */
export const UPSTREAMS = ['nginx', 'embedded'] as const;
export type UpstreamKind = (typeof UPSTREAMS)[number];

/** Why a trial is not simply `ok`: what was seen, in words and figures, and which metrics it spoils. */
export interface Reason {
  code: ReasonCode;
  text: string;
  invalidates: MetricId[];
}

/** What became of requests. `sent` is exactly the sum of all the others. */
export interface Counts {
  sent: number;
  ok: number;
  non2xx: number;
  mismatch: number;
  timeout: number;
  reset: number;
  closedEarly: number;
  inFlight: number;
}

/** What an engine that is not ours tells of its requests; what it does not tell is absent. */
export interface ToldCounts extends Partial<Counts> {
  ok: number;
  /** Requests that went wrong in a way that it does not tell apart. */
  failed?: number;
}

/** Percentiles in µs; one that its sample cannot support is absent, one beyond the timeout is a lower bound. */
export interface LatencyUs {
  mean: number;
  p50?: number;
  p75?: number;
  p90?: number;
  p97_5?: number;
  p99?: number;
  p99_9?: number;
  max: number;
  /** Percentiles that fell among the timeouts: the figure given is the timeout, a lower bound. */
  atLeast?: string[];
}

/** How the connections came to stand. */
export interface Connect {
  asked: number;
  /** Connections that answered at least once before the window. */
  stood: number;
  /** From the first connect to the last first answer (or the deadline), in seconds. */
  seconds: number;
  refused: number;
  retried: number;
}

/** Resources of one side over the window. Absent fields were not measured on this platform. */
export interface Resources {
  /** What was read, and of which processes: `cgroup v1`, `proc stat ticks`, `self`. */
  source: string;
  scope: string;
  seconds: number;
  cpuUserUs: number;
  cpuSystemUs: number;
  coresUsed: number;
  /** What memory figures mean: `pss`, `footprint`. */
  memorySource?: string;
  idleBytes?: number;
  loadedBytes?: number;
  peakBytes?: number;
  contextSwitches?: number;
  processes?: number;
  /** The processes that used most CPU, most first; absent where threads cannot be read. */
  busiest?: ProcessUse[];
  /** Memory while the window was open, oldest first. */
  memoryOverTime?: MemoryReading[];
}

/** CPU of one process over the window, of the threads that were alive at its end. */
export interface ProcessUse {
  pid: number;
  cores: number;
  /** Its busiest threads, in cores, most first. */
  threads: number[];
}

/** Memory at a moment of a window. */
export interface MemoryReading {
  /** Since the window opened. */
  seconds: number;
  bytes: number;
}

/** What one generator process cost while it fired. */
export interface GeneratorUse {
  cpuUs: number;
  seconds: number;
  /** Event-loop utilisation over the window, 0 to 1; absent of one that has no loop to ask. */
  utilisation?: number;
  /** How many cores it can use, where that may be more than one. */
  cores?: number;
}

/** What became of the starts of an open loop over a window. */
export interface ScheduleReport {
  /** Starts that were due in the window. */
  intended: number;
  /** Left more than 1 ms after their time. */
  late: number;
  /** Still waiting for a free connection when the window closed. */
  dropped: number;
}

/** What answers told of the time that they took (`Server-Timing`), of those whose latency was taken. */
export interface ServerTiming {
  /** Its name there. */
  metric: string;
  toldUs: LatencyUs;
  /** The latency of each without what it told: its way, its turn in the server, the response. */
  restUs: LatencyUs;
}

/** The load side of one window, all generator processes merged. What its engine cannot tell is absent. */
export interface LoadResult {
  engine: string;
  connect: Pick<Connect, 'asked'> & Partial<Connect>;
  /** Mean of the processes' own windows, in seconds of a monotonic clock. */
  windowSeconds: number;
  /** When the window opened and closed, ms since the epoch, of the process that opened first and closed last. */
  openedAtMs: number;
  closedAtMs: number;
  counts: ToldCounts;
  /** From the first connect to the end of the drain: what a server's own account is compared with. */
  lifetime?: Counts;
  statusCodes?: Record<string, number>;
  /** Correct answers per second, summed over the processes. */
  goodputPerSecond: number;
  /** Completions of every class per second. */
  completionsPerSecond: number;
  latencyUs: LatencyUs | undefined;
  /**
   * The same if every answer had arrived as early as it can have: a busy generator reads answers later than they arrive,
   * and true percentiles lie between the two. Absent where the engine cannot tell.
   */
  latencyAtLeastUs?: LatencyUs | undefined;
  /** HDR histogram of the latencies in µs, compressed V2, base64. */
  latencyHistogram?: string | undefined;
  /** What the server told of its time, where the workload asks for it. */
  timing?: ServerTiming;
  /** Mean time from one completion of a connection to its next, in µs. */
  meanCycleUs?: number | undefined;
  /** Connections that completed nothing in the window. */
  silentConnections?: number;
  /** Correct answers in consecutive slices of the window. */
  slices?: { milliseconds: number; ok: number[] };
  bodyBytes?: number | undefined;
  /** Bodies whose hash was checked; absent where the engine looks at none. */
  bodiesHashed?: number;
  /** Of the mismatches, answers that told the id of another request; absent where requests have none. */
  crossed?: number;
  /** Answers that no request had asked for, from the first connect on; absent where the engine cannot tell. */
  unsolicited?: number;
  /** What autocannon's own tick counter would have printed as its average Req/Sec. */
  printedByAutocannon?: number | undefined;
  generators: GeneratorUse[];
  /** Of an open loop (`--rate`); latency then counts from the intended start. */
  schedule?: ScheduleReport;
}

/** What generators of ours give: every request accounted for. */
export interface OwnLoadResult extends LoadResult {
  connect: Connect;
  counts: Counts;
  lifetime: Counts;
  statusCodes: Record<string, number>;
  silentConnections: number;
  slices: { milliseconds: number; ok: number[] };
  bodiesHashed: number;
}

/** Who kept the figure from being higher. */
export type Limit = 'server' | 'generator' | 'others' | 'waiting' | 'unknown' | CompanionName;

/** The most that a server could use: all its cores, one core for each of its event loops, or for each process under a GIL. */
export interface ServerBudget {
  by: 'cores' | 'threads' | 'gil';
  usedCores: number;
  usableCores: number;
}

/** What one generator more did to goodput, or why that could not be tried. */
export type LimitProof = { goodputPerSecond: number; ratio: number } | { unproven: string };

/** The shape of a window: how goodput moved in it. */
export type Shape = 'flat' | 'warm-up' | 'slowdown' | 'erratic';

/** The machine during the window. */
export interface HostWindow {
  /** CPU of processes that are not ours, in cores. */
  otherProcessesCores?: number;
  /** CPU of all processes but ours, in cores, where the server is among them because its process is not known. */
  unattributedCores?: number;
  /** What that was read from: the cgroup root, a sum over processes, ticks of `/proc/stat`. */
  otherProcessesSource?: string;
  stealCores?: number;
  listenOverflows?: number;
  /** Without tail loss probes. */
  retransmits?: number;
  /** Thermal throttles of cores and exhausted CPU quotas. */
  throttled?: number;
  harnessCores?: number;
}

/** What a trial's load came to at the upstream. */
export interface UpstreamUse {
  /** Of the server under test, from the first connect to the end of the drain. */
  requests: number;
  /** How long one fixture took while nothing loaded it: the longer of before and after. */
  fetchUs: number;
  /** Its own, over the window. */
  resources?: Resources;
}

/** What a trial's load came to in the database. */
export interface DatabaseUse {
  /** Where requests insert: from the first of them to the server's end, the harness's own among them. */
  inserts?: InsertAccount;
  /** Its own, over the window; absent where its processes are not known. */
  resources?: Resources;
}

/** What became of inserts. */
export interface InsertAccount {
  /** Answered with a status from 200 to 299. */
  acknowledged: number;
  /** Rows that the table holds in the end. */
  stored: number;
  /** Sent, and never answered: each may be stored or not. */
  unanswered: number;
}

/**
 * What became of the request that was kept in flight, from the begin of the warm-up to the end of the window; none of
 * it is in the load's counts. `sent` is exactly the sum of what was answered, lost and cancelled.
 */
export interface BackgroundUse {
  seconds: number;
  sent: number;
  /** How often it was answered, by status. */
  statusCodes: Record<string, number>;
  /** How often there was no whole answer. */
  lost: number;
  /** Unfinished at the end of the window, 1 or 0. The server may have gone on with it. */
  cancelled: number;
  /** How long whole answers took. */
  durationUs?: LatencyUs;
}

/** Everything a window gave. */
export interface Measured {
  load: LoadResult;
  server?: Resources;
  /** What the companions of the trial have to tell. */
  companions?: Partial<CompanionRecords>;
  /** All that the server used in the window for each right answer to the load: what a background took is in it. */
  cpuUsPerRequest?: number;
  bytesPerConnection?: number;
  contextSwitchesPerRequest?: number;
  limit: Limit;
  /** The budget that the server was judged by; absent where its CPU was not measured. */
  budget?: ServerBudget;
  /** Only with `--prove-limit`. */
  limitProof?: LimitProof;
  /** Absent where the window was too short to tell. */
  shape?: Shape;
  host: HostWindow;
  startupSeconds?: number;
}

/** A request as a record keeps it: texts by their digests, headers by their names. */
export interface AskedRequest {
  method: string;
  path: string;
  headers: string[];
  bodySha256?: string;
  expectSha256?: string;
}

/** The code of a copy that a live server had loaded. */
export interface RunningCode {
  /** The folder as `--with` names it. */
  from: string;
  files: number;
  /** Of the names and contents of those files. */
  sha256: string;
}

/** A process as the system describes it. What it does not tell is absent. */
export interface ServerProcess {
  pid: number;
  executable?: string;
  /** What the executable prints for `--version`, if it is a known runtime. */
  version?: string;
  /** Without secrets. */
  command?: string[];
  /** The cores that it may use. */
  cores?: number[];
}

/** What stands of a trial before its outcome is known. */
export interface TrialHead {
  schema: number;
  id: string;
  run: string;
  target: Target;
  runtime?: ResolvedRuntime;
  /** What the live server said of itself, one entry per process that serves. */
  attested: Attestation[];
  workload: string;
  /** Parameters of the workload, by name. */
  params?: Record<string, number>;
  /** The request of `--url`; absent for every other workload. */
  request?: AskedRequest;
  /** The process of a server that was already running; absent if it is not known. */
  process?: ServerProcess;
  /** What it ran of a folder named by `--with`. */
  code?: RunningCode;
  connections: number;
  round: number;
  order: number;
  seed: number;
  /** Trials of one duel, whose servers stood at once, have the same. */
  duel?: string;
  startedAt: string;
  engine: string;
  /** Absent from records of schema 1 that do not tell. */
  load?: LoadMode;
  workers: number;
  /** Of each worker, where they were asked for. */
  threads?: number;
  /** What the server was to use, where it was asked for; `placement` says what it could. */
  cores?: number;
  /** What stood beside the server; absent when nothing did. */
  companions?: Partial<CompanionHeads>;
  placement: Placement;
  warmupSeconds: number;
  plannedSeconds: number;
  timeoutSeconds: number;
  /** A first impression (`--quick`): never published, never compared. */
  quick?: boolean;
}

/** What is kept of the server's end, whatever the outcome. */
export interface TrialTail {
  time?: TimeReport;
  /** Where the raw time(1) text and the log are, relative to the run's folder. */
  files: string[];
  logTail?: string[];
}

export interface OkTrial extends TrialHead, TrialTail {
  status: 'ok';
  reasons: [];
  measured: Measured;
}
export interface SuspectTrial extends TrialHead, TrialTail {
  status: 'suspect';
  reasons: Reason[];
  measured: Measured;
}
export interface FailedTrial extends TrialHead, TrialTail {
  status: 'failed';
  reasons: Reason[];
  /** What was seen before it failed; never ranked. */
  partial?: Partial<Measured>;
}
/** The record of one trial: figures can only be read where there are some. */
export type Trial = OkTrial | SuspectTrial | FailedTrial;

/** Which cores each side may use; absent lists mean that the platform cannot pin. */
export interface Placement {
  kind: 'separate' | 'shared' | 'unpinned';
  server?: number[];
  generator?: number[];
  /** Of each companion with processes on this machine; the generators' where no core was left for it. */
  beside?: Partial<Record<CompanionName, number[]>>;
}

/** A known answer and what was measured of it; figures are absent when its trial failed. */
export interface Calibrated {
  name: string;
  unit: string;
  told?: number;
  measured?: number;
  /** Largest allowed difference of the two; absent where the row is there to be compared with only. */
  tolerance?: number;
  inside: boolean;
}
