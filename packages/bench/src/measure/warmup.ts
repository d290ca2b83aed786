/** Studies the warm-up of one fresh process, by short turns against a warm reference on the same core. */
import type { LoadResult } from '../results/record.ts';
import type { StudiedProcess, Turn, TurnPair } from '../results/study/record.ts';
import { BenchError } from '../errors.ts';
import type { LoadSession, Window } from '../load/engine.ts';
import { openCpuMeter, type CpuMeter } from '../resources/cpu-meter.ts';
import { STUDY_SCHEMA } from '../versions.ts';
import type { Entry } from './conductor.ts';
import { ServerLife, type ReadyServer, type TrialEffects } from './life.ts';
import type { Reference } from './reference.ts';
import { accountFor, watchForDeath } from './window.ts';

/**
 * The windows of both servers, in seconds. Neighbours of 20 to 400 ms agree equally well, so many short ones say most.
 * The fresh process has the longer ones: it is then under load for most of the time, as in a trial.
 */
const WINDOW_SECONDS = { fresh: 0.1, reference: 0.05, most: 1 };
/** A window holds this many answers of each connection, unless it would become too long. */
const CYCLES = 10;
/** The time from the first request of a turn to the opening of its window: one answer of each connection. */
const RAMP_SECONDS = { least: 0.005, most: 0.5 };
/**
 * Load on the reference before each process, in seconds. The generators are new for each process: they must not become
 * faster while the fresh process does.
 */
const LEAD_SECONDS = 2;
/** Doubts about latency and pace, which a study does not report: the pace between turns is its subject. */
const BESIDE_THE_POINT: ReadonlySet<string> = new Set([
  'trend',
  'unsteady',
  'late-reads',
  'late-tail',
  'little',
]);

/** The inputs that all processes of a study share. */
export interface StudyMeans {
  reference: Reference;
  effects: TrialEffects;
  /** The time for which each process is observed, from its first right answer on. */
  seconds: number;
  /** Returns true if the study was interrupted. */
  isStopped: () => boolean;
}

/** The course of one process so far. */
interface Course {
  pairs: TurnPair[];
  cpuSource?: string;
  startupSeconds?: number;
}

/** Observes one fresh process. Never throws for a failure of it: a failed process is data too. Throws if the reference fails. */
export async function observeProcess(entry: Entry, means: StudyMeans): Promise<StudiedProcess> {
  const { effects, reference } = means;
  const startedAt = new Date(effects.now()).toISOString();
  const course: Course = { pairs: [] };
  let answeredAtMs = 0;
  const life = new ServerLife(entry.planned, entry.context, {
    ...effects,
    async awaitRightAnswer(server, ...asked) {
      await effects.awaitRightAnswer(server, ...asked);
      answeredAtMs = performance.now();
      if (server.startedAtMs !== undefined)
        course.startupSeconds = (answeredAtMs - server.startedAtMs) / 1000;
    },
  });
  try {
    const load = await takeTurns(life, entry, means, course, () => answeredAtMs);
    await life.afterLoad();
    if (load !== undefined) await life.take({ load, sampled: undefined });
  } catch (error) {
    // An interrupt stops the servers in the middle of a turn.
    if (!means.isStopped()) life.fail(error);
  }
  const trial = await life.end();
  const isCut = means.isStopped();
  const end = reference.ready.server.ended();
  if (end !== undefined && !isCut)
    throw new BenchError('trial', `the reference of the study ended under load (${end})`, 'see its log');
  const { id, run, target, runtime, attested, connections, order, seed, status, reasons, files } = trial;
  return {
    schema: STUDY_SCHEMA,
    id,
    run,
    target,
    ...(runtime === undefined ? {} : { runtime }),
    attested,
    process: trial.round,
    order,
    seed,
    startedAt,
    connections,
    status: isCut ? 'cut' : status === 'failed' ? 'failed' : 'ok',
    reasons: reasons
      .filter(({ code }) => !isCut && !BESIDE_THE_POINT.has(code))
      .map(({ code, text }) => ({ code, text })),
    ...course,
    files,
  };
}

