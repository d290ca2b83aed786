/** The life of one server: start, first correct response, attest, verify, collect, load, verify, stop, account. */

import { cpus } from 'node:os';
import { DisposableStack } from '@whatwg-node/disposablestack';
import { isSafe } from 'bench-targets/catalogue/workloads/workload';
import { TrialError } from 'bench-model/errors';
import type { CompanionName } from 'bench-model/companions';
import type { RunningCode, Trial, TrialHead } from 'bench-model/record';
import type { LoadResult } from 'bench-model/load';
import type { Alone, FoundCapacity, Measured } from 'bench-model/measured';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { Counts } from 'bench-model/figures';
import type { PlannedTrial } from 'bench-model/plan';
import type { TrialCompanion } from '../services/companion.ts';
import { attest } from './attest.ts';
import type { Caused } from './caused.ts';
import { typicalUs } from 'bench-analysis/idle';
import type { Seen } from 'bench-analysis/judge/judge';
import { judgeTrial, overWindow } from 'bench-analysis/judge/trial';
import type { Server, Stopped } from 'bench-machine/launch';
import { UsedUpError } from 'bench-load/line';
import type { LoadSpec } from 'bench-load/protocol';
import { present } from 'bench-model/options';
import { describeUsedUp } from '../plan/rows.ts';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { Burner } from 'bench-machine/resources/burner';
import { UpkeepMeter } from 'bench-machine/resources/cpu-meter';
import type { Sampler } from 'bench-machine/resources/sampler';
import { describeLoops } from './capacity.ts';
import type { NamedProcess, SeenRuntime, TrialContext, TrialEffects } from './effects.ts';
import { Requests } from './requests.ts';
import { LifeTrial, messageOf, toReason } from './trial.ts';
import type { WindowResult } from './window.ts';
import { sum } from 'bench-statistics/numbers';

/** Faster responses of an idle server need no explanation. */
const SLOW_US = 5000;

/** A server that has not given a correct response yet. */
export interface Awaited {
  server: Pick<Server, 'host' | 'port' | 'listensOn' | 'socketPaths' | 'mayIgnorePort' | 'logTail'>;
  /** True until a login is answered. The log may hold its token already, which is not known yet and cannot be hidden. */
  isLoggingIn: boolean;
  /** The error in its last response. */
  wrong?: string | undefined;
}

/** A verified server, ready for its load. */
export interface ReadyServer {
  server: Server;
  /** Undefined for a server that was already running. */
  prepared: Prepared | undefined;
  sampler: Sampler | undefined;
  /** The meter of its CPU in short turns and without load. Undefined if it cannot be read that often. */
  upkeep: UpkeepMeter | undefined;
  /** Undefined if its process is not known. */
  seen: SeenRuntime | undefined;
  /** Starts what burns CPU in its accounting; undefined if nothing can. */
  startBurner(): Promise<Burner | undefined>;
  /** Lets it use every core of the run until it is pinned again. */
  widen(): Promise<(() => Promise<void>) | undefined>;
  /** The known processes of the server and its companions. */
  pids: number[];
  /** The CPU of its companions in turns. Undefined if one works by itself, or cannot be read that often. */
  beside: CompanionMeter[] | undefined;
}

interface CompanionMeter {
  name: CompanionName;
  pid: number;
  upkeep: UpkeepMeter;
}

interface Part {
  name: CompanionName;
  companion: TrialCompanion;
}

/** One server from its start to its end; the load comes from the conductor. */
export class ServerLife {
  /** Its trials, in the order of the plan: one for each request that is measured alone, or one. */
  readonly trials: readonly LifeTrial[];
  /** The first of its trials, or a trial of all requests. */
  readonly planned: PlannedTrial;
  readonly requests: Requests;
  readonly #context: TrialContext;
  readonly #effects: TrialEffects;
  readonly #parts: Part[] = [];
  /** The time of the first correct response, in ms of the monotonic clock. */
  #answeredAtMs: number | undefined;
  /** The processes that collected garbage before the load; undefined if none was to. */
  #collected: number | undefined;
  #server: Server | undefined;
  #sampler: Sampler | undefined;
  #code: Promise<RunningCode> | undefined;
  /** True for a JVM that collects serially only because Bench gave it one core. */
  #isSerial = false;

