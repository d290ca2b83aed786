/** The rounds of a calibration, and what they say about the instrument. */
import type { Interval } from './interval.ts';
import type { HostWindow } from './measured.ts';
import type { Reason } from './reasons.ts';
import type { Trial } from './record.ts';

/** A planted server: its program, and its options besides its ports. */
export interface PlantedServer {
  name: string;
  program: 'server' | 'threads';
  faults: string[];
}

/** A server that delays or stalls its answers, loaded by the driver and by bare sockets in turn. */
export interface LatencyScenario {
  kind: 'latency';
  name: string;
  server: PlantedServer;
  connections: number;
  /** Requests per second of an open loop; a closed loop if absent. */
  rate?: number;
  /** The planted stalls; with them, arithmetic gives the known answer. Without them, it is the median that the server reports. */
  stalls?: Stalls;
}

/** Stalls of this many ms at equal intervals, and the percentile of an open loop that is compared. */
export interface Stalls {
  everyMs: number;
  ms: number;
  percentile: number;
}

/** Two servers that differ in one planted fault, loaded one after the other at the same rate. */
export interface TwinScenario {
  kind: 'twins';
  name: string;
  plain: PlantedServer;
  planted: PlantedServer;
  connections: number;
  /** Requests per second. In a closed loop, the costlier twin would sleep less, and waking up costs CPU too. */
  rate: number;
  /** The sum of the windows of each twin. */
  windowSeconds: number;
  /** The known answers, and their names. */
  answers: Partial<Record<TwinAnswer, string>>;
}

/** The figure that twins compare: the CPU of the fault, all CPU of the planted one by its own account, or the memory of the fault. */
export type TwinAnswer = 'burn' | 'rusage' | 'memory';

export type Scenario = LatencyScenario | TwinScenario;

/** The parts of a planted server's account that are compared. */
export interface Account {
  requests: { read: number };
  burn: { burns: number; burnedUs: number };
  memory: { allocatedBytes: number };
  latencyUs: { count: number; p50?: number };
  cpu: { userUs: number; systemUs: number };
}

/** A percentile of the latencies of one turn, as its client measured it and as the planted server gives it, in µs. */
export interface SeenLatency {
  measuredUs: number;
  reportedUs: number;
}

/** The machine during one round. */
interface Round {
  host: HostWindow;
  /** The reasons to distrust the round that lie in the machine. */
  disturbances: Reason[];
}

/** One turn of the driver and one of bare sockets, right after each other. */
export interface LatencyRound extends Round {
  kind: 'latency';
  driver: SeenLatency;
  bare: SeenLatency;
}

/** A twin in one round of turns: its trial, and its account before and after the load. */
export interface MeasuredTwin {
  trial: Trial;
  before: Account;
  after: Account;
}

/** One round of fresh twins in turns. */
export interface TwinRound extends Round {
  kind: 'twins';
  plain: MeasuredTwin;
  planted: MeasuredTwin;
}

/** A round that gave no figures. */
export interface FailedRound extends Round {
  kind: 'failed';
  why: string;
}

export type CalibrationRound = LatencyRound | TwinRound | FailedRound;

/** The verdict on a known answer. Only `inside` and `outside` judge the instrument, `not measured` fails it too. */
export type CalibrationVerdict = 'inside' | 'outside' | 'undecided' | 'not measured';

/** A known answer and its measured figure. */
export interface Calibrated {
  /** The heading above its row, with the unit of its figures. */
  group: string;
  name: string;
  /** True for a part of the bias in the row above. */
  isPart?: boolean;
  /** True if arithmetic gives the reported figure, and not the server. */
  isComputed?: boolean;
  /** Medians over the rounds; absent without rounds. */
  reported?: number;
  measured?: number;
  /** The Hodges-Lehmann estimate of measured − reported. */
  bias?: number;
  /** The interval of the bias; absent with too few rounds. */
  interval?: Interval;
  /** The largest allowed bias; absent if the row only explains others. */
  tolerance?: number;
  /** Absent if the row only explains others. */
  verdict?: CalibrationVerdict;
  /** The reason for a verdict other than `inside`. */
  why?: string;
  /** The rounds in order, disturbed ones included. */
  rounds: CalibratedRound[];
}

/** The figures of one round. */
export interface CalibratedRound {
  reported: number;
  measured: number;
  /** The reasons to distrust the round that lie in the machine. */
  disturbances: string[];
}

/** The machine during all rounds. Shares of a core are those of the quietest and of the busiest round. */
export interface MachineDuring {
  rounds: number;
  disturbed: number;
  /** Absent where the system does not report it. */
  stealCores?: Interval;
  otherProcessesCores?: Interval;
}

/** The bias of this instrument on this machine. */
export interface Calibration {
  answers: Calibrated[];
  machine: MachineDuring;
}
