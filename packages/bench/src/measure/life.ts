/** The life of one server: start, first correct response, attest, verify, collect, load, verify, stop, account. */

import { ROUTE_SECONDS, warmupSecondsOf } from 'bench-model/planned';
import { DisposableStack } from '@whatwg-node/disposablestack';
import { cpus } from 'node:os';
import { workloadOf } from 'bench-targets/catalogue/workloads/index';
import { describeSent } from 'bench-targets/catalogue/workloads/requests/sent';
import {
  describeDifference,
  drawRoute,
  isSafe,
  type Draw,
  type Route,
  type WorkloadRequest,
} from 'bench-targets/catalogue/workloads/workload';
import { toBenchError, TrialError } from 'bench-model/errors';
import type { CompanionName } from 'bench-model/companions';
import type { FailedTrial, Placement, RunningCode, Trial, TrialHead, TrialTail } from 'bench-model/record';
import type { LoadResult } from 'bench-model/load';
import type { Alone, FoundCapacity, Measured } from 'bench-model/measured';
import { isFatal, isFinding, makeReason, type Reason } from 'bench-model/reasons';
import type { Counts } from 'bench-model/figures';
import type { LiveRuntime } from 'bench-model/runtimes';
import type { Interpreter, Target } from 'bench-model/target';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { RECORD_SCHEMA } from 'bench-model/versions';
import type { UserRequests } from 'bench-model/requests';
import { createRandom } from 'bench-statistics/random';
import {
  CompanionError,
  type CompanionProcess,
  type RunningCompanion,
  type TrialCompanion,
} from '../services/companion.ts';
import type { Weighted } from './alone.ts';
import { attest } from './attest.ts';
import type { Caused } from './caused.ts';
import { typicalUs } from 'bench-analysis/idle';
import { judgeUnverified, type Seen } from 'bench-analysis/judge/judge';
import { judgeTrial, overWindow } from 'bench-analysis/judge/trial';
import type { CodeClaim } from 'bench-targets/prepare/imports';
import type { Server, Stopped } from 'bench-machine/launch';
import type { LoadEngine, LoadSession } from 'bench-load/engine';
import { UsedUpError } from 'bench-load/line';
import type { LoadSpec, RouteSpec } from 'bench-load/protocol';
import { present } from 'bench-model/options';
import { describeUsedUp, shareOf } from '../plan/rows.ts';
import type { Expected } from './verify.ts';
import type { PinnedCommands } from 'bench-machine/placement';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { Burner } from 'bench-machine/resources/burner';
import { UpkeepMeter, type Clock, type CpuMeter } from 'bench-machine/resources/cpu-meter';
import type { Sampler } from 'bench-machine/resources/sampler';
import { UnansweredError } from 'bench-targets/catalogue/workloads/send';
import { describeLoops } from './capacity.ts';
import type { SeenServer } from './outside.ts';
import type { WindowResult } from './window.ts';
import { sum } from 'bench-statistics/numbers';

/** The effects of a trial, as arguments, so that tests run it with fakes. */
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
  /** Looks at a user's server from outside; absent if not needed. */
  seeServer?(server: Server, prepared: Prepared, planned: PlannedTrial, draw: Draw): Promise<SeenServer>;
  /** Reads the build of the interpreter that a server runs; undefined if it is not known. Absent if not needed. */
  readInterpreter?(server: Server, target: Target): Promise<Interpreter | undefined>;
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

/** Returns a request after whose response the connection is closed (RFC 9112, section 9.6). */
function closeAfter(request: WorkloadRequest): WorkloadRequest {
  return { ...request, headers: { ...request.headers, connection: 'close' } };
}

/** Faster responses of an idle server need no explanation. */
const SLOW_US = 5000;

/** The runtime of a live server. */
export interface SeenRuntime {
  runtime: LiveRuntime;
  /** Undefined if it compiles in the threads that answer. */
  compilers: CpuMeter | undefined;
  /** The cores that it may use; undefined if they are not known. */
  cores: number | undefined;
  /** True for a JVM that collects garbage serially, although nobody has asked it to. */
  isSerial: boolean;
}

type NamedProcess = CompanionProcess & { name: CompanionName };

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

/** A server that has not given a correct response yet. */
export interface Awaited {
  server: Pick<Server, 'host' | 'port' | 'listensOn' | 'socketPaths' | 'mayIgnorePort' | 'logTail'>;
  /** True until a login is answered. The log may hold its token already, which is not known yet and cannot be hidden. */
  isLoggingIn: boolean;
  /** The error in its last response. */
  wrong?: string | undefined;
}

