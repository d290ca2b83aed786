/**
 * Decides when a server is warm, from slices of load on it. Pure.
 *
 * A level pace is not enough: .NET on one core stays level at a third of its pace for 10 to 15 s, and then its optimised code comes in
 * one step. Its compilers tell. A server is warm when they are quiet and its CPU per request is level, after a least time that
 * depends on its runtime.
 */
import { SHORTEST_WARMUP_SECONDS, type LiveRuntime } from 'bench-model/runtimes';
import { locateShift } from 'bench-statistics/mann-whitney';
import { mean, sum } from 'bench-statistics/numbers';

/** A slice of the load on one server, with the rest before it. */
export interface WarmSlice {
  /** Its length under load. */
  seconds: number;
  answers: number;
  /** The CPU of the server in its turn, and in the rest before it; NaN if it is unknown. */
  cpuUs: number;
  restUs: number;
  /** The CPU of its compilers in both; undefined if they have no threads of their own. */
  compilersUs: number | undefined;
}

/** .NET multiplies its delays by ten if it sees one core, unless Bench has started it. */
const LATE_DOTNET_SECONDS = 20;
/** The shortest warm-up of a server whose process is not known. */
const UNKNOWN_SECONDS = 2;
/** Compilers are quiet if they use less of the server's CPU for this long. */
const QUIET = { share: 0.02, seconds: 3 };
/**
 * The workers of V8 also collect garbage, for as long as there is load. They are quiet after a shorter time, or else compared with
 * themselves: between two spans of `seconds`, their share may differ by as much as quiet compilers use, or by a part of itself.
 */
const OWN_LEVEL = { quietSeconds: 0.5, seconds: 1, part: 0.25 };
/** The slices of the shortest warm-up. */
const SLICES = 16;
/** A change of CPU per request between the halves of a span, as log: the least that matters, and the probability to see one where there is none. */
const CHANGE = { least: Math.log(1.05), error: 0.01 };
/** Fewer slices in each half cannot show a change. */
const FEWEST_HALF = 5;
/** The longest slice by default: others that take turns do not wait for long. */
export const LONGEST_SLICE_SECONDS = 0.125;

/** What is known of a server before its warm-up. */
export interface WarmingServer {
  /** Undefined if its process is not known. */
  runtime: LiveRuntime | undefined;
  /** True if it was started with .NET's delays as on several cores, or has several. */
  hasShortDelays: boolean;
}

/** Returns the shortest warm-up of a server, in seconds. */
export function leastWarmup({ runtime, hasShortDelays }: WarmingServer): number {
  if (runtime === undefined) return UNKNOWN_SECONDS;
  return runtime === 'dotnet' && !hasShortDelays ? LATE_DOTNET_SECONDS : SHORTEST_WARMUP_SECONDS[runtime];
}

/** Returns the length of a slice of a warm-up that takes at least this long, in seconds. */
export function sliceOf(leastSeconds: number): number {
  return Math.min(LONGEST_SLICE_SECONDS, leastSeconds / SLICES);
}

/**
 * Returns the share of its compilers in the CPU of a server over its last seconds, if they are not quiet. Undefined for runtimes whose
 * threads also do other work.
 */
export function stillCompiling(
  slices: readonly WarmSlice[],
  runtime: LiveRuntime | undefined,
): number | undefined {
  const share = waitsForCompilers(runtime) ? shareIn(lastOf(slices, QUIET.seconds)) : 0;
  return share < QUIET.share ? undefined : share;
}

/** Returns true if a runtime optimises code late, in threads that do nothing else. */
export function waitsForCompilers(runtime: LiveRuntime | undefined): boolean {
  return runtime === 'jvm' || runtime === 'dotnet';
}

/** Returns true if a server that has had its shortest warm-up is warm. */
export function isWarm(slices: readonly WarmSlice[], runtime: LiveRuntime | undefined): boolean {
  return hasQuietCompilers(slices, runtime) && isLevel(slices, runtime);
}

function hasQuietCompilers(slices: readonly WarmSlice[], runtime: LiveRuntime | undefined): boolean {
  if (slices.every(({ compilersUs }) => compilersUs === undefined)) return true;
  if (waitsForCompilers(runtime)) return stillCompiling(slices, runtime) === undefined;
  if (shareIn(lastOf(slices, OWN_LEVEL.quietSeconds)) < QUIET.share) return true;
  const now = lastOf(slices, OWN_LEVEL.seconds);
  const before = lastOf(slices.slice(0, slices.length - now.length), OWN_LEVEL.seconds);
  if (before.length === 0) return true;
  const shares = [shareIn(before), shareIn(now)] as const;
  return Math.abs(shares[0] - shares[1]) < Math.max(QUIET.share, OWN_LEVEL.part * mean(shares));
}

/**
 * Returns true if CPU per request is level over the time of quiet compilers, or over the slices of the shortest warm-up: if its halves do not
 * differ for certain and by enough to matter. Halves show a step, such as that of code which has just been optimised.
 */
function isLevel(slices: readonly WarmSlice[], runtime: LiveRuntime | undefined): boolean {
  const tested = waitsForCompilers(runtime) ? lastOf(slices, QUIET.seconds) : slices.slice(-SLICES);
  const logs = tested.map(costOf).map(Math.log).filter(Number.isFinite);
  const half = Math.floor(logs.length / 2);
  if (half < FEWEST_HALF) return true;
  const { centre, interval } = locateShift(logs.slice(0, half), logs.slice(-half), CHANGE.error);
  const isCertain = interval !== undefined && (interval.low > 0 || interval.high < 0);
  return !isCertain || Math.abs(centre) < CHANGE.least;
}

/** Returns the CPU of a server per request in a slice, in µs; NaN if it is unknown. */
export function costOf({ cpuUs, answers }: WarmSlice): number {
  return answers > 0 ? cpuUs / answers : Number.NaN;
}

/** Returns the last slices that together are at least this long. */
function lastOf(slices: readonly WarmSlice[], seconds: number): readonly WarmSlice[] {
  let from = slices.length;
  for (let length = 0; from > 0 && length < seconds - 1e-9; from--) length += slices[from - 1]?.seconds ?? 0;
  return slices.slice(from);
}

function shareIn(slices: readonly WarmSlice[]): number {
  const compilers = sum(slices.map(({ compilersUs = 0 }) => compilersUs));
  const all = sum(slices.map(({ cpuUs, restUs }) => cpuUs + restUs).filter(Number.isFinite));
  // Threads are read one after the other, and a moment after the server.
  return all > 0 ? Math.min(1, compilers / all) : 0;
}