/** Starts the server of a life, and loads it and the reference in turn. Returns the load on the server. */
async function takeTurns(
  life: ServerLife,
  { context: { plan, target } }: Entry,
  { reference, effects, seconds, isStopped }: StudyMeans,
  course: Course,
  answeredAtMs: () => number,
): Promise<LoadResult | undefined> {
  await using generators = effects.load(target).open(reference.ready.spec, plan.generators);
  using warm = await Side.open(reference.ready, generators);
  await warm.turn({ warmupSeconds: 0, windowSeconds: LEAD_SECONDS });
  const ready = await life.start();
  const session = generators.beside?.(ready.spec);
  if (session === undefined) throw new Error('this engine cannot load two servers in turn');
  await using _ = accountFor(session, (counts) => life.account(counts));
  using fresh = await Side.open(ready, session);
  course.cpuSource = fresh.meter.source;
  const bornAtMs = answeredAtMs();
  for (let index = 0; !isStopped() && performance.now() - bornAtMs < seconds * 1000; index++) {
    // A B B A: a linear drift of the machine affects both sides alike.
    const before = index % 2 === 0 ? undefined : await warm.next(WINDOW_SECONDS.reference);
    const own = await fresh.next(Math.max(WINDOW_SECONDS.fresh, plan.waitSeconds ?? 0));
    const beside = before ?? (await warm.next(WINDOW_SECONDS.reference));
    course.pairs.push({
      seconds: (own.middleMs - bornAtMs) / 1000,
      answers: own.answersSoFar,
      fresh: own.turn,
      reference: beside.turn,
    });
  }
  return fresh.load;
}

/** A turn and its place in the life of its server. */
interface Taken {
  turn: Turn;
  /** The middle of its window, on the monotonic clock. */
  middleMs: number;
  /** Right answers of the server since the session was opened. */
  answersSoFar: number;
}

/**
 * One of the two servers. Its CPU is read while it is idle, and its answers are counted to the last: each turn then
 * holds exactly the CPU of its answers, and work that the server does between two turns counts for the later one.
 */
class Side implements Disposable {
  readonly meter: CpuMeter;
  /** The result of all its turns. */
  load: LoadResult | undefined;
  readonly #ready: ReadyServer;
  readonly #session: LoadSession;
  readonly #death: ReturnType<typeof watchForDeath>;
  #cpuUs = 0;
  #answers = 0;
  /** The time between the answers of a connection, in seconds. */
  #cycleSeconds = 0;

  private constructor(ready: ReadyServer, session: LoadSession, meter: CpuMeter) {
    this.#ready = ready;
    this.#session = session;
    this.meter = meter;
    this.#death = watchForDeath(ready.server);
  }

  /** Opens the connections of a server. Throws if its CPU cannot be read, or if it ends. */
  static async open(ready: ReadyServer, session: LoadSession): Promise<Side> {
    const { server } = ready;
    const meter = openCpuMeter(server.pid(), server.cgroup);
    if (meter === undefined)
      throw new BenchError('trial', `CPU cannot be read on ${process.platform} for a study`, 'use Linux');
    const side = new Side(ready, session, meter);
    await Promise.race([session.arm(), side.#death.promise]);
    side.#answers = (await session.count?.())?.ok ?? 0;
    side.#cpuUs = meter.readUs();
    return side;
  }

  /** Takes a turn whose window lasts at least this long, in seconds. */
  async next(leastSeconds: number): Promise<Taken> {
    const { least, most } = RAMP_SECONDS;
    const wanted = Math.min(WINDOW_SECONDS.most, CYCLES * this.#cycleSeconds);
    return this.turn({
      warmupSeconds: Math.min(most, Math.max(least, this.#cycleSeconds)),
      windowSeconds: Math.max(leastSeconds, wanted),
    });
  }

  /** Loads the server once. Throws if it ends or answers nothing. */
  async turn(window: Omit<Window, 'load'>): Promise<Taken> {
    const before = this.load;
    const fired = this.#session.fire({ ...window, load: { mode: 'closed' } }, () => {});
    // If the server ends first, nobody awaits the rest of the turn.
    fired.catch(() => {});
    const load = await Promise.race([fired, this.#death.promise]);
    const cpuUs = this.meter.readUs();
    this.load = load;
    const windowSeconds = load.windowSeconds - (before?.windowSeconds ?? 0);
    const inWindow = load.counts.ok - (before?.counts.ok ?? 0);
    const answersSoFar = load.lifetime?.ok ?? this.#answers + inWindow;
    const answers = answersSoFar - this.#answers;
    if (answers === 0) throw new BenchError('trial', 'no right answer in a turn of the study');
    const turn: Turn = {
      cpuUs: cpuUs - this.#cpuUs,
      answers,
      goodputPerSecond: inWindow / windowSeconds,
      windowSeconds,
    };
    this.#cpuUs = cpuUs;
    this.#answers = answersSoFar;
    this.#cycleSeconds = (this.#ready.spec.connections * windowSeconds) / Math.max(inWindow, answers / 2);
    const closedMs = load.closedAtMs - performance.timeOrigin;
    return { turn, middleMs: closedMs - (windowSeconds * 1000) / 2, answersSoFar };
  }

  [Symbol.dispose](): void {
    this.#death[Symbol.dispose]();
  }
}
