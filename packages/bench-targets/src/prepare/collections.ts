/** The long collections of garbage in a live server: its runtime notes them, and tells them after the load. */
import type { Collection } from 'bench-model/measured';
import type { Prepared } from './prepare.ts';
import { isNode } from './collect.ts';
import { hooked } from './imports.ts';
import { askBySignal, COLLECT, runtimesOf } from './signals.ts';

/** A server that does not handle signals is not waited for. */
const ANSWER_MS = 1000;

/** The collections of one process that took at least 1 ms: when each began, in ms since the epoch, and how long it took. */
type Told = [atMs: number, ms: number][];

/** Returns the runtime of a target whose collections can be noted; undefined for others. A Node one must have the hook of `collect.ts`. */
export function collectorOf(prepared: Prepared): 'node' | 'python' | undefined {
  if (isNode(prepared)) return 'node';
  return prepared.stack.runtime === 'python' ? 'python' : undefined;
}

/** Returns the environment in which a server notes its collections; `file` is the prefix of the answers. */
export function countingEnvironment(
  collector: 'node' | 'python',
  env: Record<string, string>,
  file: string,
): Record<string, string> {
  return { ...(collector === 'python' && hooked(env)), BENCH_COLLECTIONS: file };
}

/**
 * Returns the collections of at least 1 ms in all processes of a server, oldest first, in seconds since `openedAtMs`, until
 * `closedAtMs`. Undefined if none of its processes answers.
 */
export async function readCollections(
  pid: number,
  { collector, file, wake }: { collector: 'node' | 'python'; file: string; wake: () => Promise<unknown> },
  { openedAtMs, closedAtMs }: { openedAtMs: number; closedAtMs: number },
): Promise<Collection[] | undefined> {
  const pids = runtimesOf(pid, collector);
  const texts = await askBySignal(pids, { signal: COLLECT, file, milliseconds: ANSWER_MS, wake });
  if (texts.length === 0) return undefined;
  return texts
    .flatMap((text) => JSON.parse(text) as Told)
    .filter(([atMs]) => atMs >= openedAtMs && atMs < closedAtMs)
    .map(([atMs, ms]) => ({ seconds: (atMs - openedAtMs) / 1000, ms }))
    .toSorted((a, b) => a.seconds - b.seconds);
}
