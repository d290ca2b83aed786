import { cpus } from 'node:os';
import { workloadOf } from '../catalogue/workloads/index.ts';
import { describeRequest } from '../catalogue/workloads/url.ts';
import type { Draw } from '../catalogue/workloads/workload.ts';
import { BenchError } from '../errors.ts';
import type {
  BackgroundRequest,
  Counts,
  DatabaseUse,
  FailedTrial,
  InsertAccount,
  LimitProof,
  LoadResult,
  Measured,
  Reason,
  RunningCode,
  Target,
  Trial,
  TrialHead,
  TrialTail,
  UpstreamUse,
} from '../model.ts';
import { coresOf, type Plan, type PlannedTrial } from '../plan.ts';
import { RECORD_SCHEMA } from '../model.ts';
import { isFatal, makeReason } from '../reasons.ts';
import { createRandom } from '../random.ts';
import { attest } from './attest.ts';
import type { Background } from './background.ts';
import { derive, overWindow } from './derive.ts';
import { DatabaseError, type Database, type OpenTable } from './database.ts';
import { loadServer, proveLimit, type Fired, type Raised } from './fire.ts';
import { Inserts } from './inserts.ts';
import { judgeInserts } from './judge-database.ts';
import { judge, judgeProof, judgeUnverified } from './judge.ts';
import type { CodeClaim } from './imports.ts';
import type { Server, Stopped } from './launch.ts';
import type { LoadEngine } from './load/engine.ts';
import type { ExpectedBody, LoadSpec } from './load/protocol.ts';
import type { Placed } from './placement.ts';
import type { Prepared } from './prepare.ts';
import type { Sampler } from './resources/sampler.ts';
import { UpstreamError, useBetween, type Upstream, type UpstreamLook } from './upstream.ts';
import { UnansweredError } from './verify.ts';

/** What a trial does to the world: given as arguments, so that the whole of it runs with fakes. */
export interface TrialEffects {
  launch(prepared: Prepared, planned: PlannedTrial, draw: Draw): Promise<Server>;
  /** Asks until the first right answer. */
  awaitRightAnswer(server: Server, draw: Draw, deadlineSeconds: number): Promise<void>;
  verify(server: Server, draw: Draw, when: string): Promise<ExpectedBody[] | undefined>;
  /** What loads a target. */
  load(target: Target): LoadEngine;
  /** Keeps a request in flight until it is ended. */
  keepInFlight(server: Server, request: BackgroundRequest): Background;
  /** What the server asks; absent where it asks nobody. */
  upstream?: Upstream;
  /** Holds the table that the server asks; absent where it asks none. */
  database?: Database;
  /** Undefined where the server's process is not known. */
  resources(server: Server): Promise<Sampler | undefined>;
  now(): number;
  /** Asks the live server which code it runs; absent where nobody wants to know. */
  readCode?(server: Server, code: CodeClaim, planned: PlannedTrial, draw: Draw): Promise<RunningCode>;
}

/** What all trials of a run have in common. */
export interface TrialContext {
  plan: Plan;
  placed: Placed;
  /** Undefined for a server that is already running. */
  prepared: Prepared | undefined;
  target: Target;
}

/** Measures one trial: one fresh server, one window. Never throws for what goes wrong in it: a trial is data, also when it fails. */
export async function measureTrial(
  planned: PlannedTrial,
  context: TrialContext,
  effects: TrialEffects,
): Promise<Trial> {
  const { plan, placed } = context;
  const attempt = new Attempt(planned, context, effects);
  const engine = effects.load(context.target);
  try {
    const raised = await attempt.raise();
    const firing = { plan, engine, account: (counts: Counts) => attempt.account(counts) };
    const fired = await loadServer(raised, firing);
    await attempt.askUpstream();
    const proof = plan.proveLimit ? await proveLimit(raised, firing, placed, fired.load) : undefined;
    await attempt.take(fired, proof);
  } catch (error) {
    attempt.fail(error);
  }
  return attempt.end();
}

