/** The life of one server: start, first right answer, attest, verify, collect, load, verify, stop, account. */

import { warmupOf, warmupSecondsOf } from 'bench-model/planned';
import { DisposableStack } from '@whatwg-node/disposablestack';
import { cpus } from 'node:os';
import { workloadOf } from 'bench-targets/catalogue/workloads/index';
import { describeSent } from 'bench-targets/catalogue/workloads/requests/sent';
import {
  describeDifference,
  isSafe,
  type Draw,
  type Route,
  type WorkloadRequest,
} from 'bench-targets/catalogue/workloads/workload';
import { BenchError } from 'bench-model/errors';
import type { CompanionName } from 'bench-model/companions';
import type { FailedTrial, Placement, RunningCode, Trial, TrialHead, TrialTail } from 'bench-model/record';
import type { LoadResult } from 'bench-model/load';
import type { Alone, Measured } from 'bench-model/measured';
import type { Reason } from 'bench-model/reasons';
import type { Counts } from 'bench-model/figures';
import type { Interpreter, Target } from 'bench-model/target';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { RECORD_SCHEMA } from 'bench-model/versions';
import { isFatal, makeReason } from 'bench-model/reasons';
import { createRandom } from 'bench-statistics/random';
import {
  CompanionError,
  type CompanionProcess,
  type RunningCompanion,
  type TrialCompanion,
} from '../services/companion.ts';
import { attest } from './attest.ts';
import { judgeUnverified, judgeWarmup } from 'bench-analysis/judge/judge';
import { judgeTrial, overWindow, type Seen } from 'bench-analysis/judge/trial';
import type { CodeClaim } from 'bench-targets/prepare/imports';
import type { Server, Stopped } from 'bench-machine/launch';
import type { LoadEngine } from 'bench-load/engine';
import { UsedUpError } from 'bench-load/line';
import type { LoadSpec, RouteSpec } from 'bench-load/protocol';
import { present } from 'bench-model/options';
import { describeUsedUp, shareOf } from '../plan/rows.ts';
import type { Expected } from './verify.ts';
import type { PinnedCommands } from 'bench-machine/placement';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { CpuMeter } from 'bench-machine/resources/cpu-meter';
import type { Sampler } from 'bench-machine/resources/sampler';
import { UnansweredError } from 'bench-targets/catalogue/workloads/send';
import type { SeenServer } from './outside.ts';
import type { WindowResult } from './window.ts';
import { sum } from 'bench-statistics/numbers';

/** The effects of a trial, as arguments, so that tests run it with fakes. */
export interface TrialEffects {
  launch(prepared: Prepared, planned: PlannedTrial, draw: Draw): Promise<Server>;
  /** Asks until the first right answer. */
  awaitRightAnswer(server: Server, draw: Draw, deadlineSeconds: number): Promise<void>;
  /** Sends the login, and returns the draw with its token. Absent if no workload has one. */
  logIn?(server: Server, draw: Draw, deadlineSeconds: number): Promise<Draw>;
  verify(server: Server, draw: Draw, when: string): Promise<Expected>;
  /** The engine that loads a target. */
  load(target: Target): LoadEngine;
  /** The companions of this run. */
  companions: RunningCompanion[];
  /** Opens the sampler of a server and its companions; undefined if the process of the server is unknown. */
  resources(server: Server, companions: NamedProcess[]): Promise<Sampler | undefined>;
  /** Opens the reader of a server's CPU between short turns; undefined if it cannot be read that often. */
  meter(server: Server): CpuMeter | undefined;
  now(): number;
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
  askAlone?(server: Server, request: WorkloadRequest): Promise<Alone>;
  /** Asks the live server which code it runs; absent if not needed. */
  readCode?(server: Server, code: CodeClaim, planned: PlannedTrial, draw: Draw): Promise<RunningCode>;
}

/** Returns a request after whose answer the connection is closed (RFC 9112, section 9.6). */
function closeAfter(request: WorkloadRequest): WorkloadRequest {
  return { ...request, headers: { ...request.headers, connection: 'close' } };
}

/** Faster answers of an idle server need no explanation. */
const SLOW_US = 5000;

/** The process of a companion. */
type NamedProcess = CompanionProcess & { name: CompanionName };

/** The common inputs of a run's trials, and the target of one of them. */
export interface TrialContext {
  plan: Plan;
  placed: PinnedCommands;
  /** Undefined for a server that is already running. */
  prepared: Prepared | undefined;
  target: Target;
}

