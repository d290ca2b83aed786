import type { LoadResult, Trial } from '../model.ts';
import type { Plan, PlannedTrial } from '../plan.ts';
import { accountFor, fireSampled, watchForDeath, type Raised } from './fire.ts';
import type { LoadEngine, LoadSession, Window } from './load/engine.ts';
import { joinSampled, type Sampled } from './resources/sampler.ts';
import { Attempt, type TrialContext, type TrialEffects } from './trial.ts';

/** How long a window of one side is: as short as can be, because what it shares with the next is cancelled. */
const SPAN_SECONDS = {
  least: 0.1,
  /** With two sides each is silent for twice as long, no longer than servers keep idle connections by default: 5 s. */
  most: 1,
  /** So many answers of a connection. */
  cycles: 10,
};
/** A side that has rested begins its next window after the time of one answer: until then all its connections ask at once. */
const RAMP_SECONDS = { least: 0.01, most: 0.5 };

/** One of the trials of a duel. */
export interface Duellist {
  planned: PlannedTrial;
  context: TrialContext;
}

/**
 * Measures trials as a duel: their fresh servers stand at once, and after all have warmed up the same generators load
 * one after the other in short windows, A B B A, so that what the machine does meanwhile meets them all. Each trial's
 * window is the sum of its own. Never throws: what fails is out, and the others go on.
 */
export async function measureDuel(duellists: Duellist[], effects: TrialEffects): Promise<Trial[]> {
  const sides = duellists.map(({ planned, context }): Side => ({
    attempt: new Attempt(planned, context, effects),
    samples: [],
  }));
  for (const side of sides) {
    await go(side, async ({ attempt }) => {
      side.raised = await attempt.raise();
    });
  }
  const [first] = duellists;
  if (first !== undefined) await takeTurns(sides, first.context.plan, effects.load(first.context.target));
  for (const side of sides) {
    await go(side, async ({ attempt, load, samples }) => {
      if (load !== undefined) await attempt.take({ load, sampled: joinSampled(samples) });
    });
  }
  return Promise.all(sides.map(({ attempt }) => attempt.end()));
}

/** The turns of a duel: whose windows come in which order, and how long each is open after how long a ramp. */
export interface Turns {
  order: number[];
  rampSeconds: number;
  spanSeconds: number;
}

/**
 * The turns of so many sides whose windows are to sum to `windowSeconds` each; `cycleSeconds` is how long a connection takes from
 * answer to answer, of the slowest side.
 */
export function planTurns(sides: number, windowSeconds: number, cycleSeconds: number): Turns {
  const { least, most, cycles } = SPAN_SECONDS;
  const order = orderOfWindows(sides, windowSeconds, clamp(cycles * cycleSeconds, least, most));
  return {
    order,
    rampSeconds: clamp(cycleSeconds, RAMP_SECONDS.least, RAMP_SECONDS.most),
    spanSeconds: windowSeconds / (order.length / sides),
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** The sides of the windows in their order: A B B A, B A A B, ... and likewise for more, as many as keep each to its span. */
function orderOfWindows(sides: number, windowSeconds: number, spanSeconds: number): number[] {
  const blocks = Math.max(1, Math.round(windowSeconds / (2 * spanSeconds)));
  const there = Array.from({ length: sides }, (_, side) => side);
  const back = there.toReversed();
  return Array.from({ length: blocks }, (_, block) =>
    block % 2 === 0 ? [...there, ...back] : [...back, ...there],
  ).flat();
}

/** One server of a duel and what has been seen of it. */
interface Side {
  attempt: Attempt;
  /** Undefined when it did not come to stand. */
  raised?: Raised;
  /** Of all its windows so far. */
  load?: LoadResult;
  samples: Sampled[];
}

/** Does one step with a side that has not failed; what goes wrong in it is the failure of that side alone. */
async function go(side: Side, step: (side: Side) => Promise<void>): Promise<void> {
  if (side.attempt.failed) return;
  try {
    await step(side);
  } catch (error) {
    side.attempt.fail(error);
  }
}

/** What a side that stands is loaded with. */
interface Turn {
  side: Side;
  raised: Raised;
  session: LoadSession;
  /** Rejects when its server ends. */
  death: Promise<never>;
  pids: number[];
}

/** Steps whose servers have all ended, as an interrupt ends them, need not come to their end. */
type Outlive = <T>(step: () => Promise<T>, death: Promise<never>) => Promise<T>;

/** Arms the sides that stand, warms them up, and opens their windows in turn. */
async function takeTurns(all: Side[], plan: Plan, engine: LoadEngine): Promise<void> {
  const standing = all.flatMap((side) => (side.raised === undefined ? [] : [{ side, raised: side.raised }]));
  const [first] = standing;
  if (first === undefined) return;
  await using opened = engine.open(first.raised.spec, plan.generators);
  await using accounts = new AsyncDisposableStack();
  using watches = new DisposableStack();
  const turns: Turn[] = [];
  for (const { side, raised } of standing) {
    const session = turns.at(-1)?.session.beside?.(raised.spec) ?? opened;
    accounts.use(accountFor(session, (counts) => side.attempt.account(counts)));
    const death = watches.use(watchForDeath(raised.server)).promise;
    turns.push({ side, raised, session, death, pids: [raised.server.pid() ?? []].flat() });
  }
  const outlive = outliveAmong(turns.map(({ death }) => death));
  for (const { side, session, death } of turns) {
    await go(side, async () => {
      await outlive(() => session.arm(), death);
    });
  }
  /** How long a connection took from answer to answer, of each side. */
  const cycles: number[] = [];
  // Until it is fired for the first time a connection keeps itself alive by asking now and then; from then on it is silent between windows.
  for (const { side, session, death } of turns) {
    await go(side, async () => {
      const warmUp = { warmupSeconds: plan.warmupSeconds, windowSeconds: 0, load: plan.load };
      const { lifetime, connect } = await outlive(() => session.fire(warmUp, () => {}), death);
      cycles.push(((connect.stood ?? 0) * plan.warmupSeconds) / (lifetime?.ok ?? 0));
    });
  }
  const { order, rampSeconds, spanSeconds } = planTurns(
    turns.length,
    plan.windowSeconds,
    Math.max(...cycles.filter(Number.isFinite), 0),
  );
  const window: Window = { warmupSeconds: rampSeconds, windowSeconds: spanSeconds, load: plan.load };
  for (const turn of order) {
    const { side, raised, session, death } = turns[turn] as Turn;
    const others = turns.filter((one) => one.side !== side).flatMap(({ pids }) => pids);
    await go(side, async ({ samples }) => {
      const { load, sampled } = await outlive(
        () => fireSampled(session, window, raised.sampler, [...session.pids, ...others]),
        death,
      );
      side.load = load;
      if (sampled !== undefined) samples.push(sampled);
    });
  }
}

/**
 * A step of the generators, or the death of their server in it: thrown when they are done with that and can turn to
 * another, or there is no other.
 */
function outliveAmong(deaths: Promise<never>[]): Outlive {
  let isOver = false;
  const end = Promise.allSettled(deaths).then(() => {
    isOver = true;
  });
  return async (begin, death) => {
    // The generators may still be at the last step of a server that has ended.
    if (isOver) return death;
    const step = begin();
    try {
      return await Promise.race([step, death]);
    } catch (error) {
      await Promise.race([Promise.allSettled([step]), end]);
      throw error;
    }
  };
}
