/** Samplers that read the memory of a server from outside, on the cores of that server. */
import { readAllowedCores } from 'bench-machine/placement';
import { tryRun } from 'bench-machine/subprocess';

/** A real-time priority, and whether this user may start programs at it. */
const FIRST = ['chrt', '--rr', '1'];
let asking: Promise<string | undefined> | undefined;

/** The words before the command of a sampler, and whether the server stands still while it reads. */
export interface Beside {
  words: string[];
  isStill: boolean;
}

/**
 * Places a sampler on the cores of a server, before everything else that runs there if that is allowed. On the core of the
 * load it would only run in the pauses of the load, which the server itself makes, and would see the same moments of each
 * request again and again. On the only core of a server, the server stands still while its stack is read.
 */
export async function besideServer(pid: number): Promise<Beside> {
  const cores = readAllowedCores(pid) ?? [];
  asking ??= tryRun([...FIRST, 'true']);
  const first = (await asking) === undefined ? [] : FIRST;
  return {
    words: cores.length === 0 ? first : [...first, 'taskset', '-c', cores.join()],
    isStill: cores.length === 1,
  };
}
