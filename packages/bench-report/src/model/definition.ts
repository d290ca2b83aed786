/** The model of a report: every value that a view shows or `report --json` prints. What was not measured is absent: never 0, never -1. */
import type { CurvePoint } from 'bench-analysis/curve';
import type { ComparedTable } from 'bench-analysis/compare';
import type { Distribution } from 'bench-analysis/distribution';
import type { Ending } from 'bench-analysis/due';
import type { Idle } from 'bench-analysis/idle';
import type { TrialFigure } from 'bench-analysis/metrics';
import type { Moment } from 'bench-analysis/over-time';
import type { Route } from 'bench-analysis/routes';
import type { Scaling } from 'bench-analysis/scaling';
import type { Figure, Row } from 'bench-analysis/summary';
import type { TargetUsage } from 'bench-analysis/times';
import type { Host } from 'bench-model/host';
import type { IdleCloses } from 'bench-model/load';
import type { ServerBudget } from 'bench-model/measured';
import type { Metric, MetricId } from 'bench-model/metrics';
import type { Plan } from 'bench-model/plan';
import type { Place } from 'bench-model/planned';
import type { Reason, ReasonCode } from 'bench-model/reasons';
import type { ServerProcess, Trial } from 'bench-model/record';
import type { SentRequests } from 'bench-model/requests';
import type { JudgedHost, LeftOut, Versions } from 'bench-model/run';
import type { Attestation, Interpreter, ResolvedRuntime, Target } from 'bench-model/target';

/** The smallest and the largest value. */
export interface Range {
  least: number;
  most: number;
}

/** One metric of a target at a rung, over its rounds. */
export interface ModelFigure extends Figure {
  /**
   * 1 + the number of targets at this rung that are better; figures that the rounds do not distinguish share a rank. Absent if
   * no comparison bounds its difference from another one.
   */
  rank?: number;
  /** Codes of the reasons that invalidate it in at least one round. */
  reasons: ReasonCode[];
}

/** One trial of a row. */
export interface Point extends Pick<
  Trial,
  'id' | 'round' | 'order' | 'seed' | 'startedAt' | 'status' | 'reasons' | 'files'
> {
  limit?: Row['limits'][number];
  /** Empty if it failed. */
  figures: Partial<Record<MetricId, TrialFigure>>;
  /** The requests of the window, also if the trial failed later. */
  counts?: NonNullable<Extract<Trial, { status: 'ok' }>['measured']>['load']['counts'];
  /** Correct responses per second in consecutive spans of the window, each at its end. */
  goodputOverTime?: Moment[];
  /** Bytes of the process tree in the window. */
  memoryOverTime?: Moment[];
  /** The last lines of the log, if the trial has a reason. */
  logTail?: string[];
}

/** The connections that were opened in the windows of a row: medians of the rounds, times in µs. */
interface Opened {
  perSecond: number;
  /** Of the requests that ended. */
  share: number;
  /** The time to connect. */
  p50?: number;
  p99?: number;
}

/** The processes of a server that came and went in its windows, and the requests that were lost in these trials. */
interface Turnover {
  began: number;
  ended: number;
  trials: number;
  /** Requests that got no response, and their share of those that ended. */
  failed: number;
  share: number;
}

/** The requests beside the load, over all trials. */
interface BackgroundTotal {
  answered: number;
  /** Unfinished at the end. */
  cancelled: number;
  longestUs: number;
}

/** A target at a place, over its rounds. */
export interface ModelRow extends Row {
  figures: Partial<Record<MetricId, ModelFigure>>;
  /** The answers to the requests of a user by their status, right or wrong; absent if all were 200 or nobody counted. */
  answered?: Record<string, number>;
  /** The likely cause of the latency of an idle server; absent if nobody asked for it. */
  idle?: Idle;
  /** Present if the server was saturated although cores were idle: one loop, or a GIL. */
  budget?: ServerBudget;
  /** The CPU of its responses that followed them, between the turns of its server: the median share of the rounds; absent without turns. */
  deferredShare?: number;
  opened?: Opened;
  turnover?: Turnover;
  /** Those of all its trials. */
  idleCloses?: IdleCloses;
  background?: BackgroundTotal;
  /** Each request of a user; absent if there is one. */
  routes?: Route[];
  /** Latency over load (several of `--rate`): medians of the rounds. */
  curve?: CurvePoint[];
  /** In the order of the rounds. */
  trials: Point[];
  distribution?: Distribution;
}

