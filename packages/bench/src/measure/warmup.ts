/** Studies the warm-up of one fresh process, by short turns against a warm reference on the same core. */
import { TURN_SECONDS } from 'bench-model/planned';
import type { LoadResult } from 'bench-model/load';
import type { Turns } from 'bench-model/measured';
import type { RecordedCourse, StudiedProcess } from 'bench-model/study';
import { BenchError } from 'bench-model/errors';
import type { LoadSession, ShortTurns } from 'bench-load/engine';
import type { Turn, TurnResult } from 'bench-load/protocol';
import { TURN_ANSWERS } from '../plan/by-turns.ts';
import { sizeTurn } from '../plan/turns.ts';
import { STUDY_SCHEMA } from 'bench-model/versions';
import type { Entry } from './conductor.ts';
import { ServerLife, type ReadyServer, type TrialEffects } from './life.ts';
import type { Reference } from './reference.ts';
import { TurnTaker } from './turns.ts';
import { accountFor, watchForDeath } from './window.ts';

/**
 * Load on the reference before each process, in seconds. The generators are new for each process: they must not become
 * faster while the fresh process does.
 */
const LEAD_SECONDS = 2;
/** A study is a comparison with its reference. */
const STUDIED_TURN = { leastSeconds: TURN_SECONDS.comparison, turnAnswers: TURN_ANSWERS.comparison };
/** The longest turn of a study, about, in seconds. */
const LONGEST_TURN_SECONDS = 1;
/** Doubts about latency and pace, which a study does not report: the pace between turns is its subject. */
const BESIDE_THE_POINT: ReadonlySet<string> = new Set([
  'trend',
  'unsteady',
  'late-reads',
  'late-tail',
  'little',
]);

/** The inputs that all processes of a study share. */
interface StudyContext {
  reference: Reference;
  effects: TrialEffects;
  /** The time for which each process is observed, from its first right answer on. */
  seconds: number;
  /** Returns true if the study was interrupted. */
  isStopped: () => boolean;
}

/** The findings about one process so far. */
interface Findings {
  course?: RecordedCourse;
  cpuSource?: string;
  startupSeconds?: number;
  collected?: number;
}

/** Observes one fresh process. Never throws for a failure of it: a failed process is data too. Throws if the reference fails. */
export async function observeProcess(entry: Entry, setup: StudyContext): Promise<StudiedProcess> {
  const { effects, reference } = setup;
  const startedAt = new Date(effects.now()).toISOString();
  const findings: Findings = {};
  let answeredAtMs = 0;
  const life = new ServerLife(entry.planned, entry.context, {
    ...effects,
    async awaitRightAnswer(server, ...args) {
      await effects.awaitRightAnswer(server, ...args);
      answeredAtMs = performance.now();
      if (server.startedAtMs !== undefined)
        findings.startupSeconds = (answeredAtMs - server.startedAtMs) / 1000;
    },
    async collect(...args) {
      const collected = await effects.collect?.(...args);
      if (collected !== undefined) findings.collected = collected;
      return collected;
    },
  });
  try {
    const load = await takeTurns(life, entry, setup, findings, () => answeredAtMs);
    await life.afterLoad();
    if (load !== undefined) await life.take({ load, sampled: undefined });
  } catch (error) {
    // An interrupt stops the servers in the middle of a turn.
    if (!setup.isStopped()) life.fail(error);
  }
  const [trial] = await life.end();
  const isCut = setup.isStopped();
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
    ...findings,
    files,
  };
}