/** A verified server and its requests. */
export interface ReadyServer {
  server: Server;
  spec: LoadSpec;
  sampler: Sampler | undefined;
  /** Undefined if its CPU cannot be read between short turns. */
  metered: Metered | undefined;
  /** Undefined if its process is not known. */
  seen: SeenRuntime | undefined;
  /** The longest warm-up that its manifest allows, in seconds; undefined without one that does. */
  mostWarmupSeconds: number | undefined;
  /** True if Bench has started it. */
  isOwn: boolean;
  /** Starts what burns CPU in its accounting; undefined if nothing can. */
  startBurner(): Promise<Burner | undefined>;
  /** Lets it use every core of the run until it is pinned again. */
  widen(): Promise<(() => Promise<void>) | undefined>;
  /** The known processes of the server and its companions. */
  pids: number[];
  /**
   * The CPU of its companions in short turns. Undefined if one of them works by itself during the load, or cannot be read that
   * often.
   */
  beside: CompanionMeter[] | undefined;
}

/** A process whose CPU can be read between short turns. */
export interface Metered {
  meter: CpuMeter;
  upkeep: UpkeepMeter;
}

interface CompanionMeter extends Metered {
  name: CompanionName;
  pid: number;
}

/** What a new token of a login concerns. */
interface Renewal {
  session?: Pick<LoadSession, 'replace'>;
  trial?: LifeTrial | undefined;
  /** Takes the step of the login, whose CPU belongs to no figure. */
  aside?: <T>(step: () => Promise<T>) => Promise<T>;
}

interface Part {
  name: CompanionName;
  companion: TrialCompanion;
}

/** One server from its start to its end; the load comes from the conductor. */
export class ServerLife {
  /** Its trials, in the order of the plan: one for each request that is measured alone, or one. */
  readonly trials: readonly LifeTrial[];
  readonly #context: TrialContext;
  readonly #effects: TrialEffects;
  /** The first of its trials, or a trial of all requests. */
  readonly planned: PlannedTrial;
  #draw: Draw;
  readonly #parts: Part[] = [];
  #startup: Pick<Measured, 'startupSeconds'> = {};
  /** The answers to requests of the harness so far, and those of the load in sessions that have ended. */
  #answers = 0;
  /** The time of the first correct response, in ms of the monotonic clock. */
  #answeredAtMs: number | undefined;
  /** The processes that collected garbage before the load; undefined if none was to. */
  #collected: number | undefined;
  #isLoggingIn = false;
  /** The error in the last response that had one. */
  #wrong: string | undefined;
  #server: Server | undefined;
  #sampler: Sampler | undefined;
  /** The first answer to each request in the verifications before the load, and in those after it. */
  readonly #verified = { before: openSeen(), after: openSeen() };
  #verifying: SeenAnswers | undefined;
  #code: Promise<RunningCode> | undefined;
  /** True for a JVM that collects serially only because Bench gave it one core. */
  #isSerial = false;
  /** The draw before the login, and the time of the last one in ms of the monotonic clock; undefined without a login. */
  #loggedIn: { draw: Draw; atMs: number } | undefined;

