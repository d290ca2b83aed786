/** Counts the system calls of a server, and the bytes that it writes, by strace. That slows the server down, so nothing else is measured meanwhile. */
import type { Calls } from 'bench-model/why';
import { BenchError } from 'bench-model/errors';
import { familyOf } from 'bench-machine/procfs';
import { findProgram } from 'bench-machine/path';
import { sum } from 'bench-statistics/numbers';
import { attachTools, type Observed } from './attach.ts';

/** Attaches strace to the processes of a server; undefined if it is missing, or may not. `file` is the path of its output. */
export async function attachCounter(pid: number, file: string): Promise<Observed | undefined> {
  const program = findProgram('strace');
  if (program === undefined) return undefined;
  try {
    const words = [program, '-f', '-C', '-U', 'calls,name', '-s', '0', '-e', 'verbose=none', '-o'];
    return await attachTools([pid], file, (one, output) => ({
      argv: [...words, output, ...[...familyOf([one])].flatMap((member) => ['-p', String(member)])],
      isReady: (printed) => printed.includes('attached'),
    }));
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return undefined;
  }
}

/** Sums the output of `strace -C -U calls,name` by the kinds of system calls (syscalls(2)). */
export function parseCalls(text: string): Required<Calls> {
  const lines = [...text.matchAll(/^\s*(\d+) (\w+)$/gm)];
  const count = (kind: RegExp): number =>
    sum(lines.filter(([, , name = '']) => kind.test(name)).map(([, calls]) => Number(calls)));
  // A process id is padded to five characters.
  const written = text.matchAll(/^\d+ +(?:<\.\.\. )?(?:write|send|pwrite).*\) += (\d+)$/gm);
  return {
    all: count(/^(?!total$)/),
    writes: count(/^(write|send|pwrite)/),
    bytes: sum([...written].map(([, bytes]) => Number(bytes))),
  };
}
