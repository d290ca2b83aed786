import type { Interval } from '../analyse/signed-rank.ts';

/** The verdict on a known answer. Only `inside` and `outside` judge the instrument, `not measured` fails it too. */
export type CalibrationVerdict = 'inside' | 'outside' | 'undecided' | 'not measured';

/** A known answer and its measured figure. */
export interface Calibrated {
  /** The heading that its row stands under, with the unit of its figures. */
  group: string;
  name: string;
  /** True for a part of the bias in the row above. */
  isPart?: boolean;
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
  /** Absent where the system does not tell. */
  stealCores?: Interval;
  otherProcessesCores?: Interval;
}

/** The bias of this instrument on this machine. */
export interface Calibration {
  answers: Calibrated[];
  machine: MachineDuring;
}
