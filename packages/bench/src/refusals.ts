/** What a plan refuses, and how long it makes windows where answers wait by design. */
import type { Workload } from './catalogue/workloads/workload.ts';
import { BenchError } from './errors.ts';
import type { Target, UpstreamKind } from './model.ts';
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
  asksUpstream: boolean;
  waitSeconds: number | undefined;
}

/** Throws a usage error if the plan cannot run as a duel. */
export function refuseDuel(
  { load, proveLimit, background }: BenchOptions,
  { workload: { name: workload, attached }, targets, asksUpstream, waitSeconds }: DuelFacts,
): void {
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
      'a duel has its servers on the same cores: what one does in the background would disturb the others too',
      'measure with --separate',
    );
  }
  if (load.mode === 'amount' || proveLimit) {
    throw new BenchError(
      'usage',
      `a duel has windows: it takes no ${proveLimit ? '--prove-limit' : '--amount'}`,
      'or measure with --separate',
    );
  }
  if (asksUpstream) {
    throw new BenchError(
      'usage',
      `the two servers of a duel on ${workload} would ask one upstream: whose requests it counts could not be told`,
      'measure with --separate',
    );
  }
  if (waitSeconds !== undefined) {
    throw new BenchError(
      'usage',
      `each answer of ${workload} waits ${waitSeconds} s: the short windows of a duel would catch some waits and miss others`,
      'measure with --separate',
    );
  }
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
export function refuseBackground(
  { background }: BenchOptions,
  { name: workload, attached }: Workload,
  asksUpstream: boolean,
): void {
  if (background === undefined) return;
  if (attached) {
    throw new BenchError(
      'usage',
      '--background needs a fresh server for each trial: a running one may still work on the background request of the trial before',
      'launch it with --stack path/to/stack.json',
    );
  }
  if (asksUpstream) {
    throw new BenchError(
      'usage',
      `--background on ${workload}: whose requests the upstream counts could not be told`,
      'e.g. --workload asyncwait',
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
