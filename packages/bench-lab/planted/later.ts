/** Work that an answer leaves for later: in the event loop, in a thread or in a child. */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { burn } from './burner.ts';

/** Burns this many µs of CPU. */
type Burn = (us: number) => void;

/** Returns the burner of a place: the event loop by default, `thread` or `child`. Throws for another one. */
export function openBurner(place: string): Burn {
  if (place === '') return burn;
  if (place === 'thread') {
    const thread = new Worker(new URL(import.meta.url));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    return (us) => thread.postMessage(us);
  }
  if (place !== 'child') throw new Error(`--later-in takes 'thread' or 'child', not '${place}'`);
  cluster.setupPrimary({ exec: fileURLToPath(import.meta.url), args: [] });
  const child = cluster.fork();
  return (us) => void child.send(us);
}

if (!isMainThread) parentPort?.on('message', burn);
// It ends with its parent.
else if (cluster.isWorker) process.on('message', burn);
