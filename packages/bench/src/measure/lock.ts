import { spawnSync } from 'node:child_process';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchError } from '../errors.ts';
import { releaseMemory } from './postgres.ts';
import { removeCgroups } from './resources/cgroup.ts';
import { environHas, listPids, readProcess } from './resources/procfs.ts';
import { scratchOf } from './scratch.ts';

/** What the lock file says of its holder. */
interface Holder {
  pid: number;
  /** When that process began, so that another one under the same id is not taken for it. */
  began: string;
  run: string;
  token: string;
}

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
  const mine: Holder = { pid: process.pid, began: beginOf(process.pid) ?? '', run, token };
  while (!tryCreate(file, mine)) {
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
    [Symbol.dispose]() {
      const holder = readHolder(file);
      if (holder !== 'absent' && holder?.token === token) rmSync(file, { force: true });
    },
  };
}

/**
 * Removes the lock of a dead holder, after `bury`; gives the holder where it lives. Only who holds the
 * claim may remove: else a slow taker could remove what a quick one has just put there. A claim is a
 * lock as well, so that one whose holder died over it is cleared away in the same manner.
 */
function clearAway(file: string, mine: Holder, bury: (dead: Holder) => void): Holder | undefined {
  const claim = `${file}.claim`;
  if (!tryCreate(claim, mine)) {
    if (clearAway(claim, mine, () => {}) !== undefined) pause();
    return undefined;
  }
  try {
    const holder = readHolder(file);
    if (holder === 'absent') return undefined;
    if (holder !== undefined && beginOf(holder.pid) === holder.began) return holder;
    if (holder !== undefined) bury(holder);
    rmSync(file, { force: true });
    return undefined;
  } finally {
    rmSync(claim, { force: true });
  }
}

/** Stands still for 2 ms: before the lock is held nothing else is under way. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}

function tryCreate(file: string, holder: Holder): boolean {
  // Written aside and linked into place: nobody ever reads a lock that is half there.
  const draft = `${file}.${holder.pid}.new`;
  try {
    writeFileSync(draft, JSON.stringify(holder));
    try {
      linkSync(draft, file);
    } finally {
      rmSync(draft);
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new BenchError(
      'usage',
      `${file} cannot be written: ${(error as Error).message}`,
      'set TMPDIR to a folder that you may write to',
    );
  }
}

/** Who holds a lock; undefined when its file does not say. */
function readHolder(file: string): Holder | 'absent' | undefined {
  try {
    const said = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder> | null;
    const { pid, began, run, token } = said ?? {};
    if (!Number.isInteger(pid) || !began || !token || run === undefined) return undefined;
    return said as Holder;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'absent' : undefined;
  }
}

/** When a process began, in whatever form the platform gives; undefined when there is none. */
function beginOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const found = readProcess(pid);
    return found === undefined || found.zombie ? undefined : String(found.startTicks);
  }
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() || undefined;
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
