/** What a plan refuses, and how long it makes windows where answers wait by design. */
import type { Workload } from '../catalogue/workloads/workload.ts';
import { BenchError } from '../errors.ts';
import { IDLE_SECONDS, longestSilence, planTurns } from './turns.ts';
import type { Target, UpstreamKind } from '../model.ts';
import type { BenchOptions } from './options.ts';

/** Fewer would let the edges of a window weigh too much. */
export const FEWEST_WAITS = 5;

/** A window that holds as many waits in whole, not less than so many seconds. */
export function wholeWaits(seconds: number, waitSeconds: number | undefined): number {
  if (waitSeconds === undefined) return seconds;
  return tidy(waitSeconds * Math.max(FEWEST_WAITS, Math.ceil(tidy(seconds / waitSeconds))));
}

/** Without what binary fractions leave behind. */
function tidy(value: number): number {
  return Number(value.toFixed(6));
}

/** What a duel is refused for, apart from the options. */
interface DuelFacts {
  workload: Workload;
  targets: Target[];
  waitSeconds: number | undefined;
}

/** Throws a usage error if the plan cannot run as a duel. */
export function refuseDuel(
  { load, proveLimit, background }: BenchOptions,
  { workload: { name: workload, attached }, targets, waitSeconds }: DuelFacts,
): void {
  const hint = 'measure with --separate';
  if (attached) {
    throw new BenchError(
      'usage',
      'a duel needs two servers, and --url has one',
      'omit --duel, or launch your servers with --stack path/to/stack.json',
    );
  }
  if (targets.length < 2) {
    throw new BenchError(
      'usage',
      `a duel takes two targets or more, not ${targets.length}`,
      'name another, or add --aa for the same once more',
    );
  }
  if (background !== undefined) {
    throw new BenchError(
      'usage',
      'the servers of a duel share their cores: a request in the background of one would disturb the others',
      hint,
    );
  }
  if (load.mode === 'amount' || proveLimit) {
    throw new BenchError(
      'usage',
      `a duel alternates short windows, so it cannot be combined with ${proveLimit ? '--prove-limit' : '--amount'}`,
      hint,
    );
  }
  if (waitSeconds === undefined) return;
  const silence = waitSilence(targets.length, waitSeconds);
  if (silence > IDLE_SECONDS) {
    throw new BenchError(
      'usage',
      `each answer of ${workload} waits ${waitSeconds} s: in a duel of ${targets.length} connections would be silent for ${silence} s, and many servers close them after ${IDLE_SECONDS} s`,
      hint,
    );
  }
}

/** How long a connection is silent in a duel of this many targets whose answers wait, in seconds. */
function waitSilence(targets: number, waitSeconds: number): number {
  const windowSeconds = wholeWaits(0, waitSeconds);
  const turns = planTurns({ sides: targets, windowSeconds, cycleSeconds: waitSeconds, waitSeconds });
  return tidy(longestSilence(targets, turns));
}

/** Whether the windows of a duel can hold answers that wait this long. */
export function canTakeTurns(targets: number, waitSeconds: number | undefined): boolean {
  return waitSeconds === undefined || waitSilence(targets, waitSeconds) <= IDLE_SECONDS;
}

/** Throws a usage error for a window that holds no whole waits. */
export function refuseWindow(
  { windowSeconds, workload }: BenchOptions,
  waitSeconds: number | undefined,
): void {
  if (windowSeconds === undefined || windowSeconds === wholeWaits(windowSeconds, waitSeconds)) return;
  throw new BenchError(
    'usage',
    `--duration ${windowSeconds}: each answer of ${workload} waits ${waitSeconds} s, and a window holds ${FEWEST_WAITS} waits or more, in whole`,
    `e.g. --duration ${wholeWaits(windowSeconds, waitSeconds)}`,
  );
}

/** Throws a usage error for a background that cannot be: a target is measured without it too, and one that runs already may still be at work for it. */
export function refuseBackground({ background }: BenchOptions, { attached }: Workload): void {
  if (background === undefined) return;
  if (attached) {
    throw new BenchError(
      'usage',
      '--background needs a fresh server for each trial: a running one may still work on the background request of the trial before',
      'launch it with --stack path/to/stack.json',
    );
  }
}

/** Throws a usage error for an upstream on a workload whose servers fetch nothing. */
export function refuseUpstream(
  { upstream }: { upstream?: UpstreamKind | undefined },
  { name }: Workload,
  asksUpstream: boolean,
): void {
  if (upstream !== undefined && !asksUpstream) {
    throw new BenchError(
      'usage',
      `--upstream has no effect on ${name}: its server fetches nothing`,
      'e.g. --workload gather',
    );
  }
}