/** A verified server and its requests. */
export interface ReadyServer {
  server: Server;
  spec: LoadSpec;
  sampler: Sampler | undefined;
  /** Undefined if its CPU cannot be read between short turns. */
  meter: CpuMeter | undefined;
  /** The known processes of the server and its companions. */
  pids: number[];
  /** True if a companion takes part in the trial. */
  hasCompanions: boolean;
}

/** A companion in this trial. */
interface Part {
  name: CompanionName;
  companion: TrialCompanion;
}

/** One trial from the start of its server to its record; the load comes from the conductor. */
export class ServerLife {
  readonly #head: TrialHead;
  readonly #context: TrialContext;
  readonly #effects: TrialEffects;
  readonly #planned: PlannedTrial;
  #draw: Draw;
  readonly #reasons: Reason[] = [];
  readonly #parts: Part[] = [];
  #failed = false;
  #measured: Measured | undefined;
  #beside: Partial<Record<CompanionName, Measured['server']>> = {};
  #startup: Pick<Measured, 'startupSeconds'> = {};
  /** The answers to requests of the harness so far. */
  #answers = 0;
  /** The time of the first right answer, in ms of the monotonic clock. */
  #answeredAtMs: number | undefined;
  /** The processes that collected garbage before the load; undefined if none was to. */
  #collected: number | undefined;
  /** The opening of the first window. */
  #opening: { nowMs: number; answers: number } | undefined;
  #server: Server | undefined;
  #sampler: Sampler | undefined;
  #expected: Expected;
  /** The first answer to each request in the verification before the load, and in that after it. */
  readonly #verified = { before: openSeen(), after: openSeen() };
  /** The verification that is under way. */
  #verifying: SeenAnswers | undefined;

  constructor(planned: PlannedTrial, context: TrialContext, effects: TrialEffects) {
    this.#planned = planned;
    this.#context = context;
    this.#effects = effects;
    this.#head = headOf(planned, context, effects);
    const random = createRandom(planned.seed);
    const { plan } = context;
    const share = shareOf(plan, planned);
    this.#draw = this.#watch(workloadOf(plan).draw(() => random.float(), plan.params ?? {}, share));
    if (plan.asked !== undefined) this.#head.requests = describeSent(plan.asked, this.#draw);
  }

