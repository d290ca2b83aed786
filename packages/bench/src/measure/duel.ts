import type { LoadResult, Trial } from '../model.ts';
import type { Plan, PlannedTrial } from '../plan.ts';
import { BenchError } from '../errors.ts';
import type { LoadSession, Window } from './load/engine.ts';
import { joinSampled, type Sampled } from './resources/sampler.ts';
import {
  Attempt,
  fireSampled,
  watchForDeath,
  type Raised,
  type TrialContext,
  type TrialEffects,
} from './trial.ts';

/** A side that has rested begins its next window after so long: its caches were the other's. */
const RAMP_SECONDS = 0.05;
/** A window is open for whole slices, so that those of several windows are alike. */
const SLICE_SECONDS = 0.25;
/** About how long one side may be silent: servers close connections that are idle for 5 s. */
const LONGEST_SPAN_SECONDS = 1;

/** One of the two trials of a duel. */
export interface Duellist {
  planned: PlannedTrial;
  context: TrialContext;
}

/**
 * Measures two trials as a duel: both fresh servers stand at once, and after both have warmed up the same generators
 * load now the one and now the other in short windows, A B B A, so that what the machine does meanwhile meets both. Each
 * trial's window is the sum of its own. Never throws: a failure before the windows are over is one of both trials.
 */
export async function measureDuel(
  duellists: readonly [Duellist, Duellist],
  effects: TrialEffects,
): Promise<Trial[]> {
  const { plan } = duellists[0].context;
  const attempts = duellists.map(({ planned, context }) => new Attempt(planned, context, effects));
  try {
    const raised: Raised[] = [];
    for (const attempt of attempts) raised.push(await blame(attempt, attempt.raise()));
    const seen = await alternate(attempts, raised, plan, effects);
    for (const [index, attempt] of attempts.entries()) {
      const { load, sampled } = seen[index] as Seen;
      await attempt.take(load, sampled).catch((error: unknown) => attempt.fail(error));
    }
  } catch (error) {
    const innocent = attempts.filter(({ failed }) => !failed);
    const failure =
      innocent.length === attempts.length
        ? error
        : new BenchError('trial', `the other server of the duel failed: ${(error as Error).message}`);
    for (const attempt of innocent) attempt.fail(failure);
  }
  return Promise.all(attempts.map((attempt) => attempt.end()));
}

/** The sides of the windows in their order, 0 and 1: A B B A, B A A B, ..., as many as keep each short. */
export function orderOfWindows(windowSeconds: number): number[] {
  const blocks = Math.max(1, Math.ceil(windowSeconds / (2 * LONGEST_SPAN_SECONDS)));
  return Array.from({ length: blocks }, (_, block) => (block % 2 === 0 ? [0, 1, 1, 0] : [1, 0, 0, 1])).flat();
}

/** How long each of so many windows of a side is open so that they sum to `windowSeconds`, in whole slices. */
function spanSeconds(windowSeconds: number, windows: number): number {
  return Math.max(1, Math.round(windowSeconds / windows / SLICE_SECONDS)) * SLICE_SECONDS;
}

/** What all windows of one side gave. */
interface Seen {
  load: LoadResult;
  sampled: Sampled | undefined;
}

/** Arms both, warms both up, and opens their windows in turn. */
async function alternate(
  attempts: Attempt[],
  raised: Raised[],
  plan: Plan,
  { load: engine }: TrialEffects,
): Promise<Seen[]> {
  const [first, second] = raised as [Raised, Raised];
  await using session = engine.open(first.spec, plan.generators);
  const sessions = [session, session.beside(second.spec)];
  using died = new DisposableStack();
  const death = Promise.race(
    raised.map(({ server }, side) =>
      blame(attempts[side] as Attempt, died.use(watchForDeath(server)).promise),
    ),
  );
  death.catch(() => {});
  const alive = <T>(step: Promise<T>): Promise<T> => Promise.race([step, death]);

  for (const one of sessions) await alive(one.arm());
  const rate = plan.rate === undefined ? {} : { rate: plan.rate };
  for (const one of sessions)
    await alive(warmUp(one, { warmupSeconds: plan.warmupSeconds, windowSeconds: 0, ...rate }));

  const order = orderOfWindows(plan.windowSeconds);
  const windowSeconds = spanSeconds(plan.windowSeconds, order.length / 2);
  const loads: LoadResult[] = [];
  const samples: Sampled[][] = [[], []];
  for (const side of order) {
    const { sampler } = raised[side] as Raised;
    const other = (raised[1 - side] as Raised).server.pid();
    const window = { warmupSeconds: RAMP_SECONDS, windowSeconds, ...rate };
    const { load, sampled } = await alive(
      fireSampled(sessions[side] as LoadSession, window, sampler, [
        ...session.pids,
        ...(other ? [other] : []),
      ]),
    );
    loads[side] = load;
    if (sampled !== undefined) samples[side]?.push(sampled);
  }
  return loads.map((load, side) => ({ load, sampled: joinSampled(samples[side] ?? []) }));
}

/** Until all connections of both stand, each keeps itself alive by asking now and then; from here on it is silent between windows. */
async function warmUp(session: LoadSession, window: Window): Promise<void> {
  await session.fire(window, () => {});
}

/** Does the step; what goes wrong in it is the failure of this attempt. */
async function blame<T>(attempt: Attempt, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    attempt.fail(error);
    throw error;
  }
}
