/** The garbage collections in a live server: its runtime notes them, and tells them after a load. */
import type { Collection } from 'bench-model/measured';
import { sum } from 'bench-statistics/numbers';
import type { Prepared } from './prepare.ts';
import { isNode } from './collect.ts';
import { hooked } from './imports.ts';
import { askBySignal, COLLECT, runtimesOf } from './signals.ts';

/** A server that does not handle signals is not waited for. */
const ANSWER_MS = 1000;

/** The collections of one process so far: their number and time, and when each of at least 1 ms began, in ms since the epoch. */
interface Told {
  count: number;
  ms: number;
  long: [atMs: number, ms: number][];
}

/** How a server is asked for its collections: `file` is the prefix of the answers, and `wake` makes it handle a signal. */
interface Question {
  collector: 'node' | 'python';
  file: string;
  wake: () => Promise<unknown>;
}

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
  question: Question,
  { openedAtMs, closedAtMs }: { openedAtMs: number; closedAtMs: number },
): Promise<Collection[] | undefined> {
  const told = await ask(pid, question);
  return told
    ?.flatMap(({ long }) => long)
    .filter(([atMs]) => atMs >= openedAtMs && atMs < closedAtMs)
    .map(([atMs, ms]) => ({ seconds: (atMs - openedAtMs) / 1000, ms }))
    .toSorted((a, b) => a.seconds - b.seconds);
}

/** Returns the number of collections in all processes of a server so far, and their time in ms; undefined if none answers. */
export async function countCollections(
  pid: number,
  question: Question,
): Promise<{ count: number; ms: number } | undefined> {
  const told = await ask(pid, question);
  return told && { count: sum(told.map(({ count }) => count)), ms: sum(told.map(({ ms }) => ms)) };
}

async function ask(pid: number, { collector, file, wake }: Question): Promise<Told[] | undefined> {
  const pids = runtimesOf(pid, collector);
  const texts = await askBySignal(pids, { signal: COLLECT, file, milliseconds: ANSWER_MS, wake });
  return texts.length === 0 ? undefined : texts.map((text) => JSON.parse(text) as Told);
}