/** One trial on its way to its record: raised, loaded by others, taken stock of, ended. */
export class Attempt {
  readonly #head: TrialHead;
  readonly #context: TrialContext;
  readonly #effects: TrialEffects;
  readonly #planned: PlannedTrial;
  readonly #draw: Draw;
  readonly #reasons: Reason[] = [];
  #failed = false;
  #measured: Measured | undefined;
  #startup: Pick<Measured, 'startupSeconds'> = {};
  #server: Server | undefined;
  #sampler: Sampler | undefined;
  #expected: ExpectedBody[] | undefined;
  /** The upstream before the load, and what the load came to there. */
  #upstreamBefore: UpstreamLook | undefined;
  #upstreamUse: UpstreamUse | undefined;
  #table: OpenTable | undefined;
  readonly #inserts = new Inserts();

  constructor(planned: PlannedTrial, context: TrialContext, effects: TrialEffects) {
    this.#planned = planned;
    this.#context = context;
    this.#effects = effects;
    this.#head = headOf(planned, context, effects);
    const random = createRandom(planned.seed);
    const { plan } = context;
    const draw = workloadOf(plan).draw(() => random.float(), plan.params ?? {});
    this.#draw = draw.table?.inserts === undefined ? draw : this.#inserts.watch(draw);
  }

  /** Launches the server, waits for its first right answer, attests and verifies it. Throws what went wrong. */
  async raise(): Promise<Raised> {
    const { plan, prepared } = this.#context;
    const draw = this.#draw;
    // A server that has nobody to ask need not be launched.
    await this.#effects.upstream?.look();
    if (draw.table !== undefined) this.#table = await this.#effects.database?.open(draw.table);
    const server = await this.#effects.launch(prepared as Prepared, this.#planned, {
      ...draw,
      env: { ...draw.env, ...this.#table?.env },
    });
    this.#server = server;
    if (server.process !== undefined) this.#head.process = server.process;
    await this.#effects.awaitRightAnswer(server, draw, plan.startSeconds);
    const { startedAtMs } = server;
    if (startedAtMs !== undefined)
      this.#startup = { startupSeconds: (performance.now() - startedAtMs) / 1000 };
    this.#head.attested = await attest(server, prepared, plan.workers);
    this.#expected = await this.#verify(server, 'before the load');
    this.#sampler = await this.#effects.resources(server);
    await this.#sampler?.idle();
    this.#upstreamBefore = await this.#effects.upstream?.look();
    const spec: LoadSpec = {
      host: server.host,
      port: server.port,
      requests: draw.requests,
      connections: this.#planned.connections,
      connectsPerSecond: plan.connectsPerSecond,
      timeoutSeconds: plan.timeoutSeconds,
      barrierSeconds: plan.barrierSeconds,
      expected: this.#expected,
      spreadSeconds: plan.waitSeconds,
      hashEvery: plan.hashEvery,
      timing: draw.timing,
    };
    const { background } = this.#head;
    const disturb = background && (() => this.#effects.keepInFlight(server, background));
    return { server, spec, sampler: this.#sampler, disturb };
  }

  async #verify(server: Server, when: string): Promise<ExpectedBody[] | undefined> {
    try {
      return await this.#effects.verify(server, this.#draw, when);
    } catch (error) {
      this.#inserts.addUnanswered();
      throw error;
    }
  }

  /** Everything that generators have sent to the server, from the first connect to their end. */
  account(lifetime: Counts): void {
    this.#inserts.addLoad(lifetime);
  }

