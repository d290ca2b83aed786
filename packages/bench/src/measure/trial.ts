import { findWorkload } from '../catalogue/workloads/index.ts';
import type { Draw } from '../catalogue/workloads/workload.ts';
import { BenchError } from '../errors.ts';
import type {
  FailedTrial,
  LimitProof,
  LoadResult,
  Measured,
  Reason,
  Target,
  Trial,
  TrialHead,
  TrialTail,
} from '../model.ts';
import { METRIC_IDS } from '../model.ts';
import type { Plan, PlannedTrial } from '../plan.ts';
import { createRandom } from '../random.ts';
import { attest } from './attest.ts';
import { judge, judgeProof } from './judge.ts';
import type { Server, Stopped } from './launch.ts';
import type { LoadEngine } from './load/engine.ts';
import type { ExpectedBody, LoadSpec } from './load/protocol.ts';
import type { Placed } from './placement.ts';
import type { Prepared } from './prepare.ts';
import type { Sampled, Sampler } from './resources/sampler.ts';
import { drawUrl } from './url.ts';

/** The version of a trial's record; the schema file carries its history. */
export const RECORD_SCHEMA = 1;

const POLL_MS = 20;

/** What a trial does to the world: given as arguments, so that the whole of it runs with fakes. */
export interface TrialEffects {
  launch(prepared: Prepared, planned: PlannedTrial, draw: Draw): Promise<Server>;
  /** Asks until the first right answer. */
  awaitRightAnswer(server: Server, draw: Draw, deadlineSeconds: number): Promise<void>;
  verify(server: Server, draw: Draw, when: string): Promise<ExpectedBody | undefined>;
  load: LoadEngine;
  /** Undefined where the server's process is not known. */
  resources(server: Server): Promise<Sampler | undefined>;
  now(): number;
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
  const { plan, target, prepared, placed } = context;
  const head: TrialHead = {
    schema: RECORD_SCHEMA,
    id: planned.id,
    run: plan.run,
    target,
    ...(prepared?.runtime === undefined ? {} : { runtime: prepared.runtime }),
    attested: [],
    workload: plan.workload,
    connections: planned.connections,
    round: planned.round,
    order: planned.order,
    seed: planned.seed,
    startedAt: new Date(effects.now()).toISOString(),
    engine: plan.rate === undefined ? effects.load.name : plan.engine,
    workers: plan.workers,
    placement: placed.placement,
    warmupSeconds: plan.warmupSeconds,
    plannedSeconds: plan.windowSeconds,
    timeoutSeconds: plan.timeoutSeconds,
    ...(plan.quick ? { quick: true } : {}),
  };
  const random = createRandom(planned.seed);
  const draw =
    plan.url === undefined ? findWorkload(plan.workload).draw(() => random.float()) : drawUrl(plan.url);
  let server: Server;
  try {
    server = await effects.launch(prepared as Prepared, planned, draw);
  } catch (error) {
    return { ...head, status: 'failed', files: [], reasons: [toReason(error)] };
  }
  const observed = await observe(server, draw, planned, context, effects, head);
  const stopped = await server.stop().catch((error: unknown): Stopped => {
    const text = `the server could not be stopped: ${toReason(error).text}`;
    return { files: [], trouble: [{ code: 'not-stopped', text }] };
  });
  return finish(head, observed, stopped, server.logTail());
}

/** What was seen up to the server's stop: figures, doubts, and the failure that ended it early. */
interface Observed {
  measured?: Measured;
  reasons: Reason[];
  failed: boolean;
}

async function observe(
  server: Server,
  draw: Draw,
  planned: PlannedTrial,
  { plan, prepared, placed }: TrialContext,
  effects: TrialEffects,
  head: TrialHead,
): Promise<Observed> {
  const observed: Observed = { reasons: [], failed: false };
  try {
    await effects.awaitRightAnswer(server, draw, plan.startSeconds);
    const { startedAtMs } = server;
    const startup =
      startedAtMs === undefined ? {} : { startupSeconds: (performance.now() - startedAtMs) / 1000 };
    head.attested = await attest(server, prepared, plan.workers);
    const expected = await effects.verify(server, draw, 'before the load');
    using sampler = await effects.resources(server);
    await sampler?.idle();
    const spec: LoadSpec = {
      host: server.host,
      port: server.port,
      requests: draw.requests,
      connections: planned.connections,
      connectsPerSecond: plan.connectsPerSecond,
      timeoutSeconds: plan.timeoutSeconds,
      barrierSeconds: plan.barrierSeconds,
      expected,
      hashEvery: plan.hashEvery,
    };
    const { load, sampled } = await loadServer(server, spec, plan, effects.load, sampler);
    const resources = sampled?.server;
    const host = sampled?.host ?? {};
    const budgetCores = placed.placement.server?.length ?? plan.workers;
    const judgement = judge({
      load,
      server: resources,
      budgetCores,
      host,
      isClosedLoop: plan.amount === undefined && plan.rate === undefined,
    });
    observed.reasons.push(...judgement.reasons);
    observed.failed = judgement.failed;
    observed.measured = {
      load,
      ...(resources === undefined
        ? {}
        : { server: resources, ...derive(load, resources, planned.connections) }),
      limit: judgement.limit,
      ...(judgement.shape === undefined ? {} : { shape: judgement.shape }),
      host,
      ...startup,
    };
    if (plan.proveLimit) {
      const proof = await proveLimit(server, spec, plan, effects.load, placed, load);
      observed.measured.limitProof = proof;
      observed.reasons.push(...judgeProof(proof));
    }
    const after = await effects.verify(server, draw, 'after the load');
    if (expected !== undefined && after?.sha256 !== expected.sha256) {
      throw new BenchError(
        'trial',
        'right answers after the load differ in their bytes from those before it',
      );
    }
  } catch (error) {
    observed.reasons.unshift(toReason(error));
    observed.failed = true;
  }
  return observed;
}