  /** Tells the companions of every answer that is checked. */
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
        return draw.check(answer, index);
      },
    };
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Starts the companions and the server, waits for its first right answer, attests and verifies it. Throws if a step fails. */
  async start(): Promise<ReadyServer> {
    const { plan, prepared, target } = this.#context;
    let draw = this.#draw;
    const trial = { id: this.#planned.id, target, prepared };
    for (const running of this.#effects.companions) {
      if (running.head(target) === undefined) continue;
      this.#parts.push({ name: running.name, companion: await running.begin(draw, trial) });
    }
    // A companion whose host was lost has begun on another one.
    Object.assign(this.#head, headsOf(this.#effects.companions, target));
    const env = Object.assign({}, draw.env, ...this.#parts.map(({ companion }) => companion.env));
    const server = await this.#effects.launch(prepared as Prepared, this.#planned, { ...draw, env });
    this.#server = server;
    if (server.process !== undefined) this.#head.process = server.process;
    if (draw.login !== undefined && this.#effects.logIn !== undefined) {
      draw = this.#watch(await this.#effects.logIn(server, draw, plan.startSeconds));
      this.#draw = draw;
    }
    await this.#effects.awaitRightAnswer(server, draw, plan.startSeconds);
    const { startedAtMs } = server;
    this.#answeredAtMs = performance.now();
    if (startedAtMs !== undefined)
      this.#startup = { startupSeconds: (this.#answeredAtMs - startedAtMs) / 1000 };
    const watcher = this.#effects.findWatcher?.(server, prepared);
    if (watcher !== undefined) this.note(makeReason('watcher', { watcher }));
    this.#head.attested = await attest(server, prepared, plan.workers);
    if (prepared?.stack?.project !== undefined) await this.#see(server, prepared);
    const interpreter = await this.#effects.readInterpreter?.(server, target);
    if (interpreter !== undefined) this.#head.interpreter = interpreter;
    this.#expected = await this.#verify(server, 'before');
    // The answers to requests that the server must refuse are not passed to the check.
    this.#answers += draw.refused?.length ?? 0;
    if (plan.asked !== undefined)
      this.#head.requests = describeSent(plan.asked, draw, { expected: this.#expected });
    if (prepared !== undefined)
      this.#collected = await this.#effects.collect?.(server, prepared, this.#planned);
    const processes = this.#parts.flatMap(({ name, companion }): NamedProcess[] => {
      const process = companion.process?.();
      return process === undefined ? [] : [{ name, ...process }];
    });
    this.#sampler = await this.#effects.resources(server, processes);
    await this.#sampler?.idle();
    for (const { companion } of this.#parts) await companion.beforeLoad?.();
    const spec: LoadSpec = {
      host: server.host,
      port: server.port,
      tls: server.tls,
      requests: plan.load.newConnections === true ? draw.requests.map(closeAfter) : draw.requests,
      routes: draw.routes?.map(toRouteSpec),
      order: draw.order,
      connections: this.#planned.connections,
      connectsPerSecond: plan.connectsPerSecond,
      timeoutSeconds: plan.timeoutSeconds,
      barrierSeconds: plan.barrierSeconds,
      expected: this.#expected,
      spreadSeconds: plan.waitSeconds ?? plan.answerSeconds,
      hashEvery: plan.hashEvery,
      timing: draw.timing,
    };
    const pids = [server.pid() ?? [], ...processes.map(({ pid }) => pid ?? [])].flat();
    return {
      server,
      spec,
      sampler: this.#sampler,
      meter: this.#effects.meter(server),
      pids,
      hasCompanions: this.#parts.length > 0,
    };
  }

  async #see(server: Server, prepared: Prepared): Promise<void> {
    const seen = await this.#effects.seeServer?.(server, prepared, this.#planned, this.#draw);
    if (seen?.process !== undefined) this.#head.process = seen.process;
    this.#head.attested.push(...(seen?.attested ?? []));
  }

  async #verify(server: Server, when: 'before' | 'after'): Promise<Expected> {
    this.#verifying = this.#verified[when];
    this.#verifying.atMs = performance.now();
    try {
      return await this.#effects.verify(server, this.#draw, `${when} the load`);
    } catch (error) {
      for (const { companion } of this.#parts) companion.onAnswer?.(undefined);
      throw error;
    } finally {
      this.#verifying = undefined;
    }
  }

  /** Starts the work of companions during the load; disposing ends it. */
  duringLoad(): Disposable {
    const stack = new DisposableStack();
    const server = this.#server;
    if (server !== undefined)
      for (const { companion } of this.#parts) stack.use(companion.duringLoad?.(server));
    return stack;
  }

  /** Notes the age of the server when its first window opens. */
  noteAge(): void {
    const beside = sum(this.#parts.map(({ companion }) => companion.answers?.() ?? 0));
    this.#opening ??= { nowMs: performance.now(), answers: this.#answers + beside };
  }

  /** The age of the server when its first window opened; absent for a server that was already running. */
  #ageOf({ warmup }: LoadResult): Pick<Measured, 'age'> {
    const startedAtMs = this.#server?.startedAtMs;
    if (startedAtMs === undefined || this.#answeredAtMs === undefined || this.#opening === undefined)
      return {};
    const { nowMs, answers } = this.#opening;
    return {
      age: {
        secondsSinceStart: (nowMs - startedAtMs) / 1000,
        secondsSinceAnswer: (nowMs - this.#answeredAtMs) / 1000,
        ...(warmup === undefined ? {} : { answers: answers + warmup.answers }),
        ...(this.#collected === undefined ? {} : { collected: this.#collected }),
      },
    };
  }

  /** Takes the account of all requests to the server, from the first connect to the end of the generators. */
  account(lifetime: Counts): void {
    for (const { companion } of this.#parts) companion.onAccount?.(lifetime);
  }

  /** Called after the load, while the server still runs. Throws if a companion finds a failure. */
  async afterLoad(): Promise<void> {
    for (const { companion } of this.#parts) await companion.afterLoad?.();
  }

  /** Judges the window and verifies the answers again. Throws if they are wrong now. */
  async take({ load, sampled, turns }: WindowResult): Promise<void> {
    const { plan, placed } = this.#context;
    const isAmount = plan.load.mode === 'amount';
    const resources = isAmount && sampled?.server ? overWindow(sampled.server, load) : sampled?.server;
    const host = sampled?.host ?? {};
    this.#beside = sampled?.beside ?? {};
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
          resources: this.#beside[name],
          placement: placed.placement,
          besideRequests,
          ...companion.elsewhere?.(),
        },
      })),
    };
    let judged = judgeTrial(this.#head, seen, surroundings);
    const alone = this.#isSlowAndIdle(load, judged.findings) ? await this.#askAlone() : undefined;
    if (alone !== undefined) {
      seen.alone = alone;
      judged = judgeTrial(this.#head, seen, surroundings);
    }
    const { reasons, findings } = judged;
    this.#add(reasons);
    this.#add(judgeWarmup(warmupOf(plan, this.#planned)));
    this.#measured = {
      ...seen,
      ...findings,
      ...this.#startup,
      ...this.#ageOf(load),
    };
    await this.#verifyAfter(load);
    await this.#attestCode();
  }

  /** Returns true if it is worth finding out why an idle server of a user answers slowly: once for each target and rung. */
  #isSlowAndIdle({ latencyUs }: LoadResult, { limit, budget }: Pick<Measured, 'limit' | 'budget'>): boolean {
    const { plan } = this.#context;
    // Others that took the CPU do not hide that a server hardly used it.
    const isIdle = limit === 'waiting' || limit === 'others' || limit === 'unknown';
    const { usedCores = 0, usableCores = 1 } = budget ?? {};
    const { mode, newConnections } = plan.load;
    const isKept = mode !== 'open' && newConnections !== true;
    const isAsked = plan.asked !== undefined && isKept && this.#planned.round === 1;
    return isAsked && isIdle && usedCores < usableCores / 2 && (latencyUs?.p50 ?? 0) >= SLOW_US;
  }

  /** Asks the server without a load; undefined if requests differ, may change something, or are not answered. */
  async #askAlone(): Promise<Alone | undefined> {
    const { routes = [], requests } = this.#draw;
    const [request] = requests;
    if (this.#server === undefined || request === undefined) return undefined;
    if (routes.length > 1 || !isSafe(request)) return undefined;
    return this.#effects.askAlone?.(this.#server, request).catch(() => undefined);
  }

  /** Throws if the answers are wrong now. A server that still works for clients that have left only becomes suspect. */
  async #verifyAfter({ lifetime }: LoadResult): Promise<void> {
    if (this.#server === undefined) return;
    const verified = this.#verify(this.#server, 'after');
    const after = await verified.catch((error: unknown) => {
      if (!(error instanceof UnansweredError) || !lifetime?.inFlight) throw error;
      this.#reasons.push(judgeUnverified(error.message, lifetime));
      return this.#expected;
    });
    const changed = this.#expected?.findIndex(
      (before, index) => before !== null && before.sha256 !== after?.[index]?.sha256,
    );
    if (changed === undefined || changed === -1) return;
    throw new BenchError('trial', this.#describeChange(changed));
  }

  /** Says when the right answer to a request has changed, and where. */
  #describeChange(index: number): string {
    const { before, after } = this.#verified;
    const { method, path } = this.#draw.requests[index] ?? { method: '', path: '' };
    const seconds = ((after.atMs - before.atMs) / 1000).toFixed(1);
    const [then, now] = [before, after].map(({ bodies }) => bodies.get(index));
    const where = then === undefined || now === undefined ? '' : `: ${describeDifference(now, then)}`;
    return `${method} ${path}: the right answer after the load differs from that before it, ${seconds} s earlier${where}. If it may differ: --expect-status 2xx`;
  }

  /** Asks the server which code it ran, after the measurement. */
  async #attestCode(): Promise<void> {
    const code = this.#context.prepared?.code;
    if (code === undefined || this.#server === undefined) return;
    const running = await this.#effects.readCode?.(this.#server, code, this.#planned, this.#draw);
    if (running !== undefined) this.#head.code = running;
  }

  /** Adds reasons; a fatal one fails the trial and comes first. */
  #add(reasons: readonly Reason[]): void {
    const fatal = reasons.filter(isFatal);
    this.#reasons.unshift(...fatal);
    this.#reasons.push(...reasons.filter((reason) => !isFatal(reason)));
    this.#failed ||= fatal.length > 0;
  }

  /** Adds a reason that the load has shown. */
  note(reason: Reason): void {
    this.#add([reason]);
  }

  /** Marks the trial as failed for this reason. */
  fail(error: unknown): void {
    const { plan } = this.#context;
    this.#reasons.unshift(
      error instanceof UsedUpError
        ? makeReason(
            'rows-used-up',
            describeUsedUp(plan, this.#planned, { ...error.used, routes: this.#draw.routes }),
          )
        : toReason(error),
    );
    this.#failed = true;
  }

  /** Stops the server, ends the companions' parts, and returns the record. Never throws. */
  async end(): Promise<Trial> {
    this.#sampler?.[Symbol.dispose]();
    // A server that still works for a companion's request is not to blame for the way it ends.
    const isAtWork = this.#parts.some(({ companion }) => companion.keepsServerBusy?.() ?? false);
    const toldBefore = isAtWork ? this.#server?.logTail() : undefined;
    const stopped = await this.#stop();
    for (const { companion } of this.#parts) await this.#endPart(companion);
    this.#add(stopped.trouble.filter(({ code }) => !isAtWork || code !== 'ignored-sigterm'));
    const reasons = this.#reasons;
    const logTail = toldBefore ?? this.#server?.logTail();
    const tail: TrialTail = {
      files: stopped.files,
      ...(stopped.time === undefined ? {} : { time: stopped.time }),
      ...(reasons.length > 0 && logTail !== undefined ? { logTail } : {}),
    };
    const head = this.#head;
    const companions = this.#recordParts();
    const measured = this.#measured && { ...this.#measured, ...companions };
    if (this.#failed || measured === undefined) {
      const partial = measured ?? companions;
      const failed: FailedTrial = { ...head, ...tail, status: 'failed', reasons };
      return Object.keys(partial).length === 0 ? failed : { ...failed, partial };
    }
    if (reasons.length > 0) return { ...head, ...tail, status: 'suspect', reasons, measured };
    return { ...head, ...tail, status: 'ok', reasons: [], measured };
  }

  /** Lets a companion account for the trial and releases its resources. An error fails the trial. */
  async #endPart(companion: TrialCompanion): Promise<void> {
    const [accounted] = await Promise.allSettled([companion.afterStop?.(this.#failed)]);
    const [released] = await Promise.allSettled([companion[Symbol.asyncDispose]()]);
    if (accounted.status === 'fulfilled') this.#add(accounted.value ?? []);
    const failure = [accounted, released].find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') this.fail(failure.reason);
  }

  #recordParts(): Pick<Measured, 'companions'> {
    const told = this.#parts.map(
      ({ name, companion }) => [name, companion.record?.(this.#beside[name])] as const,
    );
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

/** The bytes of an answer that are kept to show where it has changed. */
const KEPT_BYTES = 2 ** 16;

/** The answers of one verification by the index of their request, and its begin on the monotonic clock. */
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

function headOf(
  planned: PlannedTrial,
  { plan, target, prepared, placed }: TrialContext,
  effects: TrialEffects,
): TrialHead {
  const engine = effects.load(target);
  return {
    ...plannedHead(planned, { plan, target, placement: placed.placement, atMs: effects.now() }),
    engine: engine.name,
    ...(prepared?.runtime === undefined ? {} : { runtime: prepared.runtime }),
    ...(engine.version === undefined ? {} : { driver: { name: engine.name, version: engine.version } }),
    ...headsOf(effects.companions, target),
  };
}

/** The parts of companions in the head of a record. */
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
  return {
    schema: RECORD_SCHEMA,
    id: planned.id,
    run: plan.run,
    target,
    attested: [],
    workload: plan.workload,
    ...(plan.params === undefined ? {} : { params: plan.params }),
    connections: planned.connections,
    round: planned.round,
    order: planned.order,
    seed: planned.seed,
    ...(planned.duel === undefined ? {} : { duel: planned.duel }),
    startedAt: new Date(atMs).toISOString(),
    engine: target.engine ?? plan.engine,
    load: plan.load,
    workers: plan.workers,
    ...(plan.threads === undefined ? {} : { threads: plan.threads }),
    ...(plan.cores === undefined ? {} : { cores: plan.cores }),
    placement,
    warmupSeconds: warmupSecondsOf(plan, planned),
    plannedSeconds: plan.windowSeconds,
    timeoutSeconds: plan.timeoutSeconds,
    ...(plan.quick ? { quick: true } : {}),
  };
}

function toReason(error: unknown): Reason {
  // A bug in Bench is data too, but it must be recognisable.
  const code =
    error instanceof CompanionError ? error.reason : error instanceof BenchError ? 'trial' : 'defect';
  if (code === 'defect' && process.env['DEBUG'] !== undefined) console.error(error);
  return makeReason(code, { message: messageOf(error) });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