/** A measured target as it was found. */
export interface ModelServer {
  target: Target;
  runtime?: ResolvedRuntime;
  /** Absent for a binary, and if it is not known. */
  interpreter?: Interpreter;
  /** The properties that the first server attested, such as its versions. */
  attested?: Attestation;
  /** Node processes that collected all garbage before the load, the fewest over its trials; absent if none was asked to. */
  collected?: number;
  /** The processes of a server that was already running; more than one if it was restarted. */
  processes: ServerProcess[];
}

/** One kind of reason to distrust figures, with the rows that have it. */
export interface Problem {
  /** With the text of the first trial that has it. */
  reason: Reason;
  /** True if a trial with this reason has no figures. */
  isFatal: boolean;
  /** The rows that have it: the number of their trials with it, and of all their trials. */
  places: (Place & { target: string; rounds: number; of: number })[];
}

/** What a reader must know beside the figures. Every view picks from the same notes. */
export interface Note {
  /** In few lines: counts instead of lists. */
  brief: string[];
  /** With everything that it is about. */
  full: string[];
  /** What a server did, in a few words with its figure. The last line and `ci` say it too. */
  found?: string;
}

/** A host that sent load, over all trials of a run. */
export interface LoadHost {
  name: string;
  cpuModel?: string;
  cores?: number;
  /** Of all correct responses, those that it got. */
  share: number;
  /** The most by which one of its windows opened off the plan, and by which its clock was known wrongly, in ms. */
  skewMs: number;
  clockErrorMs: number;
}

/** A host that rounds were to be spread over, and the rounds that ran on it. */
export interface RoundHost extends JudgedHost {
  rounds: number[];
}

/** Everything that a report shows: typed values, and notes on them. */
export interface Model {
  run: string;
  /** The command that was typed for it; absent if a program began it. */
  repeat?: string;
  plan: Plan;
  host: Host;
  versions: Versions;
  /** Targets that could not be launched here. */
  leftOut: LeftOut[];
  /** Complete rounds, and those of the plan. */
  rounds: { measured: number; planned: number };
  /** When and why a sequential test ended; absent for a run of fixed rounds. */
  ending?: Ending;
  /** The metrics of the figures, in the order of their columns. */
  metrics: Pick<Metric, 'id' | 'label' | 'unit' | 'better'>[];
  servers: ModelServer[];
  placement?: Trial['placement'];
  companions?: NonNullable<Trial['companions']>;
  /** The requests of a user, each with the weakest check that a trial made of its responses. */
  sent?: SentRequests;
  /** The age of the server processes when their windows opened, and the responses that they had given. */
  age?: { seconds: Range; answers?: Range };
  /** The hosts that sent the load; absent if this machine did. */
  hosts?: LoadHost[];
  /** The hosts that the rounds were spread over; absent if they ran on one machine. */
  roundHosts?: RoundHost[];
  /** Sorted by rung, by request if several targets are measured with it, then by CPU per request; rows without one are last. */
  rows: ModelRow[];
  /** One table for each metric; none for a quick run, or for fewer than two targets. */
  comparisons: ComparedTable[];
  /** The scaling of each target at each rung (`--scale`). CPU per request and memory are in `rows`. */
  scalings?: Scaling[];
  /** Each kind of reason once: those that fail trials, the findings, then the disturbances, the most frequent first. */
  problems: Problem[];
  /** The resources that each target used at each rung, as time(1) reports them, by rung. */
  times: TargetUsage[];
  notes: Note[];
  /** Absent without a trial. */
  outcome?: Outcome;
}

/** The response of a run. */
export interface Outcome {
  /** One sentence, and one on what the servers did. */
  text: string;
  /** True if the comparisons are the response, and not the ranking. */
  isCompared: boolean;
}