/** Starts the server of a life, and loads it and the reference in turn. Returns the load on the server. */
async function takeTurns(
  life: ServerLife,
  { context: { plan } }: Entry,
  { reference, effects, seconds, isStopped }: StudyContext,
  findings: Findings,
  answeredAtMs: () => number,
): Promise<LoadResult | undefined> {
  await using generators = effects.load().open(reference.ready.spec, plan.generators);
  using warm = await Side.open(reference.ready, generators);
  await warm.load({ rampSeconds: 0, windowSeconds: LEAD_SECONDS });
  const ready = await life.start();
  const session = generators.beside?.(ready.spec);
  if (session === undefined) throw new Error(NO_TURNS);
  await using _ = accountFor(session, (counts) => life.account(counts));
  using fresh = await Side.open(ready, session);
  findings.cpuSource = fresh.cpuSource;
  const { ok: answersBefore = 0 } = (await session.count?.()) ?? {};
  const [own, beside] = [await fresh.begin(), await warm.begin()];
  const bornAtMs = answeredAtMs();
  const middles: number[] = [];
  try {
    while (!isStopped() && performance.now() - bornAtMs < seconds * 1000) {
      // A B B A: a linear drift of the machine affects both sides alike.
      const isFirst = middles.length % 2 === 0;
      if (!isFirst) await warm.next(beside);
      await life.renewToken(LONGEST_TURN_SECONDS, { session });
      const turn = await fresh.next(own);
      const middleMs = performance.now() - bornAtMs - (turn.seconds * 1000) / 2;
      if (isFirst) await warm.next(beside);
      middles.push(Math.round(middleMs) / 1000);
    }
  } finally {
    // A turn without its neighbour is left out.
    const pairsOf = ({ taken }: TurnTaker): Turns => firstOf(taken, middles.length);
    if (middles.length > 0)
      findings.course = { seconds: middles, answersBefore, fresh: pairsOf(own), reference: pairsOf(beside) };
  }
  return (await own.end()).load;
}

/** Returns the first turns. */
function firstOf({ answers, cpuUs, restsCpuUs, goodputPerSecond }: Turns, count: number): Turns {
  return {
    answers: answers.slice(0, count),
    ...(cpuUs && { cpuUs: cpuUs.slice(0, count) }),
    ...(restsCpuUs !== undefined && { restsCpuUs }),
    goodputPerSecond: goodputPerSecond.slice(0, count),
  };
}

const NO_TURNS = 'this engine cannot load two servers in turn';

/** One of the two servers, with its connections. Its turns are those of a comparison, as long as its answers need. */
class Side implements Disposable {
  readonly cpuSource: string;
  readonly #ready: ReadyServer;
  readonly #turns: ShortTurns;
  readonly #death: ReturnType<typeof watchForDeath>;
  /** The time between the answers of a connection, in seconds. */
  #cycleSeconds = 0;

  private constructor(ready: ReadyServer, turns: ShortTurns, cpuSource: string) {
    this.#ready = ready;
    this.#turns = turns;
    this.cpuSource = cpuSource;
    this.#death = watchForDeath(ready.server);
  }

  /** Opens the connections of a server. Throws if its CPU cannot be read, or if it ends. */
  static async open(ready: ReadyServer, session: LoadSession): Promise<Side> {
    if (ready.meter === undefined)
      throw new BenchError('trial', `CPU cannot be read on ${process.platform} for a study`, 'use Linux');
    if (session.turns === undefined) throw new Error(NO_TURNS);
    using death = watchForDeath(ready.server);
    await Promise.race([session.arm(), death.promise]);
    return new Side(ready, session.turns, ready.meter.source);
  }

  /** Reads the CPU of the idle server, before its first turn. */
  async begin(): Promise<TurnTaker> {
    // Nothing is sampled in a study, so that companions work beside short turns too.
    const taker = TurnTaker.of({ ...this.#ready, sampler: undefined, beside: [] }, this.#turns);
    if (taker === undefined) throw new Error(NO_TURNS);
    await taker.begin([]);
    return taker;
  }

  /** Loads the server once, outside its turns. */
  load(turn: Turn): Promise<TurnResult> {
    return this.#outlive(this.#turns.take(turn));
  }

  /** Takes the next turn. Throws if the server ends or answers nothing. */
  async next(taker: TurnTaker): Promise<TurnResult> {
    const turn = await this.#outlive(taker.take(sizeTurn(this.#cycleSeconds, STUDIED_TURN)));
    if (turn.answers === 0) throw new BenchError('trial', 'no right answer in a turn of the study');
    this.#cycleSeconds = (this.#ready.spec.connections * turn.seconds) / turn.answers;
    return turn;
  }

  async #outlive(taken: Promise<TurnResult>): Promise<TurnResult> {
    // If the server ends first, nobody awaits the rest of the turn.
    taken.catch(() => {});
    return Promise.race([taken, this.#death.promise]);
  }

  [Symbol.dispose](): void {
    this.#death[Symbol.dispose]();
  }
}
