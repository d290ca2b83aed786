/** What the life of a server does to the machine, as arguments, so that tests run it with fakes. `conduct/effects.ts` has the real ones. */
import type { CompanionName } from 'bench-model/companions';
import type { Alone, FoundCapacity } from 'bench-model/measured';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import type { RunningCode } from 'bench-model/record';
import type { LiveRuntime } from 'bench-model/runtimes';
import type { Target } from 'bench-model/target';
import type { LoadEngine } from 'bench-load/engine';
import type { Server } from 'bench-machine/launch';
import type { PinnedCommands } from 'bench-machine/placement';
import type { Burner } from 'bench-machine/resources/burner';
import type { Clock, CpuMeter } from 'bench-machine/resources/cpu-meter';
import type { Sampler } from 'bench-machine/resources/sampler';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import type { CodeClaim } from 'bench-targets/prepare/imports';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { CompanionProcess, RunningCompanion } from '../services/companion.ts';
import type { Weighted } from './alone.ts';
import type { SeenServer } from './outside.ts';
import type { Expected } from './verify.ts';

/** The common inputs of a run's trials, and the target of one of them. */
export interface TrialContext {
  plan: Plan;
  placed: PinnedCommands;
  /** Undefined for a server that is already running. */
  prepared: Prepared | undefined;
  target: Target;
  /** The searches of earlier trials: where that of this one begins. */
  earlier?: readonly FoundCapacity[];
}

export interface TrialEffects {
  launch(prepared: Prepared, planned: PlannedTrial, draw: Draw): Promise<Server>;
  /** Asks until the first correct response. */
  awaitRightAnswer(server: Server, draw: Draw, deadlineSeconds: number): Promise<void>;
  /** Sends the login, and returns the draw with its token. Absent if no workload has one. */
  logIn?(server: Server, draw: Draw, deadlineSeconds: number): Promise<Draw>;
  verify(server: Server, draw: Draw, when: string): Promise<Expected>;
  load(): LoadEngine;
  companions: RunningCompanion[];
  /** Opens the sampler of a server and its companions; undefined if the process of the server is unknown. */
  resources(server: Server, companions: NamedProcess[]): Promise<Sampler | undefined>;
  /** Opens the reader of a process's CPU between short turns; undefined if it cannot be read that often. */
  meter(process: { pid?: number | undefined; cgroup?: Server['cgroup'] }): CpuMeter | undefined;
  /** Looks at the runtime of a server; undefined if its process is not known. Absent if not needed. */
  seeRuntime?(server: Server): SeenRuntime | undefined;
  /** Lets a server use every core of the run, until the returned function pins it again; undefined if it stays pinned. Absent if not needed. */
  widen?(server: Server, placed: PinnedCommands): Promise<(() => Promise<void>) | undefined>;
  /** Starts what burns CPU in the accounting of a server; undefined if it has none of its own. Absent if not needed. */
  startBurner?(server: Server, placed: PinnedCommands): Promise<Burner | undefined>;
  now(): number;
  clock: Clock;
  /** Reads the cores that a server may use now; undefined if they are unknown. Absent if not needed. */
  readCores?(server: Server): number[] | undefined;
  /** Looks at a server from outside. Throws if it is not what was asked for. Absent if not needed. */
  seeServer?(server: Server, context: TrialContext, planned: PlannedTrial, draw: Draw): Promise<SeenServer>;
  /**
   * Has the Node processes of the idle server collect garbage. Returns how many did; undefined if it does not apply.
   * Absent if not needed.
   */
  collect?(server: Server, prepared: Prepared, planned: PlannedTrial): Promise<number | undefined>;
  /** Names the watcher under which the server of a user runs; undefined if there is none. Absent if not needed. */
  findWatcher?(server: Server, prepared: Prepared | undefined): string | undefined;
  /** Asks an idle server one request at a time. Absent if not needed. */
  askAlone?(server: Server, requests: readonly Weighted[]): Promise<Alone>;
  /** Asks the live server which code it runs; absent if not needed. */
  readCode?(server: Server, code: CodeClaim, planned: PlannedTrial, draw: Draw): Promise<RunningCode>;
}

export type NamedProcess = CompanionProcess & { name: CompanionName };

export interface SeenRuntime {
  runtime: LiveRuntime;
  /** Undefined if it compiles in the threads that answer. */
  compilers: CpuMeter | undefined;
  /** The cores that it may use; undefined if they are not known. */
  cores: number | undefined;
  /** True for a JVM that collects garbage serially, although nobody has asked it to. */
  isSerial: boolean;
}
