import type { Counts } from './model.ts';
import type { ToldCounts } from './results/record.ts';

/** Requests that came to an end, whatever the end. */
export function countCompletions({ sent: _sent, inFlight: _inFlight, ...ended }: ToldCounts): number {
  return Object.values(ended).reduce((sum, count) => sum + count, 0);
}

/** Requests that were answered, rightly or not. */
export function countAnswers({ ok, non2xx, mismatch }: Counts): number {
  return ok + non2xx + mismatch;
}
