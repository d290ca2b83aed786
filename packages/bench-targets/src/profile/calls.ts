/** Counts the system calls of a server by strace. That slows the server down, so nothing else is measured meanwhile. */
import type { Calls } from 'bench-model/why';
import { BenchError } from 'bench-model/errors';
import { familyOf } from 'bench-machine/procfs';
import { findProgram } from 'bench-machine/path';
import { sum } from 'bench-statistics/numbers';
import { attachTools, type Observed } from './attach.ts';

/** The system calls of each kind (syscalls(2)). */
const KINDS = {
  all: /^(?!total$)/,
  writes: /^(write|send|pwrite)/,
} satisfies Record<keyof Calls, RegExp>;

/** Attaches strace to the processes of a server; undefined if it is missing, or may not. `file` is the path of its output. */
export async function attachCounter(pid: number, file: string): Promise<Observed | undefined> {
  const program = findProgram('strace');
  if (program === undefined) return undefined;
  try {
    const words = [program, '-f', '-c', '-U', 'calls,name', '-o'];
    return await attachTools([pid], file, (one, output) => ({
      argv: [...words, output, ...[...familyOf([one])].flatMap((member) => ['-p', String(member)])],
      isReady: (printed) => printed.includes('attached'),
    }));
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return undefined;
  }
}

/** Sums the lines of `strace -c -U calls,name` by kind. */
export function parseCalls(text: string): Calls {
  const lines = [...text.matchAll(/^\s*(\d+) (\w+)$/gm)].map(([, count, name = '']) => {
    return { count: Number(count), name };
  });
  const counts = Object.entries(KINDS).map(([kind, pattern]) => [
    kind,
    sum(lines.filter(({ name }) => pattern.test(name)).map(({ count }) => count)),
  ]);
  return Object.fromEntries(counts) as Calls;
}