  /** Asks the upstream, if there is one, what the load came to there. Throws an upstream error when it is not as it was. */
  async askUpstream(): Promise<void> {
    const after = await this.#effects.upstream?.look();
    if (after !== undefined && this.#upstreamBefore !== undefined)
      this.#upstreamUse = useBetween(this.#upstreamBefore, after);
  }

  /** Takes what the window gave, judges it, and verifies the answers once more. Throws when those are wrong now. */
  async take({ load, sampled, background }: Fired, proof?: LimitProof): Promise<void> {
    const { plan, placed } = this.#context;
    const isAmount = plan.load.mode === 'amount';
    const resources = isAmount && sampled?.server ? overWindow(sampled.server, load) : sampled?.server;
    const host = sampled?.host ?? {};
    const upstream = this.#upstreamUse;
    if (upstream !== undefined && sampled?.upstream !== undefined) upstream.resources = sampled.upstream;
    const judgement = judge({
      load,
      server: resources,
      upstream: upstream && { ...upstream, fetches: this.#draw.fetches ?? 0, placement: placed.placement },
      database:
        this.#table === undefined ? undefined : { resources: sampled?.database, placement: placed.placement },
      background,
      budgetCores: placed.placement.server?.length ?? coresOf(plan),
      isShared: placed.placement.kind === 'shared',
      workers: plan.workers,
      attested: this.#head.attested,
      host,
      machineCores: cpus().length,
      isClosedLoop: plan.load.mode === 'closed',
    });
    this.#reasons.push(...judgement.reasons);
    this.#failed ||= judgement.failed;
    this.#measured = {
      load,
      ...(background === undefined ? {} : { background }),
      ...(resources === undefined
        ? {}
        : {
            server: resources,
            ...derive({
              load,
              server: resources,
              // A tool that is no generator of ours is sampled from its start to its end.
              holdsAll: isAmount || load.lifetime === undefined,
              connections: this.#planned.connections,
            }),
          }),
      ...(upstream === undefined ? {} : { upstream }),
      ...(sampled?.database === undefined ? {} : { database: { resources: sampled.database } }),
      limit: judgement.limit,
      ...(judgement.budget === undefined ? {} : { budget: judgement.budget }),
      ...(judgement.shape === undefined ? {} : { shape: judgement.shape }),
      ...(proof === undefined ? {} : { limitProof: proof }),
      host,
      ...this.#startup,
    };
    if (proof !== undefined) this.#reasons.push(...judgeProof(proof));
    await this.#verifyAfter(load);
    await this.#attestCode();
  }

  /** Throws when the answers are wrong now. A server that is still at work for those who have left is only doubted. */
  async #verifyAfter({ lifetime }: LoadResult): Promise<void> {
    if (this.#server === undefined) return;
    const verified = this.#verify(this.#server, 'after the load');
    const after = await verified.catch((error: unknown) => {
      if (!(error instanceof UnansweredError) || !lifetime?.inFlight) throw error;
      this.#reasons.push(judgeUnverified(error.message, lifetime));
      return this.#expected;
    });
    if (this.#expected?.some(({ sha256 }, index) => sha256 !== after?.[index]?.sha256)) {
      throw new BenchError(
        'trial',
        'right answers after the load differ in their bytes from those before it',
      );
    }
  }

  /** Asks the server which code it ran, now that nothing of it is measured any more. */
  async #attestCode(): Promise<void> {
    const code = this.#context.prepared?.code;
    if (code === undefined || this.#server === undefined) return;
    const running = await this.#effects.readCode?.(this.#server, code, this.#planned, this.#draw);
    if (running !== undefined) this.#head.code = running;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** The trial has failed, and this is why. */
  fail(error: unknown): void {
    this.#reasons.unshift(toReason(error));
    this.#failed = true;
  }

  /** Stops the server and gives the record. */
  async end(): Promise<Trial> {
    this.#sampler?.[Symbol.dispose]();
    // How a server ends that is still at work for a request that we cancelled is not its fault.
    const isAtWork = (this.#measured?.background?.cancelled ?? 0) > 0;
    const toldBefore = isAtWork ? this.#server?.logTail() : undefined;
    const stopped = await this.#stop();
    const database = await this.#closeTable();
    const remains = stopped.trouble.some(isFatal);
    const trouble = stopped.trouble.filter(({ code }) => !isAtWork || code !== 'ignored-sigterm');
    const reasons = [...this.#reasons, ...trouble];
    const logTail = toldBefore ?? this.#server?.logTail();
    const tail: TrialTail = {
      files: stopped.files,
      ...(stopped.time === undefined ? {} : { time: stopped.time }),
      ...(reasons.length > 0 && logTail !== undefined ? { logTail } : {}),
    };
    const head = this.#head;
    const measured = this.#measured && { ...this.#measured, ...database };
    if (this.#failed || remains || measured === undefined) {
      const partial = measured ?? database;
      const failed: FailedTrial = { ...head, ...tail, status: 'failed', reasons };
      return Object.keys(partial).length === 0 ? failed : { ...failed, partial };
    }
    if (reasons.length > 0) return { ...head, ...tail, status: 'suspect', reasons, measured };
    return { ...head, ...tail, status: 'ok', reasons: [], measured };
  }

  /** Counts what the server has stored, now that it has ended, and removes the table. What goes wrong fails the trial. */
  async #closeTable(): Promise<Pick<Measured, 'database'>> {
    const table = this.#table;
    if (table === undefined) return {};
    const counted = this.#draw.table?.inserts === undefined ? undefined : this.#countInserts(table);
    const [inserts] = await Promise.allSettled([counted]);
    const [removed] = await Promise.allSettled([table[Symbol.asyncDispose]()]);
    const failure = [inserts, removed].find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') this.fail(failure.reason);
    const database: DatabaseUse = { ...this.#measured?.database };
    if (inserts.status === 'fulfilled' && inserts.value !== undefined) database.inserts = inserts.value;
    return Object.keys(database).length === 0 ? {} : { database };
  }

  async #countInserts(table: OpenTable): Promise<InsertAccount> {
    const account = this.#inserts.close(await table.countInserts());
    const wrong = judgeInserts(account);
    // Of a server that died this is all that there is to say.
    if (wrong.length === 0 && this.#failed) this.#reasons.push(makeReason('inserts', account));
    this.#reasons.unshift(...wrong);
    this.#failed ||= wrong.length > 0;
    return account;
  }

  async #stop(): Promise<Stopped> {
    if (this.#server === undefined) return { files: [], trouble: [] };
    return this.#server.stop().catch((error: unknown): Stopped => {
      return { files: [], trouble: [makeReason('not-stopped', { message: messageOf(error) })] };
    });
  }
}

function headOf(
  planned: PlannedTrial,
  { plan, target, prepared, placed }: TrialContext,
  effects: TrialEffects,
): TrialHead {
  return {
    schema: RECORD_SCHEMA,
    id: planned.id,
    run: plan.run,
    target,
    ...(prepared?.runtime === undefined ? {} : { runtime: prepared.runtime }),
    attested: [],
    workload: plan.workload,
    ...(plan.params === undefined ? {} : { params: plan.params }),
    ...(plan.url === undefined ? {} : { request: describeRequest(plan.url) }),
    connections: planned.connections,
    round: planned.round,
    order: planned.order,
    seed: planned.seed,
    ...(planned.duel === undefined ? {} : { duel: planned.duel }),
    startedAt: new Date(effects.now()).toISOString(),
    engine: effects.load(target).name,
    load: plan.load,
    workers: plan.workers,
    ...(plan.threads === undefined ? {} : { threads: plan.threads }),
    ...(plan.cores === undefined ? {} : { cores: plan.cores }),
    ...(plan.background === undefined || target.undisturbed === undefined
      ? {}
      : { background: plan.background }),
    ...(effects.upstream === undefined
      ? {}
      : { upstream: { kind: effects.upstream.kind, version: effects.upstream.version } }),
    ...(effects.database === undefined ? {} : { database: tellDatabase(effects.database) }),
    placement: placed.placement,
    warmupSeconds: plan.warmupSeconds,
    plannedSeconds: plan.windowSeconds,
    timeoutSeconds: plan.timeoutSeconds,
    ...(plan.quick ? { quick: true } : {}),
  };
}

function tellDatabase({ kind, version, maxConnections }: Database): NonNullable<TrialHead['database']> {
  return { kind, version, maxConnections };
}

function toReason(error: unknown): Reason {
  // A defect of the tool is data too, but it has to be recognisable as one.
  const code =
    error instanceof UpstreamError
      ? 'upstream'
      : error instanceof DatabaseError
        ? 'database'
        : error instanceof BenchError
          ? 'trial'
          : 'defect';
  if (code === 'defect' && process.env['DEBUG'] !== undefined) console.error(error);
  return makeReason(code, { message: messageOf(error) });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
