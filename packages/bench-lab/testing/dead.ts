import { runSync } from 'bench-machine/subprocess';

/** The id of a process that has ended. */
export function deadPid(): number {
  return Number(runSync(['sh', '-c', 'echo $$']).stdout);
}
