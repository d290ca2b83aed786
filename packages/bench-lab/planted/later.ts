/** Work that an answer leaves for later: in the event loop or in a child. */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { burn } from './burner.ts';

/** Burns this many µs of CPU. */
type Burn = (us: number) => void;

/** Returns the burner of a place: the event loop by default, or `child`. Throws for another one. */
export function openBurner(place: string): Burn {
  if (place === '') return burn;
  if (place !== 'child') throw new Error(`--later-in takes 'child', not '${place}'`);
  cluster.setupPrimary({ exec: fileURLToPath(import.meta.url), args: [] });
  const child = cluster.fork();
  return (us) => void child.send(us);
}

// It ends with its parent.
if (cluster.isWorker) process.on('message', burn);
