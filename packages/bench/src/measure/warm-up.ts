/** The warm-up of running servers before their windows: how long each needs, on which cores, and what it leaves to say. */
import { LONGEST_WARMUP_SECONDS } from 'bench-model/planned';
import type { LoadResult } from 'bench-model/load';
import type { Plan } from 'bench-model/plan';
import { makeReason } from 'bench-model/reasons';
import { longestWarmup } from 'bench-analysis/time-budget';
import { leastWarmup, LONGEST_SLICE_SECONDS, sliceOf, waitsForCompilers } from 'bench-analysis/judge/warm';
import type { RatioTrend } from 'bench-analysis/judge/trend';
import type { LoadSession } from 'bench-load/engine';
import type { Loaded } from './loaded.ts';
import { warmTogether, type WarmingSide } from './warm-together.ts';

/** The load on a server that has its own cores again, before anything is measured, in seconds. */
const SETTLE_SECONDS = 0.25;
/** The least load of one that is measured alone before its window opens, in seconds: the last slice has ended in silence. */
const RAMP_SECONDS = 0.5;
/** A tool, or generators on other hosts, are ordered anew for each slice. */
const ORDERED_SLICE_SECONDS = 1;

/** Warms up servers by turns. Returns the time between the responses of a connection in seconds, of the slowest, and the trends of the ratios if they are compared. */
export async function warmUp(
  servers: readonly Loaded[],
  plan: Plan,
  { compares }: { compares: boolean },
): Promise<{ cycleSeconds: number; trends: RatioTrend[] }> {
  const longest = longestWarmup(plan);
  const sides = servers.map((server) => sideOf(server, plan, longest));
  const narrow = new Map<number, () => Promise<void>>();
  for (const [index, { side }] of servers.entries()) {
    if (side.warmupSeconds !== undefined || !waitsForCompilers(side.ready.seen?.runtime)) continue;
    const pin = await side.ready.widen();
    if (pin !== undefined) narrow.set(index, pin);
  }
  const warmed = await warmTogether(sides, { compares }).finally(async () => {
    for (const pin of narrow.values()) await pin();
  });
  for (const index of narrow.keys()) await sides[index]?.fire(SETTLE_SECONDS);
  for (const [index, { side }] of servers.entries()) {
    const { seconds = 0, compilersShare } = warmed.sides[index] ?? {};
    for (const trial of side.trial === undefined ? side.life.trials : [side.trial]) {
      trial.addWarmup(seconds);
      if (compilersShare !== undefined && !trial.failed)
        trial.add(makeReason('compiling', { share: compilersShare, seconds }));
    }
  }
  return warmed;
}

/** Returns the time under load before the window of a server that is measured alone, in seconds. */
export function rampOf({ side, session }: Loaded, plan: Plan, cycleSeconds: number): number {
  // A tool opens new connections for its window.
  if (plan.warmupSeconds === 0 || session.count === undefined) return 0;
  return Math.max(RAMP_SECONDS, cycleSeconds, side.spec.spreadSeconds ?? 0);
}

function sideOf(server: Loaded, plan: Plan, longest: number): WarmingSide {
  const { session, silence, attempt } = server;
  const { life, trial, outcome, ready } = server.side;
  const span = inWhole(spanOf(server, plan, longest), session);
  let ok = 0;
  return {
    ...span,
    sliceSeconds: sliceFor(server, span),
    runtime: ready.seen?.runtime,
    meter: ready.upkeep?.meter,
    compilers: ready.seen?.compilers,
    prepare: (seconds) => attempt(() => life.requests.renewToken(seconds, { session, trial })),
    async fire(warmupSeconds) {
      let result: LoadResult | undefined;
      await attempt(() =>
        // Until its first window, a connection keeps itself alive by occasional requests. Later it is silent between windows.
        silence.during(async () => {
          const window = { warmupSeconds, windowSeconds: 0, load: { mode: 'closed' } } as const;
          result = await session.fire(window, () => {});
          const before = ok;
          // An external tool keeps no account, and never waits for a server that hangs.
          ok = result.lifetime?.ok ?? before + 1;
          return ok - before;
        }),
      );
      return outcome.failed ? undefined : result;
    },
  };
}

/** Returns the length of a slice of load in seconds. One whose time is set needs none to be judged by. */
function sliceFor({ side, session }: Loaded, { leastSeconds, mostSeconds }: Span): number {
  const isSet = leastSeconds === mostSeconds;
  const least = isSet ? LONGEST_SLICE_SECONDS : sliceOf(leastSeconds);
  const ordered = isSet ? leastSeconds : ORDERED_SLICE_SECONDS;
  // Connections whose responses are slow begin one after the other.
  return Math.max(session.turns === undefined ? ordered : least, side.spec.spreadSeconds ?? 0, least);
}

type Span = Pick<WarmingSide, 'leastSeconds' | 'mostSeconds'>;

/** Lengthens the least load to whole slices of a session that is ordered anew for each: some tools take whole seconds. */
function inWhole(span: Span, { turns }: LoadSession): Span {
  const isSet = span.leastSeconds === span.mostSeconds;
  const leastSeconds = ORDERED_SLICE_SECONDS * Math.ceil(span.leastSeconds / ORDERED_SLICE_SECONDS);
  return turns !== undefined || isSet ? span : { ...span, leastSeconds };
}

function exactly(seconds: number): Span {
  return { leastSeconds: seconds, mostSeconds: seconds };
}

/** Returns the shortest and the longest warm-up of a server, in seconds; `longest` is what the budget allows. */
function spanOf({ side }: Loaded, plan: Plan, longest: number): Span {
  const { ready, spec, warmupSeconds } = side;
  const { seen, prepared } = ready;
  const usual = prepared?.stack.warmupSeconds ?? LONGEST_WARMUP_SECONDS;
  if (warmupSeconds !== undefined) return exactly(warmupSeconds);
  if (plan.autoWarmup !== true) return exactly(plan.warmupSeconds);
  const own = leastWarmup({
    runtime: seen?.runtime,
    hasShortDelays: prepared !== undefined || (seen?.cores ?? 1) > 1,
  });
  const least = Math.min(usual, Math.max(own, plan.waitSeconds ?? 0));
  const mostSeconds = Math.max(least, Math.min(usual, longest));
  if (plan.quick) return exactly(Math.max(plan.warmupSeconds, least));
  // What a longer load uses up cannot be measured any more.
  const isUsedUp = spec.routes?.some(({ once }) => once === true) ?? false;
  return isUsedUp ? exactly(least) : { leastSeconds: least, mostSeconds };
}