  constructor(planned: PlannedTrial, context: TrialContext, effects: TrialEffects, trials = [planned]) {
    this.planned = planned;
    this.#context = context;
    this.#effects = effects;
    const onAnswer = (status: number | undefined): void => {
      for (const { companion } of this.#parts) companion.onAnswer?.(status);
    };
    this.requests = new Requests({ planned, plan: context.plan, effects, onAnswer });
    this.trials = trials.map(
      (one) => new LifeTrial(one, context, effects, (error) => this.#explain(error, one)),
    );
    for (const trial of this.trials) this.requests.describe(trial);
  }

  get earlier(): readonly FoundCapacity[] {
    return this.#context.earlier ?? [];
  }

  /** The server until its first correct response; undefined before it was launched. */
  get awaited(): Awaited | undefined {
    if (this.#server === undefined || this.#answeredAtMs !== undefined) return undefined;
    const { isLoggingIn, wrong } = this.requests;
    return { server: this.#server, isLoggingIn, wrong };
  }

  /** True if no trial of it can go on. */
  get failed(): boolean {
    return this.trials.every(({ failed }) => failed);
  }

  /** Starts the companions and the server, waits for its first correct response, attests and verifies it. Throws if a step fails for all trials. */
  async start(): Promise<ReadyServer> {
    const { plan, placed, prepared, target } = this.#context;
    const { draw } = this.requests;
    const trial = { id: this.planned.id, target, prepared };
    for (const running of this.#effects.companions) {
      if (running.head(target) === undefined) continue;
      this.#parts.push({ name: running.name, companion: await running.begin(draw, trial) });
    }
    const env = Object.assign({}, draw.env, ...this.#parts.map(({ companion }) => companion.env));
    const server = await this.#effects.launch(prepared as Prepared, this.planned, { ...draw, env });
    this.#server = server;
    if (server.process !== undefined) this.#setHead({ process: server.process });
    await this.requests.awaitServer(server);
    this.#answeredAtMs = performance.now();
    const stranger = server.stranger?.();
    if (stranger !== undefined)
      throw new TrialError(
        `port ${server.port} is served by ${stranger}, which ran before the server started`,
      );
    const watcher = this.#effects.findWatcher?.(server, prepared);
    if (watcher !== undefined) this.add(makeReason('watcher', { watcher }));
    const attested = await attest(server, prepared, plan.workers);
    const found = await this.#effects.seeServer?.(server, this.#context, this.planned, this.requests.draw);
    this.#setHead({
      attested: [...attested, ...(found?.attested ?? [])],
      ...present({ process: found?.process, interpreter: found?.interpreter }),
    });
    await this.#verifyBefore();
    for (const one of this.trials) this.requests.describe(one);
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
      prepared,
      sampler: this.#sampler,
      upkeep: this.#meter({ pid: server.pid(), cgroup: server.cgroup }),
      seen: this.#seeRuntime(server),
      startBurner: async () => this.#effects.startBurner?.(server, placed),
      widen: async () => this.#effects.widen?.(server, placed),
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
      const upkeep = this.#meter(one);
      return upkeep === undefined ? [] : [{ name: one.name, pid: one.pid, upkeep }];
    });
    return meters.length === processes.length ? meters : undefined;
  }

  #meter(process: Parameters<TrialEffects['meter']>[0]): UpkeepMeter | undefined {
    const meter = this.#effects.meter(process);
    return meter && new UpkeepMeter(meter, this.#effects.clock);
  }

  /** Returns the load of a trial on the running server, with the token of now; without one, that before its trials. */
  specOf(trial: LifeTrial | undefined): LoadSpec {
    return this.requests.specOf(trial ?? (this.trials.length === 1 ? this.trials[0] : undefined));
  }

  #setHead(known: Partial<TrialHead>): void {
    for (const { head } of this.trials) Object.assign(head, known);
  }