  constructor(
    planned: PlannedTrial,
    context: TrialContext,
    effects: TrialEffects,
    trials: readonly PlannedTrial[] = [planned],
  ) {
    this.planned = planned;
    this.#context = context;
    this.#effects = effects;
    const random = createRandom(planned.seed);
    const { plan } = context;
    const share = shareOf(plan, planned);
    this.#draw = this.#watch(workloadOf(plan).draw(() => random.float(), plan.params ?? {}, share));
    this.trials = trials.map(
      (one) => new LifeTrial(one, context, effects, (error) => this.#explain(error, one)),
    );
    this.#describeSent();
  }

  /** Tells the companions of every response that is checked. */
  #watch(draw: Draw): Draw {
    const { login } = draw;
    return {
      ...draw,
      ...(login && {
        login: {
          ...login,
          complete: (answer) => {
            this.#answers++;
            return login.complete(answer);
          },
        },
      }),
      check: (answer, index) => {
        this.#answers++;
        for (const { companion } of this.#parts) companion.onAnswer?.(answer.status);
        this.#verifying?.bodies.set(index, this.#verifying.bodies.get(index) ?? headOfBody(answer.body));
        const wrong = draw.check(answer, index);
        this.#wrong = wrong ?? this.#wrong;
        return wrong;
      },
    };
  }

  /** Describes the requests of each trial in its record. */
  #describeSent(): void {
    const { userRequests } = this.#context.plan;
    if (userRequests === undefined) return;
    for (const trial of this.trials) {
      const { expected, isVerified } = trial;
      trial.head.requests = describeSent(
        trial.requestsOf(userRequests),
        trial.drawOf(this.#draw),
        isVerified ? { expected } : undefined,
      );
    }
  }

  get earlier(): readonly FoundCapacity[] {
    return this.#context.earlier ?? [];
  }

  /** The server until its first correct response; undefined before it was launched. */
  get awaited(): Awaited | undefined {
    if (this.#server === undefined || this.#answeredAtMs !== undefined) return undefined;
    return { server: this.#server, isLoggingIn: this.#isLoggingIn, wrong: this.#wrong };
  }

  /** True if no trial of it can go on. */
  get failed(): boolean {
    return this.trials.every(({ failed }) => failed);
  }

  /** Starts the companions and the server, waits for its first correct response, attests and verifies it. Throws if a step fails for all trials. */
  async start(): Promise<ReadyServer> {
    const { plan, prepared, target } = this.#context;
    let draw = this.#draw;
    const trial = { id: this.planned.id, target, prepared };
    for (const running of this.#effects.companions) {
      if (running.head(target) === undefined) continue;
      this.#parts.push({ name: running.name, companion: await running.begin(draw, trial) });
    }
    // A companion whose host was lost has begun on another one.
    this.#setHead(headsOf(this.#effects.companions, target));
    const env = Object.assign({}, draw.env, ...this.#parts.map(({ companion }) => companion.env));
    const server = await this.#effects.launch(prepared as Prepared, this.planned, { ...draw, env });
    this.#server = server;
    if (server.process !== undefined) this.#setHead({ process: server.process });
    draw = await this.#logIn(server, draw);
    await this.#effects.awaitRightAnswer(server, draw, plan.startSeconds);
    const { startedAtMs } = server;
    this.#answeredAtMs = performance.now();
    if (startedAtMs !== undefined)
      this.#startup = { startupSeconds: (this.#answeredAtMs - startedAtMs) / 1000 };
    const stranger = server.stranger?.();
    if (stranger !== undefined)
      throw new TrialError(
        `port ${server.port} is served by ${stranger}, which ran before the server started`,
      );
    const watcher = this.#effects.findWatcher?.(server, prepared);
    if (watcher !== undefined) this.note(makeReason('watcher', { watcher }));
    const attested = await attest(server, prepared, plan.workers);
    const seen =
      prepared?.stack?.project === undefined
        ? undefined
        : await this.#effects.seeServer?.(server, prepared, this.planned, this.#draw);
    this.#setHead({
      attested: [...attested, ...(seen?.attested ?? [])],
      ...(seen?.process && { process: seen.process }),
    });
    const interpreter = await this.#effects.readInterpreter?.(server, target);
    if (interpreter !== undefined) this.#setHead({ interpreter });
    await this.#verifyBefore(server);
    // The answers to requests that the server must refuse are not passed to the check.
    this.#answers += draw.refused?.length ?? 0;
    this.#describeSent();
    if (prepared !== undefined)
      this.#collected = await this.#effects.collect?.(server, prepared, this.planned);
    const processes = this.#parts.flatMap(({ name, companion }): NamedProcess[] => {
      const process = companion.process?.();
      return process === undefined ? [] : [{ name, ...process }];
    });
    this.#sampler = await this.#effects.resources(server, processes);
    await this.#sampler?.idle();
    for (const { companion } of this.#parts) await companion.beforeLoad?.();
    const pids = [server.pid() ?? [], ...processes.map(({ pid }) => pid)].flat();
    return {
      server,
      spec: this.specOf(),
      sampler: this.#sampler,
      metered: this.#metered({ pid: server.pid(), cgroup: server.cgroup }),
      seen: this.#seeRuntime(server),
      mostWarmupSeconds: prepared?.stack.warmupSeconds,
      isOwn: prepared !== undefined,
      startBurner: async () => this.#effects.startBurner?.(server, this.#context.placed),
      widen: async () => this.#effects.widen?.(server, this.#context.placed),
      pids,
      beside: this.#meterBeside(processes),
    };
  }

  /** Looks at the runtime of the server, and at what one core changes in it. */
  #seeRuntime(server: Server): SeenRuntime | undefined {
    const seen = this.#effects.seeRuntime?.(server);
    this.#isSerial = seen?.isSerial === true && seen.cores === 1 && this.#context.prepared !== undefined;
    return seen;
  }

