/** The CPU of threads that share a GIL. Most that seem busy only wait: for the GIL, or for a core. */
import { sum } from 'bench-statistics/numbers';

/** Fewer samples are taken of all threads than of the one that holds the GIL: each reads so many stacks that others would starve. */
const EVERY = 5;

/** The samplers of a process with threads. */
export const MODES = [
  { of: 'gil', every: 1 },
  { of: 'cpu', every: EVERY },
] as const;

/**
 * Merges the samples of both, as lines of `outer (file:3);inner (file:4) 12`. `busy` are the samples for which the process had a core.
 * Those that the GIL does not explain are spent without it, such as by a compression: the stacks that seemed busy share them, each
 * by how much more often it did than it held the GIL.
 */
export function mergeThreads([holding = '', seeming = '']: readonly string[], busy: number): string {
  const held = countStacks(holding);
  const others = [...countStacks(seeming)].map(([stack, count]) => {
    return { stack, count: Math.max(0, EVERY * count - (held.get(stack) ?? 0)) };
  });
  const left = Math.max(0, busy - sum([...held.values()]));
  const share = left / Math.max(1, sum(others.map(({ count }) => count)));
  let [due, given] = [0, 0];
  const lines = others.flatMap(({ stack, count }) => {
    due += share * count;
    const own = Math.round(due) - given;
    given += own;
    return own === 0 ? [] : `${stack} ${own}`;
  });
  return [holding, ...lines].join('\n');
}

function countStacks(text: string): Map<string, number> {
  const lines = text.matchAll(/^(.*) (\d+)$/gm);
  return new Map([...lines].map(([, stack = '', count]) => [stack, Number(count)]));
}
