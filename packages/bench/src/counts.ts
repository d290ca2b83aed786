import type { Counts } from './model.ts';
import type { ToldCounts } from './results/record.ts';

/** The number of requests that ended, in any way. */
export function countCompletions({ sent: _sent, inFlight: _inFlight, ...ended }: ToldCounts): number {
  return Object.values(ended).reduce((sum, count) => sum + count, 0);
}

/** The number of requests that were answered, right or wrong. */
export function countAnswers({ ok, non2xx, mismatch }: Counts): number {
  return ok + non2xx + mismatch;
}
