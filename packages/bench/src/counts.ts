import type { ToldCounts } from './model.ts';

/** Requests that came to an end, whatever the end. */
export function countCompletions({ sent: _sent, inFlight: _inFlight, ...ended }: ToldCounts): number {
  return Object.values(ended).reduce((sum, count) => sum + count, 0);
}
