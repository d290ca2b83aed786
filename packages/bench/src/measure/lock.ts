import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchError } from '../errors.ts';
import { beginOf, clearAway, holderFor, pause, release, tryCreate, type Holder } from './filelock.ts';
import { releaseMemory } from './postgres.ts';
import { removeCgroups } from './resources/cgroup.ts';
import { environHas, listPids, readProcess } from './resources/procfs.ts';
import { scratchOf } from './scratch.ts';

/** The one right to measure on this host. Disposing gives it back. */
export interface HostLock extends Disposable {
  /** What an earlier run that was killed had left behind and was removed now, in words. */
  removed: string[];
  /** The tokens of such runs. */
  buried: string[];
}

/** One for all of the host's checkouts and users, unless `BENCH_LOCK` names another. */
const FILE = process.env['BENCH_LOCK'] ?? join(tmpdir(), 'bench-http.lock');

/** How long a leftover may take to be gone once it is killed. */
const END_MS = 2000;

/**
 * Takes the host's lock: two runs at once would measure each other. A lock whose holder is dead is
 * taken over, after whatever that holder left running has been ended. Throws a usage error when the
 * holder lives.
 */
export function lockHost(run: string, token: string, file = FILE): HostLock {
  const removed: string[] = [];
  const buried: string[] = [];
  const mine = holderFor(run, token);
  while (!tryCreate(file, mine, 'set TMPDIR to a folder that you may write to')) {
    const holder = clearAway(file, mine, (dead) => {
      buried.push(dead.token);
      removed.push(...removeLeftovers(dead));
    });
    if (holder !== undefined) {
      throw new BenchError(
        'usage',
        `run ${holder.run} is measuring on this machine (process ${holder.pid})`,
        'wait for it: two runs at once would measure each other',
      );
    }
  }
  return {
    removed,
    buried,
    [Symbol.dispose]: () => release(file, mine),
  };
}

/** Ends every process that carries the token of a dead run in its environment, and removes its folder: no other proof counts. */
function removeLeftovers({ run, token }: Holder): string[] {
  return [...endProcesses({ run, token }), ...removeScratch({ run, token })];
}

/** Removes the folder that bears the token of a dead run in its name. */
function removeScratch({ run, token }: Pick<Holder, 'run' | 'token'>): string[] {
  const folder = scratchOf(token);
  if (!existsSync(folder)) return [];
  releaseMemory(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return [`run ${run} had been killed and left ${folder}: removed it`];
}

function endProcesses({ run, token }: Pick<Holder, 'run' | 'token'>): string[] {
  if (process.platform !== 'linux') return [];
  const own = listPids().filter((pid) => pid !== process.pid && environHas(pid, 'BENCH_TOKEN', token));
  const names = own.map((pid) => `${pid} ${readProcess(pid)?.command ?? ''}`.trimEnd());
  for (const pid of own) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
  const deadline = performance.now() + END_MS;
  while (own.some((pid) => beginOf(pid) !== undefined) && performance.now() < deadline) pause();
  // The kernel lets go of the last process a little after it has ended.
  while (!removeCgroups(token) && performance.now() < deadline) pause();
  return own.length === 0
    ? []
    : [
        `run ${run} had been killed and left ${own.length} processes running: ended them (${names.join(', ')})`,
      ];
}
