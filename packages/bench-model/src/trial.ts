/** What a trial holds, without the definition of its record: reports start fast without that. */
import type { OkTrial, Trial } from './record.ts';

/** Returns the measurements of a trial; undefined if it failed. */
export function measuredOf(trial: Trial): OkTrial['measured'] | undefined {
  return trial.status === 'failed' ? undefined : trial.measured;
}