  /** Verifies the requests of each trial. Throws if those of all are answered wrongly. */
  async #verifyBefore(): Promise<void> {
    for (const trial of this.trials) {
      try {
        await this.requests.verifyBefore(trial);
      } catch (error) {
        if (this.trials.every((one) => one === trial || one.failed)) throw error;
        trial.fail(error);
      }
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
  noteAge(trial: LifeTrial | undefined): void {
    if (trial === undefined || trial.opening !== undefined) return;
    const beside = sum(this.#parts.map(({ companion }) => companion.answers?.() ?? 0));
    const answers = this.requests.answers + beside;
    trial.opening = { nowMs: performance.now(), answers, cores: this.#readCores() };
  }

  /** Returns the time since the server was launched; undefined for a server that was already running. */
  #secondsSinceStart(nowMs: number | undefined): number | undefined {
    const startedAtMs = this.#server?.startedAtMs;
    return startedAtMs === undefined || nowMs === undefined ? undefined : (nowMs - startedAtMs) / 1000;
  }

  /** The age of the server when the first window of a trial opened. */
  #ageOf({ opening }: LifeTrial, { warmup }: LoadResult): Measured['age'] {
    const secondsSinceStart = this.#secondsSinceStart(opening?.nowMs);
    if (secondsSinceStart === undefined || opening === undefined) return undefined;
    const answers = warmup === undefined ? undefined : opening.answers + warmup.answers;
    return { secondsSinceStart, ...present({ answers, collected: this.#collected }) };
  }

  /** Takes the account of all requests of a session, from its first connect to the end of its generators. */
  account(lifetime: Counts): void {
    this.requests.answers += lifetime.ok;
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
    trial: LifeTrial,
  ): Promise<void> {
    const { plan, placed } = this.#context;
    const isAmount = plan.load.mode === 'amount';
    const server = isAmount && sampled?.server ? overWindow(sampled.server, load) : sampled?.server;
    trial.beside = sampled?.beside ?? {};
    const besideRequests = sum(this.#parts.map(({ companion }) => companion.requests?.() ?? 0));
    const seen: Seen = { load, ...present({ server }), host: sampled?.host ?? {}, ...present({ turns }) };
    const surroundings = {
      machineCores: cpus().length,
      companions: this.#parts.map(({ name, companion }) => ({
        companion,
        evidence: { load, resources: trial.beside[name], placement: placed.placement, besideRequests },
      })),
    };
    let judged = judgeTrial(trial.head, seen, surroundings);
    const alone = this.#isSlowAndIdle(load, judged.findings) ? await this.#askAlone(trial) : undefined;
    if (alone !== undefined) {
      seen.alone = alone;
      judged = judgeTrial(trial.head, seen, surroundings);
    }
    const { reasons, findings } = judged;
    trial.add(...reasons, ...this.#judgeCores(trial), ...(search?.found.reasons ?? []));
    if (this.#isSerial) trial.add(makeReason('serial-collector', undefined));
    const startupSeconds = this.#secondsSinceStart(this.#answeredAtMs);
    trial.measured = {
      ...seen,
      ...findings,
      ...present({ startupSeconds, age: this.#ageOf(trial, load), control }),
      ...describeLoops({ search, curve }, trial.head, surroundings),
    };
    await this.requests.renewToken(0);
    await this.requests.verifyAfter(trial, load);
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
    const { routes, order, requests } = trial.drawOf(this.requests.draw);
    const firsts = routes === undefined ? requests : routes.flatMap(({ first }) => requests[first] ?? []);
    const asked = firsts.map((request, route) => {
      return { request, weight: order?.filter((one) => one === route).length ?? 1 };
    });
    if (this.#server === undefined || !asked.every(({ request }) => isSafe(request))) return undefined;
    return this.#effects.askAlone?.(this.#server, asked).catch(() => undefined);
  }

  /** Asks the server which code it ran, after the measurement: once, because that can take a second. */
  async #attestCode({ head }: LifeTrial): Promise<void> {
    const code = this.#context.prepared?.code;
    if (code === undefined || this.#server === undefined) return;
    this.#code ??= this.#effects.readCode?.(this.#server, code, this.planned, this.requests.draw);
    const running = await this.#code;
    if (running !== undefined) head.code = running;
  }

  /** Adds reasons that concern all trials. */
  add(...reasons: readonly Reason[]): void {
    for (const trial of this.trials) trial.add(...reasons);
  }

  /** Marks the trials that have not failed as failed for this reason. */
  fail(error: unknown): void {
    const open = this.trials.filter(({ failed }) => !failed);
    for (const trial of open.length > 0 ? open : this.trials) trial.fail(error);
  }

  #explain(error: unknown, planned: PlannedTrial): Reason {
    if (!(error instanceof UsedUpError)) return toReason(error);
    const used = { ...error.used, routes: this.requests.draw.routes };
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
    this.add(...stopped.trouble.filter(({ code }) => !isAtWork || code !== 'ignored-sigterm'));
    const logTail = toldBefore ?? this.#server?.logTail();
    const { files, time } = stopped;
    const tail = { files, ...present({ time }) };
    const records = this.trials.map((trial) => trial.record(tail, logTail, this.#recordParts(trial)));
    return records as unknown as readonly [Trial, ...Trial[]];
  }

  /** Lets a companion account for the trials and releases its resources. An error fails them. */
  async #endPart(companion: TrialCompanion): Promise<void> {
    const [accounted] = await Promise.allSettled([companion.afterStop?.(this.failed)]);
    const [released] = await Promise.allSettled([companion[Symbol.asyncDispose]()]);
    if (accounted.status === 'fulfilled') this.add(...(accounted.value ?? []));
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
