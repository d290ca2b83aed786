/** Studies the warm-up of one fresh process, by short turns against a warm reference on the same core. */
import type { LoadResult } from '../results/record.ts';
import type { StudiedProcess, Turn, TurnPair } from '../results/study/record.ts';
import { BenchError } from '../errors.ts';
import type { LoadSession, ShortTurns } from '../load/engine.ts';
import { clamp } from '../numbers.ts';
import type { CpuMeter } from '../resources/cpu-meter.ts';
import { STUDY_SCHEMA } from '../versions.ts';
import type { Entry } from './conductor.ts';
import { ServerLife, type ReadyServer, type TrialEffects } from './life.ts';
import type { Reference } from './reference.ts';
import { accountFor, watchForDeath } from './window.ts';

/**
 * The windows of both servers, in seconds. Neighbours of 20 to 400 ms agree equally well, so many short ones say most.
 * The fresh process has the longer ones: it is then under load for most of the time, as in a trial.
 */
const WINDOW_SECONDS = { fresh: 0.06, reference: 0.03, most: 1 };
/** A window holds this many answers of each connection, unless it would become too long. */
const CYCLES = 10;
/** The time from the first request of a turn to the opening of its window: one answer of each connection. */
const RAMP_SECONDS = { least: 0.002, most: 0.5 };
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
  await warm.take({ rampSeconds: 0, windowSeconds: LEAD_SECONDS });
  const ready = await life.start();
  const session = generators.beside?.(ready.spec);
  if (session === undefined) throw new Error(NO_TURNS);
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
  return session.turns?.collect();
}

const NO_TURNS = 'this engine cannot load two servers in turn';

/** A turn and its place in the life of its server. */
interface Taken {
  turn: Turn;
  /** The middle of its load, on the monotonic clock. */
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
  readonly #connections: number;
  readonly #turns: ShortTurns;
  readonly #death: ReturnType<typeof watchForDeath>;
  #cpuUs: number;
  #answers: number;
  /** The time between the answers of a connection, in seconds. */
  #cycleSeconds = 0;

  private constructor(ready: ReadyServer, turns: ShortTurns, meter: CpuMeter, answers: number) {
    this.#connections = ready.spec.connections;
    this.#turns = turns;
    this.meter = meter;
    this.#answers = answers;
    this.#cpuUs = meter.readUs();
    this.#death = watchForDeath(ready.server);
  }

  /** Opens the connections of a server. Throws if its CPU cannot be read, or if it ends. */
  static async open({ meter, ...ready }: ReadyServer, session: LoadSession): Promise<Side> {
    if (meter === undefined)
      throw new BenchError('trial', `CPU cannot be read on ${process.platform} for a study`, 'use Linux');
    if (session.turns === undefined) throw new Error(NO_TURNS);
    using death = watchForDeath(ready.server);
    await Promise.race([session.arm(), death.promise]);
    const { ok = 0 } = (await session.count?.()) ?? {};
    return new Side({ meter, ...ready }, session.turns, meter, ok);
  }

  /** Takes a turn whose window lasts at least this long, in seconds. */
  async next(leastSeconds: number): Promise<Taken> {
    const wanted = Math.min(WINDOW_SECONDS.most, CYCLES * this.#cycleSeconds);
    return this.take({
      rampSeconds: clamp(this.#cycleSeconds, RAMP_SECONDS.least, RAMP_SECONDS.most),
      windowSeconds: Math.max(leastSeconds, wanted),
    });
  }

  /** Loads the server once. Throws if it ends or answers nothing. */
  async take(turn: { rampSeconds: number; windowSeconds: number }): Promise<Taken> {
    const taken = this.#turns.take({ ...turn, load: { mode: 'closed' } });
    // If the server ends first, nobody awaits the rest of the turn.
    taken.catch(() => {});
    const { seconds, answers, goodputPerSecond } = await Promise.race([taken, this.#death.promise]);
    const endMs = performance.now();
    const cpuUs = this.meter.readUs();
    if (answers === 0) throw new BenchError('trial', 'no right answer in a turn of the study');
    const spentUs = cpuUs - this.#cpuUs;
    this.#cpuUs = cpuUs;
    this.#answers += answers;
    this.#cycleSeconds = (this.#connections * seconds) / answers;
    return {
      turn: { cpuUs: spentUs, answers, goodputPerSecond, seconds },
      middleMs: endMs - (seconds * 1000) / 2,
      answersSoFar: this.#answers,
    };
  }

  [Symbol.dispose](): void {
    this.#death[Symbol.dispose]();
  }
}
