import type { Counts } from './figures.ts';
import type { IdleCloses, ToldCounts } from './load.ts';

/** The outcomes of requests in words, after their number; any other name is a word already. */
const OUTCOMES: Readonly<Record<string, string>> = {
  non2xx: 'with a wrong status',
  mismatch: 'with a wrong body',
  timeout: 'timed out',
  reset: 'on a reset or refused connection',
  closedEarly: 'on a closed connection',
  inFlight: 'in flight at the end',
};

/** `8 with a wrong status`. Requests are in flight at the end of each of several windows. */
export function describeCount(outcome: string, count: number, windows = 1): string {
  if (outcome === 'inFlight' && windows > 1) return `${count} in flight at their ends`;
  return `${count} ${OUTCOMES[outcome] ?? outcome}`;
}

/** Joins the closes of idle connections of several loads; undefined without any. */
export function joinIdleCloses(all: readonly IdleCloses[]): IdleCloses | undefined {
  if (all.length === 0) return undefined;
  return {
    count: all.reduce((total, one) => total + one.count, 0),
    sentAgain: all.reduce((total, one) => total + one.sentAgain, 0),
    leastSeconds: Math.min(...all.map((one) => one.leastSeconds)),
    mostSeconds: Math.max(...all.map((one) => one.mostSeconds)),
  };
}

/** The number of requests that ended, in any way. */
export function countCompletions({ sent: _sent, inFlight: _inFlight, ...ended }: ToldCounts): number {
  return Object.values(ended).reduce((total, count) => total + count, 0);
}

/** The number of requests that were answered, right or wrong. */
export function countAnswers({ ok, non2xx, mismatch }: Counts): number {
  return ok + non2xx + mismatch;
}
