/**
 * Targets that repeat others. Each differs in one thing from the target that it repeats, which may itself repeat
 * another: `vanilla (A/A) by wrk` repeats `vanilla (A/A)`, and that repeats `vanilla`.
 */
import type { Repetition, Target } from './target.ts';

/** Returns true if a target, or one that it repeats, is a repetition of this kind. */
export function isRepeated(kind: Repetition, { repeats }: Target, targets: readonly Target[]): boolean {
  const seen = new Set<string>();
  for (let next = repeats; next !== undefined && !seen.has(next.targetId);) {
    if (next.kind === kind) return true;
    const { targetId } = next;
    seen.add(targetId);
    next = targets.find(({ id }) => id === targetId)?.repeats;
  }
  return false;
}

/**
 * Returns the id of the target that differs from this one only in its background request. For `vanilla (with GET
 * /fib/42) by wrk`, that is `vanilla by wrk`. Undefined if the target has no background request, or if there is no such
 * target.
 */
export function undisturbedOf(target: Target, targets: readonly Target[]): string | undefined {
  const { repeats, engine } = target;
  if (repeats === undefined || !isRepeated('background', target, targets)) return undefined;
  const repeated = targets.find(({ id }) => id === repeats.targetId);
  if (repeated === undefined || repeats.kind === 'background') return repeated?.id;
  const undisturbed = undisturbedOf(repeated, targets);
  const isCounterpart = (one: Target): boolean =>
    one.repeats?.targetId === undisturbed && one.repeats?.kind === repeats.kind && one.engine === engine;
  return undisturbed === undefined ? undefined : targets.find(isCounterpart)?.id;
}
