/**
 * The age of Node servers. A service in production is idle now and then, and a garbage collection in such a moment makes
 * Node's HTTP server cost more for the rest of its life (packages/bench-lab/experiments/kinds). A fresh process under
 * load from its first second mostly escapes it. So Bench has each Node process collect all garbage once, between the
 * verification and the load.
 */
import { askBySignal, COLLECT, runtimesOf } from './signals.ts';
import type { Prepared } from './prepare.ts';

const ANSWER_MS = 2000;

/** Returns true if the processes of a target run on Node. */
export function isNode({ stack, target }: Pick<Prepared, 'stack' | 'target'>): boolean {
  return stack.runtime === 'node' && !['bun', 'deno'].includes(target.runtime?.spec ?? '');
}

/**
 * Has each Node process of an idle server collect all garbage, whose hook has `file` as BENCH_COLLECTED. Returns the number that did;
 * undefined if none runs Node. One that does not answer is left alone.
 */
export async function collectGarbage(pid: number, file: string): Promise<number | undefined> {
  const pids = runtimesOf(pid, 'node');
  if (pids.length === 0) return undefined;
  const answers = await askBySignal(pids, { signal: COLLECT, file, milliseconds: ANSWER_MS });
  return answers.length;
}
