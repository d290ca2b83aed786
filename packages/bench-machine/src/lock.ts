import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from 'bench-model/errors';
import { clearAway, holderFor, rewrite, takeLock, type Holder } from './filelock.ts';
import { newToken } from './scratch.ts';
import { refuseForeign } from './state.ts';

/** The exclusive right to measure on this host. Disposing releases it. */
export interface HostLock extends Disposable {
  /** Updates the estimated end that refused runs are shown. */
  expect(seconds: number): void;
}

export interface LockOptions {
  run: string;
  token: string;
  /** The state folder of the user. */
  state: string;
  /** Waits until the measuring run has ended instead of refusing. */
  wait?: boolean;
  /** Called with the run that it waits for and its estimated end, again when they change. */
  log?: (line: string) => void;
}

/**
 * Takes the lock of the host: two runs at once would measure each other. Takes over a lock whose holder has died.
 * Throws a usage error if the holder is alive and `wait` is not set, and for a lock that belongs to another user.
 */
export async function lockHost(options: LockOptions): Promise<HostLock> {
  const { run, token, state, wait = false, log = () => {} } = options;
  const file = join(state, 'host.lock');
  const mine = holderFor(run, token);
  let told: Holder | undefined;
  refusePlanted(file);
  const held = await takeLock(file, mine, (by) => {
    if (!wait) {
      throw new UsageError(
        describe(by),
        'two runs at once would distort each other: --wait starts this one later',
      );
    }
    if (told !== undefined && !isNews(by, told)) return;
    log(`waiting: ${describe(by)}`);
    told = by;
  });
  return {
    expect(seconds) {
      mine.endsAt = Math.round(Date.now() + seconds * 1000);
      rewrite(file, mine);
    },
    [Symbol.dispose]: () => held[Symbol.dispose](),
  };
}

/** Removes the lock of a run that was killed. Throws a usage error for a lock that belongs to another user. */
export function removeDeadLock(state: string): void {
  const file = join(state, 'host.lock');
  refusePlanted(file);
  if (existsSync(file)) clearAway(file, holderFor('', newToken()));
}

/** Throws a usage error for a lock that this user cannot have created. */
function refusePlanted(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  refuseForeign(file, found);
  if (!found.isFile()) throw new UsageError(`${file} is not a file, so it is not a lock`, 'remove it');
}

/** An estimated end that has moved by less than this is no news. */
const NEWS_MS = 60_000;

/** Returns true if another run is measuring now, or if its estimated end has changed much. */
function isNews(now: Holder, before: Holder): boolean {
  if (now.run !== before.run || now.pid !== before.pid) return true;
  if (now.endsAt === undefined) return false;
  return before.endsAt === undefined || Math.abs(now.endsAt - before.endsAt) > NEWS_MS;
}

function describe({ pid, run, endsAt }: Holder): string {
  return `run ${run} is measuring on this machine (process ${pid})${describeEnd(endsAt)}`;
}

function describeEnd(endsAt: number | undefined): string {
  if (endsAt === undefined) return '; it does not know yet for how long';
  const at = new Date(endsAt).toTimeString().slice(0, 'hh:mm'.length);
  const seconds = (endsAt - Date.now()) / 1000;
  const span = seconds < 90 ? `${Math.max(1, Math.ceil(seconds))} s` : `${Math.ceil(seconds / 60)} min`;
  return `, until about ${at} (${span})`;
}
