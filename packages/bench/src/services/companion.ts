/**
 * Companions: what stands beside a server during a trial, such as an upstream, a database or a background request. Each
 * is one folder here and one line in `index.ts`; the conductor knows the list, not its members.
 *
 * The life of a companion: `find` (does the plan need it, and is it installed?) → `start` once per run → `begin` for each
 * trial → its hooks, in the order in which `TrialCompanion` lists them → dispose, on every path.
 */
import type { Draw } from '../catalogue/workloads/workload.ts';
import { BenchError } from '../errors.ts';
import type { Server } from '../machine/launch.ts';
import type { Placed } from '../machine/placement.ts';
import type {
  CompanionName,
  Counts,
  Limit,
  LoadResult,
  Placement,
  Reason,
  Resources,
  Target,
} from '../model.ts';
import type { Plan } from '../plan/plan.ts';

/** What a plan, or a command that serves one target, says of the companions that it needs. */
export type CompanionNeeds = Pick<
  Plan,
  'workload' | 'params' | 'url' | 'upstream' | 'background' | 'workers' | 'duel' | 'targets'
>;

/** One kind of companion: a line of the list. */
export interface CompanionKind {
  name: CompanionName;
  /**
   * Finds what the plan needs of it; undefined when the plan needs none. Throws a usage or toolchain error when it needs one
   * that cannot be had.
   */
  find(needs: CompanionNeeds): Promise<Companion | undefined>;
}

/** A companion that a plan needs, before it is started. */
export interface Companion {
  name: CompanionName;
  /** Kind and version, as a resumed run must find them again; absent when nothing of it can change. */
  version?: string;
  /** Whether it runs on this machine in processes of its own, and so needs cores. */
  isPlaced: boolean;
  /** Starts what lives as long as the run. Throws when it does not start, or when the plan asks more of it than it has. */
  start(means: CompanionMeans): Promise<RunningCompanion>;
}

/** What a companion runs with. */
export interface CompanionMeans {
  /** Marks its processes, so that a later start can prove that they are left over. */
  token: string;
  /** The run's folder: its logs are kept there. */
  folder: string;
  placed: Pick<Placed, 'beside'>;
  /** Notes what would be left over on a server of others if this run were killed; undefined when nothing is any more. */
  owe?: (server: string | undefined) => void;
}

/** A companion for the length of a run. Disposing releases everything it holds. */
export interface RunningCompanion extends AsyncDisposable {
  name: CompanionName;
  /** Where it answers, for a person to look at; absent when that is of no use or secret. */
  address?: string;
  /** Its part of the head of a target's records; undefined when it takes no part in the trials of that target. */
  head(target: Target): unknown;
  /** Begins its part in one trial. Throws what keeps the trial from beginning. */
  begin(draw: Draw): Promise<TrialCompanion>;
}

/** A process to sample over the window, with everything it starts. */
export interface CompanionProcess {
  pid: number;
  cgroup?: Server['cgroup'];
}

/** A companion for the length of one trial. Disposing ends its part, whatever state the trial is in. */
export interface TrialCompanion extends AsyncDisposable {
  /** What the server is told by environment variables. */
  env?: Record<string, string>;
  /** The process to sample; undefined when it is not known. Throws when it has ended. */
  process?(): CompanionProcess | undefined;
  /** Called for each answer that the harness itself got, with its status; with undefined for a request without one. */
  onAnswer?(status: number | undefined): void;
  /** Called after the server was verified and before the first connect of the load. */
  beforeLoad?(): Promise<void>;
  /** Called when the warm-up begins; what it returns is disposed when the window closes, or when the load breaks. */
  duringLoad?(server: Server): Disposable;
  /** Called with what became of everything that the generators sent, whatever ended the load. */
  onAccount?(lifetime: Counts): void;
  /** Called after the load, while the server still runs. */
  afterLoad?(): Promise<void>;
  /** Requests of its own to the server. */
  requests?(): number;
  /** Whether it was saturated, so that it held back the server. */
  isBottleneck?(evidence: CompanionEvidence): boolean;
  /** What it says against the window. */
  judge?(evidence: CompanionEvidence & { limit: Limit }): Reason[];
  /** Whether the server may still be at work for it, so that a slow stop is not the server's fault. */
  keepsServerBusy?(): boolean;
  /** Called after the server has stopped; `hasFailed` tells whether the trial has failed already. */
  afterStop?(hasFailed: boolean): Promise<Reason[]>;
  /** Its part of the record, with its resources over the window; undefined when there is nothing to tell. */
  record?(resources: Resources | undefined): unknown;
}

/** What a companion judges a window by. */
export interface CompanionEvidence {
  load: LoadResult;
  /** Its own, over the window. */
  resources: Resources | undefined;
  placement: Placement;
  /** Requests that companions sent to the server beside the load. */
  besideRequests: number;
}

/** The rows in the table of reasons for what goes wrong with a companion itself. */
export type CompanionReason = 'companion' | 'upstream' | 'database';

/** Something is wrong with a companion, and so with no server's figure. */
export class CompanionError extends BenchError {
  readonly reason: CompanionReason;

  /** `reason` is the companion's own row in the table of reasons, where it has one. */
  constructor(message: string, reason: CompanionReason = 'companion') {
    super('trial', message);
    this.reason = reason;
  }
}
