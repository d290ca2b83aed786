import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadSession, ShortTurns } from '../load/engine.ts';
import { StockSession, type Work } from '../load/stock-session.ts';
import type { LoadSpec } from '../load/protocol.ts';
import { BenchError } from '../errors.ts';
import type { PinnedCommands } from '../machine/placement.ts';
import { sum } from '../numbers.ts';
import type { Sampler } from '../resources/sampler.ts';

/** Turns are this long at least, and longer with many connections, so that each is answered about five times. */
const LEAST_SECONDS = 0.2;
const SECONDS_PER_CONNECTION = 0.0002;
const RAMP_SECONDS = 0.03;
/** The time for a server to answer what is open when a client stops. */
const SILENCE_SECONDS = 0.02;
const SILENCE_PER_CONNECTION = 0.00005;
/** Pairs: looked at after each group, from the fewest to the most. */
const FEWEST_PAIRS = 12;
const LOOK_EVERY = 4;
const MOST_PAIRS = 60;
const WARMUP_TURNS = 4;
/** The longest time for stock autocannon to connect: it sends all SYNs at once. */
const STOCK_ARM_SECONDS = 60;

/** One turn of each client, one right after the other. */
export interface StockPair {
  driver: Work;
  stock: Work;
  /** CPU of this process during the turn of the driver, as a share of a core. */
  harnessCores: number;
  /** True if resources were sampled during the turn of the driver. */
  isSampled: boolean;
}

/** The surroundings of the turns. */
export interface DuelMeans {
  placed: Pick<PinnedCommands, 'generator'>;
  /** Of the server; it is not sampled without. */
  sampler: Sampler | undefined;
  isEnough: (pairs: readonly StockPair[]) => boolean;
}

/**
 * Loads one server with the driver and with stock autocannon by turns, until there are enough pairs, or too many. Each
 * turn of the driver and its neighbour change places from pair to pair. Resources are sampled during half of the turns of
 * the driver. Throws a trial error if a client fails.
 */
export async function duelWithStock(
  session: LoadSession,
  spec: LoadSpec,
  path: string,
  { placed, sampler, isEnough }: DuelMeans,
): Promise<StockPair[]> {
  const { turns } = session;
  if (turns === undefined) throw new BenchError('trial', 'the engine takes no short turns');
  const { connections } = spec;
  const seconds = Math.max(LEAST_SECONDS, connections * SECONDS_PER_CONNECTION);
  const silenceMs = 1000 * (SILENCE_SECONDS + connections * SILENCE_PER_CONNECTION);
  await using stock = new StockSession(placed, `http://${spec.host}:${spec.port}${path}`, connections);
  await stock.arm(STOCK_ARM_SECONDS);
  await session.arm();
  const meter = createMeter(turns, seconds);
  const takeStock = async () => {
    const work = await stock.take(seconds);
    await sleep(silenceMs);
    return work;
  };
  for (let turn = 0; turn < WARMUP_TURNS; turn++) {
    await meter();
    await takeStock();
  }
  const pairs: StockPair[] = [];
  while (pairs.length < MOST_PAIRS) {
    const isSampled = pairs.length % 4 < 2;
    const takeDriver = async () => {
      if (isSampled) await sampler?.start(session.pids);
      const before = process.cpuUsage();
      const began = performance.now();
      const work = await meter();
      const { user, system } = process.cpuUsage(before);
      const harnessCores = (user + system) / 1000 / (performance.now() - began);
      if (isSampled) await sampler?.stop();
      return { work, harnessCores };
    };
    const isFirst = pairs.length % 2 === 0;
    const early = isFirst ? await takeDriver() : undefined;
    const stockWork = await takeStock();
    const { work, harnessCores } = early ?? (await takeDriver());
    pairs.push({ driver: work, stock: stockWork, harnessCores, isSampled });
    if (pairs.length < FEWEST_PAIRS || pairs.length % LOOK_EVERY !== 0) continue;
    if (isEnough(pairs)) break;
  }
  return pairs;
}

/** Returns a function that takes one turn of the driver and returns its work in the window of that turn. */
function createMeter(turns: ShortTurns, seconds: number): () => Promise<Work> {
  let before: Work = { answers: 0, cpuUs: 0 };
  return async () => {
    await turns.take({ rampSeconds: RAMP_SECONDS, windowSeconds: seconds, load: { mode: 'closed' } });
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
