import type { Counts } from './model.ts';
import type { ToldCounts } from './results/record.ts';
import { sum } from './numbers.ts';

/** The number of requests that ended, in any way. */
export function countCompletions({ sent: _sent, inFlight: _inFlight, ...ended }: ToldCounts): number {
  return sum(Object.values(ended));
}

/** The number of requests that were answered, right or wrong. */
export function countAnswers({ ok, non2xx, mismatch }: Counts): number {
  return ok + non2xx + mismatch;
}