/** Arms, fires one window with the sampler beside it, and ends the generators. Throws when the server dies in it. */
async function loadServer(
  server: Server,
  spec: LoadSpec,
  plan: Plan,
  engine: LoadEngine,
  sampler: Sampler | undefined,
  processes = plan.generators,
): Promise<{ load: LoadResult; sampled: Sampled | undefined }> {
  await using session = engine.open(spec, processes);
  using died = watchForDeath(server);
  await Promise.race([session.arm(), died.promise]);
  const marks: Promise<unknown>[] = [];
  let sampled: Sampled | undefined;
  const closeSample = async (): Promise<void> => {
    sampled = await sampler?.stop();
  };
  const fired = session.fire(
    {
      warmupSeconds: plan.warmupSeconds,
      windowSeconds: plan.amount === undefined ? plan.windowSeconds : AMOUNT_SECONDS,
      ...(plan.amount === undefined ? {} : { amount: plan.amount }),
      ...(plan.rate === undefined ? {} : { rate: plan.rate }),
    },
    (edge) => {
      if (sampler === undefined) return;
      const mark = edge === 'opened' ? sampler.start(session.pids) : closeSample();
      // What it throws is thrown after the window; unhandled until then, it would end the harness.
      mark.catch(() => {});
      marks.push(mark);
    },
  );
  const load = await Promise.race([fired, died.promise]);
  await Promise.all(marks);
  return { load, sampled };
}

/** Measures once more with one generator more, where a core is free for it. */
async function proveLimit(
  server: Server,
  spec: LoadSpec,
  plan: Plan,
  engine: LoadEngine,
  { placement }: Placed,
  first: LoadResult,
): Promise<LimitProof> {
  const free = placement.kind === 'separate' ? (placement.generator?.length ?? 0) - plan.generators : 0;
  if (free < 1) return { unproven: 'no core is free for one generator more' };
  try {
    const { load } = await loadServer(server, spec, plan, engine, undefined, plan.generators + 1);
    return { goodputPerSecond: load.goodputPerSecond, ratio: load.goodputPerSecond / first.goodputPerSecond };
  } catch (error) {
    // The first window stands, whatever became of the second.
    return { unproven: error instanceof Error ? error.message : String(error) };
  }
}

/** An amount of requests has no fixed end; this is how long it may take at the most. */
const AMOUNT_SECONDS = 600;

function derive(
  load: Measured['load'],
  server: NonNullable<Measured['server']>,
  connections: number,
): Partial<Measured> {
  const { ok } = load.counts;
  const { coresUsed, contextSwitches, idleBytes, peakBytes } = server;
  return {
    // As rates, because the sampled span and the generators' windows differ by some ms at their edges.
    ...(ok > 0 ? { cpuUsPerRequest: (coresUsed * 1e6) / load.goodputPerSecond } : {}),
    ...(ok > 0 && contextSwitches !== undefined ? { contextSwitchesPerRequest: contextSwitches / ok } : {}),
    ...(idleBytes !== undefined && peakBytes !== undefined
      ? { bytesPerConnection: (peakBytes - idleBytes) / connections }
      : {}),
  };
}

/** Rejects when the server ends while it is being loaded. */
function watchForDeath(server: Server): { promise: Promise<never> } & Disposable {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setInterval(() => {
    const end = server.ended();
    if (end !== undefined) reject(new BenchError('trial', `the server died under load (${end})`));
  }, POLL_MS);
  promise.catch(() => {});
  return { promise, [Symbol.dispose]: () => clearInterval(timer) };
}

function toReason(error: unknown): Reason {
  const text = error instanceof Error ? error.message : String(error);
  // A defect of the tool is data too, but it has to be recognisable as one.
  const code = error instanceof BenchError ? 'trial' : 'defect';
  if (code === 'defect' && process.env['DEBUG'] !== undefined) console.error(error);
  return { code, text, invalidates: [...METRIC_IDS] };
}

/** Something of the server is still there: it would answer for the next one. */
function isFatal({ code }: Stopped['trouble'][number]): boolean {
  return code === 'port-held' || code === 'not-stopped';
}

function finish(head: TrialHead, observed: Observed, stopped: Stopped, logTail: string[]): Trial {
  const remains = stopped.trouble.some(isFatal);
  const reasons = [
    ...observed.reasons,
    ...stopped.trouble.map((trouble): Reason => ({
      ...trouble,
      invalidates: isFatal(trouble) ? [...METRIC_IDS] : [],
    })),
  ];
  const tail: TrialTail = {
    files: stopped.files,
    ...(stopped.time === undefined ? {} : { time: stopped.time }),
    ...(reasons.length > 0 ? { logTail } : {}),
  };
  const { measured } = observed;
  if (observed.failed || remains || measured === undefined) {
    const failed: FailedTrial = { ...head, ...tail, status: 'failed', reasons };
    return measured === undefined ? failed : { ...failed, partial: measured };
  }
  if (reasons.length > 0) return { ...head, ...tail, status: 'suspect', reasons, measured };
  return { ...head, ...tail, status: 'ok', reasons: [], measured };
}
