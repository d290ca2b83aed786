/** What a trial holds, without the definition of its record: reports start fast without that. */
import type { FailedTrial, OkTrial, Trial } from './record.ts';

/** Returns the measurements of a trial; undefined if it failed. */
export function measuredOf(trial: Trial): OkTrial['measured'] | undefined {
  return trial.status === 'failed' ? undefined : trial.measured;
}

/** Returns all that was measured of a trial, also before it failed; undefined if nothing was. */
export function seenOf(trial: Trial): FailedTrial['partial'] {
  return trial.status === 'failed' ? trial.partial : trial.measured;
}
