/** Samplers that read the memory of a server from outside, on the cores of that server. */
import { readAllowedCores } from 'bench-machine/placement';
import { run } from 'bench-machine/subprocess';

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
  const first = (await mayRunFirst()) ? ['chrt', '--rr', '1'] : [];
  return {
    words: cores.length === 0 ? first : [...first, 'taskset', '-c', cores.join()],
    isStill: cores.length === 1,
  };
}

let asking: Promise<boolean> | undefined;

/** Returns true if this user may start programs at a real-time priority. */
async function mayRunFirst(): Promise<boolean> {
  asking ??= run(['chrt', '--rr', '1', 'true']).then(
    () => true,
    () => false,
  );
  return asking;
}
