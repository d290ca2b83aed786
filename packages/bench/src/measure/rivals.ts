import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadSession, ShortTurns } from 'bench-load/engine';
import { Rival, type Work } from 'bench-load/rival';
import type { LoadSpec } from 'bench-load/protocol';
import { BenchError } from 'bench-model/errors';
import type { PinnedCommands } from 'bench-machine/placement';
import { sum } from 'bench-statistics/numbers';
import type { Sampler } from 'bench-machine/resources/sampler';

/** Turns are this long at least, and longer with many connections, so that each is answered about five times. */
const LEAST_SECONDS = 0.2;
const SECONDS_PER_CONNECTION = 0.0002;
const RAMP_SECONDS = 0.03;
/** The time for a server to answer what is open when a client stops. */
const SILENCE_SECONDS = 0.02;
const SILENCE_PER_CONNECTION = 0.00005;
/** Rounds: looked at after each group, from the fewest to the most. */
const FEWEST_ROUNDS = 12;
const LOOK_EVERY = 4;
const MOST_ROUNDS = 200;
const WARMUP_ROUNDS = 4;
/** The longest time for a rival to connect: stock autocannon sends all SYNs at once. */
const ARM_SECONDS = 60;

/** One turn of each client, one right after the other. */
export interface RivalRound {
  driver: Work;
  stock: Work;
  /** Undefined if it was not asked for. */
  plain: Work | undefined;
  /** CPU of this process during the turn of the driver, as a share of a core. */
  harnessCores: number;
  /** True if resources were sampled during the turn of the driver. */
  isSampled: boolean;
}

/** The surroundings of the turns. */
interface RivalContext {
  placed: Pick<PinnedCommands, 'generator'>;
  /** True if the plain client takes turns, too. */
  hasPlain: boolean;
  /** Of the server; it is not sampled without. */
  sampler: Sampler | undefined;
  isEnough: (rounds: readonly RivalRound[]) => boolean;
}

/**
 * Loads one server with the driver, stock autocannon and the plain client by turns, until there are enough rounds, or too
 * many. The driver is next to both rivals, which change places from round to round. Resources are sampled during half of
 * the turns of the driver. Throws a trial error if a client fails.
 */
export async function compareWithRivals(
  session: LoadSession,
  spec: LoadSpec,
  path: string,
  { placed, hasPlain, sampler, isEnough }: RivalContext,
): Promise<RivalRound[]> {
  const { turns } = session;
  if (turns === undefined) throw new BenchError('trial', 'the engine takes no short turns');
  const { connections } = spec;
  const seconds = Math.max(LEAST_SECONDS, connections * SECONDS_PER_CONNECTION);
  const silenceMs = 1000 * (SILENCE_SECONDS + connections * SILENCE_PER_CONNECTION);
  const url = `http://${spec.host}:${spec.port}${path}`;
  await using stock = new Rival('stock', placed, url, connections);
  await stock.arm(ARM_SECONDS);
  await using plain = hasPlain ? new Rival('plain', placed, url, connections) : undefined;
  await plain?.arm(ARM_SECONDS);
  await session.arm();
  const takeDriver = createMeter(turns, seconds);
  const take = async (rival: Rival): Promise<Work> => {
    const work = await rival.take(seconds);
    await sleep(silenceMs);
    return work;
  };
  const takePlain = async () => plain && take(plain);
  for (let round = 0; round < WARMUP_ROUNDS; round++) {
    await take(stock);
    await takeDriver();
    await takePlain();
  }
  const rounds: RivalRound[] = [];
  while (rounds.length < MOST_ROUNDS) {
    const isStockFirst = rounds.length % 2 === 0;
    const isSampled = rounds.length % 4 < 2;
    const early = {
      stock: isStockFirst ? await take(stock) : undefined,
      plain: isStockFirst ? undefined : await takePlain(),
    };
    if (isSampled) await sampler?.start(session.pids);
    const before = process.cpuUsage();
    const began = performance.now();
    const driver = await takeDriver();
    const { user, system } = process.cpuUsage(before);
    const harnessCores = (user + system) / 1000 / (performance.now() - began);
    if (isSampled) await sampler?.stop();
    const late = { stock: early.stock ?? (await take(stock)), plain: early.plain ?? (await takePlain()) };
    rounds.push({ driver, ...late, harnessCores, isSampled });
    if (rounds.length < FEWEST_ROUNDS || rounds.length % LOOK_EVERY !== 0) continue;
    if (isEnough(rounds)) break;
  }
  return rounds;
}

/** Returns a function that takes one turn of the driver and returns its work in the window of that turn. */
function createMeter(turns: ShortTurns, seconds: number): () => Promise<Work> {
  let before: Work = { answers: 0, cpuUs: 0 };
  return async () => {
    await turns.take({ rampSeconds: RAMP_SECONDS, windowSeconds: seconds });
    const { counts, generators } = await turns.collect();
    const { ok, non2xx, mismatch } = counts;
    const now = {
      answers: (ok ?? 0) + (non2xx ?? 0) + (mismatch ?? 0),
      cpuUs: sum((generators ?? []).map(({ cpuUs }) => cpuUs)),
    };
    const work = { answers: now.answers - before.answers, cpuUs: now.cpuUs - before.cpuUs };
    before = now;
    return work;
  };
}
