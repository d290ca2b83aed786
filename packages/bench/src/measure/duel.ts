import type { LoadResult, Trial } from '../model.ts';
import type { Plan, PlannedTrial } from '../plan.ts';
import { accountFor, fireSampled, watchForDeath, type Raised } from './fire.ts';
import type { LoadSession, Window } from './load/engine.ts';
import { joinSampled, type Sampled } from './resources/sampler.ts';
import { Attempt, type TrialContext, type TrialEffects } from './trial.ts';

/** A side that has rested begins its next window after so long: its caches were the other's. */
const RAMP_SECONDS = 0.05;
/** A window is open for whole slices, so that those of several windows are alike. */
const SLICE_SECONDS = 0.25;
/** With two sides each is silent for twice as long, no longer than servers keep idle connections by default: 5 s. */
const LONGEST_SPAN_SECONDS = 1;

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
  if (first !== undefined) await takeTurns(sides, first.context.plan, effects);
  for (const side of sides) {
    await go(side, async ({ attempt, load, samples }) => {
      if (load !== undefined) await attempt.take(load, joinSampled(samples));
    });
  }
  return Promise.all(sides.map(({ attempt }) => attempt.end()));
}

/** The sides of the windows in their order: A B B A, B A A B, ... and likewise for more, as many as keep each short. */
export function orderOfWindows(sides: number, windowSeconds: number): number[] {
  const blocks = Math.max(1, Math.ceil(windowSeconds / (2 * LONGEST_SPAN_SECONDS)));
  const there = Array.from({ length: sides }, (_, side) => side);
  const back = there.toReversed();
  return Array.from({ length: blocks }, (_, block) =>
    block % 2 === 0 ? [...there, ...back] : [...back, ...there],
  ).flat();
}

/** How long each of so many windows of a side is open so that they sum to `windowSeconds`, in whole slices. */
function spanSeconds(windowSeconds: number, windows: number): number {
  return Math.max(1, Math.round(windowSeconds / windows / SLICE_SECONDS)) * SLICE_SECONDS;
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

/** Arms the sides that stand, warms them up, and opens their windows in turn. */
async function takeTurns(all: Side[], plan: Plan, { load: engine }: TrialEffects): Promise<void> {
  const standing = all.flatMap((side) => (side.raised === undefined ? [] : [{ side, raised: side.raised }]));
  const [first] = standing;
  if (first === undefined) return;
  await using opened = engine.open(first.raised.spec, plan.generators);
  await using accounts = new AsyncDisposableStack();
  using watches = new DisposableStack();
  const turns: Turn[] = [];
  for (const { side, raised } of standing) {
    const session = turns.at(-1)?.session.beside(raised.spec) ?? opened;
    accounts.use(accountFor(session, (counts) => side.attempt.account(counts)));
    const death = watches.use(watchForDeath(raised.server)).promise;
    turns.push({ side, raised, session, death, pids: [raised.server.pid() ?? []].flat() });
  }
  for (const { side, session, death } of turns) {
    await go(side, async () => {
      await outlive(session.arm(), death);
    });
  }
  const rate = plan.rate === undefined ? {} : { rate: plan.rate };
  // Until it is fired for the first time a connection keeps itself alive by asking now and then; from then on it is silent between windows.
  for (const { side, session, death } of turns) {
    await go(side, async () => {
      const warmUp = { warmupSeconds: plan.warmupSeconds, windowSeconds: 0, ...rate };
      await outlive(
        session.fire(warmUp, () => {}),
        death,
      );
    });
  }
  const order = orderOfWindows(turns.length, plan.windowSeconds);
  const windowSeconds = spanSeconds(plan.windowSeconds, order.length / turns.length);
  const window: Window = { warmupSeconds: RAMP_SECONDS, windowSeconds, ...rate };
  for (const turn of order) {
    const { side, raised, session, death } = turns[turn] as Turn;
    const others = turns.filter((one) => one.side !== side).flatMap(({ pids }) => pids);
    await go(side, async ({ samples }) => {
      const fired = fireSampled(session, window, raised.sampler, [...session.pids, ...others]);
      const { load, sampled } = await outlive(fired, death);
      side.load = load;
      if (sampled !== undefined) samples.push(sampled);
    });
  }
}

/** A step of the generators, or the death of their server in it: thrown when they are done with that and can turn to another. */
async function outlive<T>(step: Promise<T>, death: Promise<never>): Promise<T> {
  try {
    return await Promise.race([step, death]);
  } catch (error) {
    await Promise.allSettled([step]);
    throw error;
  }
}