  #meterBeside(processes: readonly NamedProcess[]): CompanionMeter[] | undefined {
    if (this.#parts.some(({ companion }) => companion.duringLoad !== undefined)) return undefined;
    const meters = processes.flatMap((one): CompanionMeter[] => {
      const metered = this.#metered(one);
      return metered === undefined ? [] : [{ name: one.name, pid: one.pid, ...metered }];
    });
    return meters.length === processes.length ? meters : undefined;
  }

  #metered(process: Parameters<TrialEffects['meter']>[0]): Metered | undefined {
    const meter = this.#effects.meter(process);
    return meter && { meter, upkeep: new UpkeepMeter(meter, this.#effects.clock) };
  }

  /**
   * Returns the load of a trial on the running server, with the token of now. By default it is that of all its requests; for
   * several trials, without those that are sent once, whose rows belong to their trials.
   */
  specOf(trial = this.trials.length === 1 ? this.trials[0] : undefined): LoadSpec {
    if (trial !== undefined) return this.#specOf(trial.drawOf(this.#draw), trial.expected);
    const whole = this.#specOf(this.#draw, undefined);
    return {
      ...whole,
      order: whole.order?.filter((route) => this.#draw.routes?.[route]?.once === undefined),
    };
  }

  /** Returns true if the load of all requests includes those of a trial. */
  isWarmedUp(trial: LifeTrial): boolean {
    return trial.drawOf(this.#draw).routes?.every(({ once }) => once === undefined) ?? true;
  }

  #specOf(draw: Draw, expected: Expected): LoadSpec {
    const { plan } = this.#context;
    const { host, port, tls } = this.#server as Server;
    return {
      host,
      port,
      tls,
      requests: this.#requestsFor(draw),
      routes: draw.routes?.map(toRouteSpec),
      order: draw.order,
      connections: this.planned.connections,
      timeoutSeconds: plan.timeoutSeconds,
      barrierSeconds: plan.barrierSeconds,
      expected,
      spreadSeconds: plan.waitSeconds ?? plan.answerSeconds,
      hashEvery: plan.hashEvery,
      timing: draw.timing,
    };
  }

  /** Sends the login of a draw if it has one. Returns the draw with its token, which is that of this life from now on. */
  async #logIn(server: Server, draw: Draw): Promise<Draw> {
    if (draw.login === undefined || this.#effects.logIn === undefined) return draw;
    this.#loggedIn = { draw, atMs: performance.now() };
    this.#isLoggingIn = true;
    this.#draw = this.#watch(await this.#effects.logIn(server, draw, this.#context.plan.startSeconds));
    this.#isLoggingIn = false;
    return this.#draw;
  }

  /**
   * Sends the login again if its token would be older than planned after this many seconds of load. Called while the server
   * is idle: its cost is in no figure.
   */
  async renewToken(
    seconds: number,
    { session, trial, aside = (step) => step() }: Renewal = {},
  ): Promise<void> {
    const every = this.#context.plan.userRequests?.login?.every;
    if (every === undefined || this.#loggedIn === undefined || this.#server === undefined) return;
    if ((performance.now() - this.#loggedIn.atMs) / 1000 + seconds <= every) return;
    const [server, loggedIn] = [this.#server, this.#loggedIn.draw];
    const draw = await aside(() => this.#logIn(server, loggedIn));
    await session?.replace?.(this.#requestsFor(trial?.drawOf(draw) ?? draw));
  }

  /** Returns the requests of a draw as the load sends them. */
  #requestsFor({ requests }: Draw): WorkloadRequest[] {
    return this.#context.plan.load.newConnections === true ? requests.map(closeAfter) : requests;
  }

  #setHead(known: Partial<TrialHead>): void {
    for (const { head } of this.trials) Object.assign(head, known);
  }

  /** Verifies the requests of each trial. Throws if those of all are answered wrongly. */
  async #verifyBefore(server: Server): Promise<void> {
    for (const trial of this.trials) {
      try {
        trial.expected = await this.#verify(server, trial, 'before');
        trial.isVerified = true;
      } catch (error) {
        if (this.trials.every((one) => one === trial || one.failed)) throw error;
        trial.fail(error);
      }
    }
  }

  async #verify(server: Server, trial: LifeTrial, when: 'before' | 'after'): Promise<Expected> {
    this.#verifying = this.#verified[when];
    this.#verifying.atMs = performance.now();
    try {
      return await this.#effects.verify(server, trial.drawOf(this.#draw), `${when} the load`);
    } catch (error) {
      for (const { companion } of this.#parts) companion.onAnswer?.(undefined);
      throw error;
    } finally {
      this.#verifying = undefined;
    }
  }

  /** Reads the memory of the idle server before the load of a further trial. */
  async rest(): Promise<void> {
    await this.#sampler?.idle();
  }

  /** Starts the work of companions during the load; disposing ends it. */
  duringLoad(): Disposable {
    const stack = new DisposableStack();
    const server = this.#server;
    if (server !== undefined)
      for (const { companion } of this.#parts) stack.use(companion.duringLoad?.(server));
    return stack;
  }

  /** Notes the age of the server when the first window of a trial opens. */
  noteAge(trial = this.trials[0]): void {
    if (trial === undefined || trial.opening !== undefined) return;
    const beside = sum(this.#parts.map(({ companion }) => companion.answers?.() ?? 0));
    trial.opening = {
      nowMs: performance.now(),
      answers: this.#answers + beside,
      cores: this.#readCores(),
    };
  }

  /** The age of the server when the first window of a trial opened; absent for a server that was already running. */
  #ageOf({ opening }: LifeTrial, { warmup }: LoadResult): Pick<Measured, 'age'> {
    const startedAtMs = this.#server?.startedAtMs;
    if (startedAtMs === undefined || this.#answeredAtMs === undefined || opening === undefined) return {};
    const { nowMs, answers } = opening;
    return {
      age: {
        secondsSinceStart: (nowMs - startedAtMs) / 1000,
        ...(warmup === undefined ? {} : { answers: answers + warmup.answers }),
        ...(this.#collected === undefined ? {} : { collected: this.#collected }),
      },
    };
  }

  /** Takes the account of all requests of a session, from its first connect to the end of its generators. */
  account(lifetime: Counts): void {
    this.#answers += lifetime.ok;
    for (const { companion } of this.#parts) companion.onAccount?.(lifetime);
  }

  /** Counts what the server has caused in its companions so far. */
  async countCaused(): Promise<Caused> {
    const all = await Promise.all(
      this.#parts.map(async ({ companion }) => (await companion.count?.()) ?? {}),
    );
    const statements = all.flatMap((one) => one.statements ?? []);
    return Object.assign({}, ...all, statements.length > 0 && { statements }) as Caused;
  }

  /** Called after the load, while the server still runs. Throws if a companion finds a failure. */
  async afterLoad(): Promise<void> {
    for (const { companion } of this.#parts) await companion.afterLoad?.();
  }

  /** Judges the window of a trial and verifies the responses again. Throws if they are wrong now. */
  async take(
    { load, sampled, turns, control, search, curve }: WindowResult,
    trial = this.trials[0] as LifeTrial,
  ): Promise<void> {
    const { plan, placed } = this.#context;
    const isAmount = plan.load.mode === 'amount';
    const resources = isAmount && sampled?.server ? overWindow(sampled.server, load) : sampled?.server;
    const host = sampled?.host ?? {};
    trial.beside = sampled?.beside ?? {};
    const besideRequests = sum(this.#parts.map(({ companion }) => companion.requests?.() ?? 0));
    const seen: Seen = {
      load,
      ...(resources === undefined ? {} : { server: resources }),
      host,
      ...(turns === undefined ? {} : { turns }),
    };
    const surroundings = {
      machineCores: cpus().length,
      companions: this.#parts.map(({ name, companion }) => ({
        name,
        companion,
        evidence: {
          load,
          resources: trial.beside[name],
          placement: placed.placement,
          besideRequests,
        },
      })),
    };
    let judged = judgeTrial(trial.head, seen, surroundings);
    const alone = this.#isSlowAndIdle(load, judged.findings) ? await this.#askAlone(trial) : undefined;
    if (alone !== undefined) {
      seen.alone = alone;
      judged = judgeTrial(trial.head, seen, surroundings);
    }
    const { reasons, findings } = judged;
    const { age } = this.#ageOf(trial, load);
    trial.add(reasons);
    trial.add(this.#judgeCores(trial));
    trial.add(search?.found.reasons ?? []);
    if (this.#isSerial) trial.note(makeReason('serial-collector', undefined));
    trial.measured = {
      ...seen,
      ...findings,
      ...this.#startup,
      ...present({ age, control }),
      ...describeLoops({ search, curve }, trial.head, surroundings),
    };
    await this.renewToken(0);
    await this.#verifyAfter(trial, load);
    await this.#attestCode(trial);
  }

  #readCores(): number[] | undefined {
    return this.#server === undefined ? undefined : this.#effects.readCores?.(this.#server);
  }

  /** Judges whether the server still has the cores on which it was placed, or those of them to which it pinned itself before. */
  #judgeCores({ opening }: LifeTrial): Reason[] {
    const { server: placed } = this.#context.placed.placement;
    const found = this.#readCores();
    if (placed === undefined || found === undefined) return [];
    const first = opening?.cores ?? [];
    const own = first.length > 0 && first.every((core) => placed.includes(core)) ? first : placed;
    const isSame = found.length === own.length && found.every((core) => own.includes(core));
    return isSame ? [] : [makeReason('cores-changed', { placed: own, found })];
  }

  /** Returns true if it is worth finding out why an idle server of a user answers slowly: once for each target and place. */
  #isSlowAndIdle(load: LoadResult, { limit, budget }: Pick<Measured, 'limit' | 'budget'>): boolean {
    const { plan } = this.#context;
    // Others that took the CPU do not hide that a server hardly used it.
    const isIdle = limit === 'waiting' || limit === 'others' || limit === 'unknown';
    const { usedCores = 0, usableCores = 1 } = budget ?? {};
    const isAsked = plan.userRequests !== undefined && this.planned.round === 1;
    return isAsked && isIdle && usedCores < usableCores / 2 && typicalUs(load) >= SLOW_US;
  }

  /** Asks the server without a load; undefined if requests may change something or are not answered. */
  async #askAlone(trial: LifeTrial): Promise<Alone | undefined> {
    const { routes, order, requests } = trial.drawOf(this.#draw);
    const firsts = routes === undefined ? requests : routes.flatMap(({ first }) => requests[first] ?? []);
    const asked = firsts.map((request, route) => {
      return { request, weight: order?.filter((one) => one === route).length ?? 1 };
    });
    if (this.#server === undefined || !asked.every(({ request }) => isSafe(request))) return undefined;
    return this.#effects.askAlone?.(this.#server, asked).catch(() => undefined);
  }

  /** Throws if the responses are wrong now. A server that still works for clients that have left only becomes suspect. */
  async #verifyAfter(trial: LifeTrial, { lifetime }: LoadResult): Promise<void> {
    if (this.#server === undefined) return;
    const { expected } = trial;
    const verified = this.#verify(this.#server, trial, 'after');
    const after = await verified.catch((error: unknown) => {
      if (!(error instanceof UnansweredError) || !lifetime?.inFlight) throw error;
      trial.note(judgeUnverified(error.message, lifetime));
      return expected;
    });
    const changed = expected?.findIndex(
      (before, index) => before !== null && before.sha256 !== after?.[index]?.sha256,
    );
    if (changed === undefined || changed === -1) return;
    throw new TrialError(this.#describeChange(trial, changed));
  }

  /** Says when the correct response to a request of a trial has changed, and where. */
  #describeChange(trial: LifeTrial, index: number): string {
    const { before, after } = this.#verified;
    const request = trial.drawOf(this.#draw).requests[index];
    const { method, path } = request ?? { method: '', path: '' };
    const seconds = ((after.atMs - before.atMs) / 1000).toFixed(1);
    const at = request === undefined ? -1 : this.#draw.requests.indexOf(request);
    const [then, now] = [before, after].map(({ bodies }) => bodies.get(at));
    const where = then === undefined || now === undefined ? '' : `: ${describeDifference(now, then)}`;
    return `${method} ${path}: the correct response after the load differs from that before it, ${seconds} s earlier${where}. If it may differ: "expect": { "status": 200 } of that request in stack.json`;
  }

  /** Asks the server which code it ran, after the measurement: once, because that can take a second. */
  async #attestCode({ head }: LifeTrial): Promise<void> {
    const code = this.#context.prepared?.code;
    if (code === undefined || this.#server === undefined) return;
    this.#code ??= this.#effects.readCode?.(this.#server, code, this.planned, this.#draw);
    const running = await this.#code;
    if (running !== undefined) head.code = running;
  }

  /** Adds a reason that concerns all trials. */
  note(reason: Reason): void {
    for (const trial of this.trials) trial.note(reason);
  }

  /** Marks the trials that have not failed as failed for this reason. */
  fail(error: unknown): void {
    const open = this.trials.filter(({ failed }) => !failed);
    for (const trial of open.length > 0 ? open : this.trials) trial.fail(error);
  }

  #explain(error: unknown, planned: PlannedTrial): Reason {
    if (!(error instanceof UsedUpError)) return toReason(error);
    const used = { ...error.used, routes: this.#draw.routes };
    return makeReason('rows-used-up', describeUsedUp(this.#context.plan, planned, used));
  }

  /** Stops the server, ends the companions' parts, and returns the records of its trials. Never throws. */
  async end(): Promise<readonly [Trial, ...Trial[]]> {
    this.#sampler?.[Symbol.dispose]();
    // A server that still works for a companion's request is not to blame for the way it ends.
    const isAtWork = this.#parts.some(({ companion }) => companion.keepsServerBusy?.() ?? false);
    const toldBefore = isAtWork ? this.#server?.logTail() : undefined;
    const stopped = await this.#stop();
    for (const { companion } of this.#parts) await this.#endPart(companion);
    for (const trial of this.trials)
      trial.add(stopped.trouble.filter(({ code }) => !isAtWork || code !== 'ignored-sigterm'));
    const logTail = toldBefore ?? this.#server?.logTail();
    const { files, time } = stopped;
    const tail = { files, ...(time === undefined ? {} : { time }) };
    const records = this.trials.map((trial) =>
      trial.record({ tail, logTail, companions: this.#recordParts(trial) }),
    );
    return records as unknown as readonly [Trial, ...Trial[]];
  }

  /** Lets a companion account for the trials and releases its resources. An error fails them. */
  async #endPart(companion: TrialCompanion): Promise<void> {
    const [accounted] = await Promise.allSettled([companion.afterStop?.(this.failed)]);
    const [released] = await Promise.allSettled([companion[Symbol.asyncDispose]()]);
    if (accounted.status === 'fulfilled') for (const trial of this.trials) trial.add(accounted.value ?? []);
    const failure = [accounted, released].find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') this.fail(failure.reason);
  }

  #recordParts({ beside }: LifeTrial): Pick<Measured, 'companions'> {
    const told = this.#parts.map(({ name, companion }) => [name, companion.record?.(beside[name])] as const);
    const companions = Object.fromEntries(told.filter(([, part]) => part !== undefined));
    return Object.keys(companions).length === 0 ? {} : { companions };
  }

  async #stop(): Promise<Stopped> {
    if (this.#server === undefined) return { files: [], trouble: [] };
    return this.#server.stop().catch((error: unknown): Stopped => {
      return { files: [], trouble: [makeReason('not-stopped', { message: messageOf(error) })] };
    });
  }
}

/** The requests of a route for the load: those of the checks are left out if each is sent once. */
function toRouteSpec({ first, count, statuses, schema, once }: Route): RouteSpec {
  const own =
    once === undefined
      ? { first, count }
      : { first: first + once, count: Math.max(0, count - once), once: true as const };
  return { ...own, statuses, ...present({ schema }) };
}

/** The bytes of a response that are kept to show where it has changed. */
const KEPT_BYTES = 2 ** 16;

/** The responses of verifications by the index of their request, and the begin of the last one on the monotonic clock. */
interface SeenAnswers {
  atMs: number;
  bodies: Map<number, Buffer>;
}

function openSeen(): SeenAnswers {
  return { atMs: 0, bodies: new Map() };
}

/** A copy: the body can be large. */
function headOfBody(body: Buffer): Buffer {
  return Buffer.from(body.subarray(0, KEPT_BYTES));
}

/** One trial in the life of a server: its requests, its findings and its record. */
export class LifeTrial {
  readonly planned: PlannedTrial;
  readonly head: TrialHead;
  /** The correct responses to its requests; they count once it is verified. */
  expected: Expected;
  isVerified = false;
  measured: Measured | undefined;
  beside: Partial<Record<CompanionName, Measured['server']>> = {};
  /** The time under load before its first window, in seconds. */
  #warmedSeconds = 0;
  /** The opening of its first window. */
  opening: { nowMs: number; answers: number; cores: number[] | undefined } | undefined;
  readonly #reasons: Reason[] = [];
  readonly #explain: (error: unknown) => Reason;
  /** The index of the only request that it sends; undefined if it sends all. */
  readonly #route: number | undefined;
  #failed = false;

  constructor(
    planned: PlannedTrial,
    context: TrialContext,
    effects: TrialEffects,
    explain: (error: unknown) => Reason,
  ) {
    this.planned = planned;
    this.#explain = explain;
    this.head = headOf(planned, context, effects);
    const { route } = planned;
    this.#route = route === undefined ? undefined : context.plan.routes?.indexOf(route);
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Adds the time of a warm-up, in seconds: with all requests, or with its own. */
  addWarmup(seconds: number): void {
    this.#warmedSeconds += seconds;
    this.head.warmupSeconds = Math.round(1000 * this.#warmedSeconds) / 1000;
  }

  /** Returns the draw of its own requests. */
  drawOf(draw: Draw): Draw {
    const route = this.#route === undefined ? undefined : draw.routes?.[this.#route];
    return route === undefined ? draw : drawRoute(draw, route);
  }

  /** Returns those of the asked requests that it sends. */
  requestsOf(userRequests: UserRequests): UserRequests {
    const { requests } = userRequests;
    return this.#route === undefined
      ? userRequests
      : { ...userRequests, requests: requests.slice(this.#route, this.#route + 1) };
  }

  /** Adds reasons; a fatal one fails the trial and comes before the others, after those that failed it already. */
  add(reasons: readonly Reason[]): void {
    const fatal = reasons.filter(isFatal);
    this.#reasons.splice(this.#reasons.findLastIndex(isFatal) + 1, 0, ...fatal);
    this.#reasons.push(...reasons.filter((reason) => !isFatal(reason)));
    this.#failed ||= fatal.length > 0;
  }

  note(reason: Reason): void {
    this.add([reason]);
  }

  fail(error: unknown): void {
    this.#reasons.unshift(this.#explain(error));
    this.#failed = true;
  }

  record({
    tail: known,
    logTail,
    companions,
  }: {
    tail: TrialTail;
    logTail: string[] | undefined;
    companions: Pick<Measured, 'companions'>;
  }): Trial {
    const { head } = this;
    const reasons = this.#reasons;
    const tail: TrialTail = {
      ...known,
      ...(reasons.length > 0 && logTail !== undefined ? { logTail } : {}),
    };
    const measured = this.measured && { ...this.measured, ...companions };
    if (this.#failed || measured === undefined) {
      const partial = measured ?? companions;
      const failed: FailedTrial = { ...head, ...tail, status: 'failed', reasons };
      return Object.keys(partial).length === 0 ? failed : { ...failed, partial };
    }
    // What the server did takes no figure away.
    const status = reasons.every(isFinding) ? 'ok' : 'suspect';
    return { ...head, ...tail, status, reasons, measured };
  }
}

function headOf(
  planned: PlannedTrial,
  { plan, target, prepared, placed }: TrialContext,
  effects: TrialEffects,
): TrialHead {
  const engine = effects.load();
  return {
    ...plannedHead(planned, { plan, target, placement: placed.placement, atMs: effects.now() }),
    engine: engine.name,
    ...(prepared?.runtime === undefined ? {} : { runtime: prepared.runtime }),
    ...(engine.version === undefined ? {} : { driver: { name: engine.name, version: engine.version } }),
    ...headsOf(effects.companions, target),
  };
}

function headsOf(companions: readonly RunningCompanion[], target: Target): Pick<TrialHead, 'companions'> {
  const heads = companions
    .map((running) => [running.name, running.head(target)] as const)
    .filter(([, head]) => head !== undefined);
  return heads.length === 0 ? {} : { companions: Object.fromEntries(heads) };
}

/** Returns the head of a trial as far as its plan defines it. `atMs` is its beginning, in ms since the epoch. */
export function plannedHead(
  planned: PlannedTrial,
  { plan, target, placement, atMs }: { plan: Plan; target: Target; placement: Placement; atMs: number },
): TrialHead {
  const { run, workload, params, engine, load, workers, threads, cores, timeoutSeconds } = plan;
  return {
    schema: RECORD_SCHEMA,
    run,
    ...planned,
    target,
    attested: [],
    workload,
    startedAt: new Date(atMs).toISOString(),
    engine,
    load,
    workers,
    ...present({ params, threads, cores }),
    placement,
    warmupSeconds: warmupSecondsOf(plan, planned) + (planned.life === undefined ? 0 : ROUTE_SECONDS.warmup),
    timeoutSeconds,
    ...(plan.quick && { quick: true as const }),
  };
}

function toReason(error: unknown): Reason {
  // A bug in Bench is data too, but it must be recognisable.
  const code = error instanceof CompanionError ? 'companion' : toBenchError(error) ? 'trial' : 'defect';
  if (code === 'defect' && process.env['DEBUG'] !== undefined) console.error(error);
  return makeReason(code, { message: messageOf(error) });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
