/** Lock files that name their holder. A lock whose holder has died can be taken over. */

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import pWaitFor from 'p-wait-for';
import { orUndefined, UsageError } from 'bench-model/errors';
import { makeFolder } from './files.ts';
import { readProcess } from './procfs.ts';
import { isToken, newToken } from './scratch.ts';
import { runSync } from './subprocess.ts';

const WAIT_MS = 250;

/** The content of a lock file: its holder. */
export interface Holder {
  pid: number;
  /** The start time of the process; it distinguishes a later process with the same id. */
  began: string;
  run: string;
  token: string;
  /** The estimated end, in ms since the epoch. */
  endsAt?: number;
}

/** Describes this process as a holder. */
export function holderFor(run: string, token: string): Holder {
  return { pid: process.pid, began: beginOf(process.pid) ?? '', run, token };
}

/** Waits until nobody else builds the same, and takes the lock of the build; disposing releases it. Reports its holder once. */
export async function awaitLock(
  file: string,
  log: (waiting: string) => void = () => {},
): Promise<Disposable> {
  makeFolder(dirname(file));
  let told = false;
  return takeLock(file, holderFor('', newToken()), ({ pid }) => {
    if (!told) log(`process ${pid} is building the same: waiting for it`);
    told = true;
  });
}

/**
 * Takes a lock as soon as nobody else holds it; disposing releases it. Calls `onHeld` with its holder each time that it looks in
 * vain, and throws what that throws.
 */
export async function takeLock(
  file: string,
  mine: Holder,
  onHeld: (by: Holder) => void,
): Promise<Disposable> {
  const isMine = (): boolean => {
    while (!tryCreate(file, mine)) {
      const holder = clearAway(file, mine);
      if (holder === undefined) continue;
      onHeld(holder);
      return false;
    }
    return true;
  };
  await pWaitFor(isMine, { interval: WAIT_MS });
  return { [Symbol.dispose]: () => release(file, mine) };
}

/** Releases a lock if this holder still has it. */
function release(file: string, { token }: Holder): void {
  const holder = readHolder(file);
  if (holder !== 'absent' && holder?.token === token) rmSync(file, { force: true });
}

/**
 * Removes the lock of a dead holder, or returns the holder if it is alive. Only the owner of the claim may remove
 * the lock: otherwise a slow process could remove the new lock of a faster one. A claim is a lock itself, so the
 * claim of a dead process is removed likewise.
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

/** Blocks for 2 ms. No other work is in progress before the lock is held. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}

/** Creates a lock if there is none. Throws a usage error if it cannot be written. */
function tryCreate(file: string, holder: Holder): boolean {
  try {
    // The content is written to another file and linked into place, so nobody ever reads half a lock.
    const draft = writeDraft(file, holder);
    try {
      linkSync(draft, file);
    } finally {
      rmSync(draft);
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`);
  }
}

/** Updates the holder in a lock that it has. */
export function rewrite(file: string, holder: Holder): void {
  renameSync(writeDraft(file, holder), file);
}

function writeDraft(file: string, holder: Holder): string {
  const draft = `${file}.${holder.pid}.new`;
  writeFileSync(draft, JSON.stringify(holder));
  return draft;
}

/** Returns true if the process that a lock names is still running. */
export function isAlive({ pid, began }: Pick<Holder, 'pid' | 'began'>): boolean {
  return beginOf(pid) === began;
}

/** Returns the holder of a lock; undefined if the file does not name one in the format of Bench. */
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

/** Returns the start time of a process in the format of the platform; undefined if there is no such process. */
export function beginOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const found = readProcess(pid);
    return found === undefined || found.zombie ? undefined : String(found.startTicks);
  }
  // ps fails if there is no such process.
  return orUndefined(() => runSync(['ps', '-o', 'lstart=', '-p', String(pid)]).stdout.trim()) || undefined;
}
