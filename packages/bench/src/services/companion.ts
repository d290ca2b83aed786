/**
 * Companions: programs and requests beside a server during a trial, such as an upstream, a database or a background
 * request. Each is one folder here and one line in `index.ts`. The conductor knows the list, not its members.
 *
 * The life of a companion: `find` (does the plan need it, and is it installed?) → `start` once per run → `begin` for each
 * trial → its hooks, in the order in which `TrialCompanion` lists them → dispose, on every path.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CompanionJudge } from 'bench-analysis/judge/companions';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { Stack } from 'bench-model/stack';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import { BenchError, TrialError } from 'bench-model/errors';
import { describeEnd, type Server } from 'bench-machine/launch';
import type { PinnedCommands } from 'bench-machine/placement';
import type { CompanionName } from 'bench-model/companions';
import type { Reason } from 'bench-model/reasons';
import type { Counts, Resources } from 'bench-model/figures';
import type { Target } from 'bench-model/target';
import type { Plan } from 'bench-model/plan';
import type { Caused } from '../measure/caused.ts';

/** The facts that decide which companions a plan, or a command that serves one target, needs. */
export interface CompanionNeeds extends Pick<
  Plan,
  'workload' | 'params' | 'userRequests' | 'background' | 'workers' | 'byTurns' | 'targets'
> {
  /** The stacks of the targets, those of the copies of a user's project included. */
  known: readonly Stack[];
}

/** One kind of companion: a line of the list. */
export interface CompanionKind {
  name: CompanionName;
  /** Finds the companion; undefined if it is not needed. Throws a usage or toolchain error if it is missing. */
  find(needs: CompanionNeeds): Promise<Companion | undefined>;
}

/** A companion that a plan needs, before it is started. */
export interface Companion {
  name: CompanionName;
  /** Its kind and version, which a resumed run must find unchanged; absent if there is nothing that can change. */
  version?: string;
  /** True if it runs in processes on this machine and needs cores. */
  isPlaced: boolean;
  /** Starts the part that lives as long as the run. Throws if that fails, or if the plan exceeds its capacity. */
  start(context: CompanionContext): Promise<RunningCompanion>;
}

export interface CompanionContext {
  /** Marks its processes, so that a later start can recognise leftovers. */
  token: string;
  /** The folder of the run, for its logs. */
  folder: string;
  placed: Pick<PinnedCommands, 'beside'>;
  /** True if databases are to count their statements, which costs them time. */
  countsStatements?: boolean;
  /** Records the leftovers on an external server if this run were killed; undefined once there are none. */
  recordLeftoverServer?: (server: string | undefined) => void;
}

/** A companion for the length of a run. Disposing releases everything it holds. */
export interface RunningCompanion extends AsyncDisposable {
  name: CompanionName;
  /** Its address, for the user to try; absent if it is of no use or secret. */
  address?: string;
  /** Its part of the head of a target's records; undefined if it takes no part in the trials of that target. */
  head(target: Target): unknown;
  /** Begins its part in one trial. Trials in turns overlap: each has its own part. Throws if the trial cannot begin. */
  begin(draw: Draw, trial: CompanionTrial): Promise<TrialCompanion>;
  /** Called when the user interrupts: a start that waits ends at once. */
  interrupt?(): void;
}

/** A trial as a companion sees it before the server starts. */
export interface CompanionTrial {
  id: string;
  target: Target;
  /** Undefined for a server that is already running. */
  prepared: Pick<Prepared, 'env' | 'setup' | 'stack'> | undefined;
}

/** A process to sample over the window, with all its descendants. */
export interface CompanionProcess {
  pid: number;
  cgroup?: Server['cgroup'];
}

/** A companion for the length of one trial. Disposing ends its part, whatever the state of the trial. */
export interface TrialCompanion extends AsyncDisposable, CompanionJudge {
  env?: Record<string, string>;
  /** Returns the process to sample; undefined if unknown. Throws if it has ended. */
  process?(): CompanionProcess | undefined;
  /** Called with the status of each answer to a request of the harness; with undefined for an unanswered one. */
  onAnswer?(status: number | undefined): void;
  /** Called after the server was verified and before the load opens its first connection. */
  beforeLoad?(): Promise<void>;
  /** Called when the warm-up begins. The result is disposed when the window closes or the load breaks. */
  duringLoad?(server: Server): Disposable;
  /** Called with the account of all requests of the generators, however the load ended. */
  onAccount?(lifetime: Counts): void;
  /** Counts what the server has caused here so far. Absent if nothing counts it. */
  count?(): Promise<Caused>;
  /** Called after the load, while the server is still running. */
  afterLoad?(): Promise<void>;
  /** The number of complete responses of the server to its own requests so far. */
  answers?(): number;
  /** The number of its own requests to the server. */
  requests?(): number;
  /** Returns true if the server may still be working for it, so that a slow stop is not the fault of the server. */
  keepsServerBusy?(): boolean;
  /** Called after the server has stopped; `hasFailed` is true if the trial has failed already. */
  afterStop?(hasFailed: boolean): Promise<Reason[]>;
  /** Returns its part of the record, with its resources over the window; undefined if there is nothing to record. */
  record?(resources: Resources | undefined): unknown;
}

/** Returns the process of a server that was launched, to sample it; undefined if it has ended. */
export function processOf(server: Server): CompanionProcess | undefined {
  const pid = server.ended() === undefined ? server.pid() : undefined;
  return pid === undefined ? undefined : { pid, cgroup: server.cgroup };
}

const POLL_MS = 20;

/**
 * Waits until `look` finds nothing that a program lacks to be ready. If it ends, or is not ready in time, stops it and throws what
 * `fail` returns for the reason.
 */
export async function untilReady(
  program: Server,
  look: () => Promise<string | undefined>,
  seconds: number,
  fail: (why: string) => BenchError,
): Promise<void> {
  let why: string | undefined = 'nobody could look at it';
  try {
    why = await whyNotReady(program, look, seconds);
  } finally {
    if (why !== undefined) await program.stop();
  }
  if (why !== undefined) throw fail(why);
}

async function whyNotReady(
  program: Server,
  look: () => Promise<string | undefined>,
  seconds: number,
): Promise<string | undefined> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const end = describeEnd(program);
    if (end !== undefined) return `ended before it was ready (${end})`;
    const lack = await look();
    if (lack === undefined) return undefined;
    if (performance.now() > deadline) return `is not ready after ${seconds} s: ${lack}`;
    await sleep(POLL_MS);
  }
}

/** A failure of a companion, which says nothing about the server. */
export class CompanionError extends BenchError {
  /** Details for the user beyond the message, line by line; a record keeps only the message. */
  readonly details: readonly string[];

  constructor(message: string, details: readonly string[] = []) {
    super('trial', message);
    this.details = details;
  }

  /** Returns an error whose message holds everything, after the words `before`. */
  explained(hint: string, before = ''): BenchError {
    const lines = [before + this.message, ...this.details.map((line) => `  ${line}`)];
    return new TrialError(lines.join('\n'), hint);
  }
}
