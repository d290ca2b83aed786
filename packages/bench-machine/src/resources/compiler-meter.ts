/** Reads the CPU of the threads of a server that compile. */
import type { LiveRuntime } from 'bench-model/runtimes';
import { familyOf, readNames, readThreadUs } from '../procfs.ts';
import { compilersOf, nameOfThread } from '../runtimes.ts';
import { sum } from 'bench-statistics/numbers';
import type { CpuMeter } from './cpu-meter.ts';

/**
 * Opens the meter of the compiling threads in the whole process tree of a server. A thread that has ended counts with what was last seen of it: .NET ends its compiler after a few
 * idle seconds, and a JVM has more of them while there is more to compile. Undefined if the runtime compiles in the threads that
 * answer, and where the system does not tell.
 */
export function openCompilerMeter(pid: number | undefined, runtime: LiveRuntime): CpuMeter | undefined {
  const names = compilersOf(runtime);
  if (pid === undefined || names === undefined || process.platform !== 'linux') return undefined;
  const seen = new Map<string, number>();
  let ended = 0;
  return {
    readUs() {
      for (const one of familyOf([pid])) {
        for (const thread of readNames(`/proc/${one}/task`)) {
          const key = `${one}/${thread}`;
          // A main thread has the name of its program.
          const isCompiler =
            seen.has(key) || (thread !== String(one) && names.test(nameOfThread(one, thread)));
          const us = isCompiler ? readThreadUs(one, thread) : undefined;
          if (us === undefined) continue;
          const before = seen.get(key) ?? 0;
          // If the CPU of a thread id has fallen, the id belongs to a new thread.
          if (us < before) ended += before;
          seen.set(key, us);
        }
      }
      return ended + sum([...seen.values()]);
    },
  };
}
