/** Locks that are files, each of which names its holder: one whose holder is dead is taken over. */

import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../errors.ts';
import { readProcess } from './procfs.ts';
import { isToken, newToken } from './scratch.ts';

const WAIT_MS = 100;

/** What the lock file says of its holder. */
export interface Holder {
  pid: number;
  /** When that process began, so that another one under the same id is not taken for it. */
  began: string;
  run: string;
  token: string;
  /** When it ends, about, in ms since the epoch. */
  endsAt?: number;
}

/** What this process is as a holder. */
export function holderFor(run: string, token: string): Holder {
  return { pid: process.pid, began: beginOf(process.pid) ?? '', run, token };
}

/**
 * Waits until nobody else holds the lock of what is to be made, and gives it; disposing gives it back. Tells once whom
 * it waits for.
 */
export async function awaitLock(
  file: string,
  tell: (waiting: string) => void = () => {},
): Promise<Disposable> {
  mkdirSync(dirname(file), { recursive: true });
  const mine = holderFor('', newToken());
  let told = false;
  while (!tryCreate(file, mine)) {
    const holder = clearAway(file, mine);
    if (holder === undefined) continue;
    if (!told) tell(`process ${holder.pid} makes the same: waiting for it`);
    told = true;
    await sleep(WAIT_MS);
  }
  return { [Symbol.dispose]: () => release(file, mine) };
}

/** Gives a lock back, if it is still this holder's. */
export function release(file: string, { token }: Holder): void {
  const holder = readHolder(file);
  if (holder !== 'absent' && holder?.token === token) rmSync(file, { force: true });
}

/**
 * Removes the lock of a dead holder; gives the holder where it lives. Only who holds the
 * claim may remove: else a slow taker could remove what a quick one has just put there. A claim is a
 * lock as well, so that one whose holder died over it is cleared away in the same manner.
 */
export function clearAway(file: string, mine: Holder): Holder | undefined {
  const claim = `${file}.claim`;
  if (!tryCreate(claim, mine)) {
    if (clearAway(claim, mine) !== undefined) pause();
    return undefined;
  }
  try {
    const holder = readHolder(file);
    if (holder === 'absent') return undefined;
    if (holder !== undefined && isAlive(holder)) return holder;
    rmSync(file, { force: true });
    return undefined;
  } finally {
    rmSync(claim, { force: true });
  }
}

/** Stands still for 2 ms: before the lock is held nothing else is under way. */
export function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}

/** Puts a lock there, unless there is one. Throws a usage error with this hint when it cannot be written. */
export function tryCreate(file: string, holder: Holder, hint?: string): boolean {
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
    throw new BenchError('usage', `${file} cannot be written: ${(error as Error).message}`, hint);
  }
}

/** Writes anew what a lock says of its holder, who has it. */
export function rewrite(file: string, holder: Holder): void {
  const draft = `${file}.${holder.pid}.new`;
  writeFileSync(draft, JSON.stringify(holder));
  renameSync(draft, file);
}

/** Returns whether the process that a lock names still runs. */
export function isAlive({ pid, began }: Pick<Holder, 'pid' | 'began'>): boolean {
  return beginOf(pid) === began;
}

/** Who holds a lock; undefined when its file does not say, or says what no lock of ours does. */
export function readHolder(file: string): Holder | 'absent' | undefined {
  try {
    const said = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder> | null;
    const { pid = 0, began, run, token, endsAt = 0 } = said ?? {};
    if (!Number.isInteger(pid) || pid <= 0 || !isToken(token) || !Number.isFinite(endsAt)) return undefined;
    if (typeof began !== 'string' || began === '' || typeof run !== 'string') return undefined;
    return said as Holder;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'absent' : undefined;
  }
}

/** When a process began, in whatever form the platform gives; undefined when there is none. */
export function beginOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const found = readProcess(pid);
    return found === undefined || found.zombie ? undefined : String(found.startTicks);
  }
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() || undefined;
}
