import { expect, it } from 'vitest';
import type { Budget, JudgedRow } from 'bench-analysis/budgets';
import { exactly } from 'bench-analysis/differences';
import { fixedSchedule } from 'bench-analysis/looks';
import { compareRounds } from '../../bench-lab/testing/replay.ts';
import { makeReason } from 'bench-model/reasons';
import { describeWhy, renderBudgets } from '../src/budgets.ts';

const P99: Budget = { metric: 'p99', limit: { kind: 'figure', value: 20_000 } };
const OTHERS = makeReason('other-processes', { cores: 0.5 });
const MOVED = makeReason('cores-changed', { placed: [1], found: [0] });

const rules = { better: 'lower', threshold: 0.02, schedule: fixedSchedule(12) } as const;

/** A row whose figure is twice the limit in each of 12 rounds. */
function rowOf(given: Partial<JudgedRow>): JudgedRow {
  return {
    target: 'shop',
    connections: 10,
    verdict: 'undecided',
    comparison: compareRounds(exactly(Array<number>(12).fill(Math.log(2))), rules),
    missing: { rounds: 0, of: 12 },
    open: [],
    ...given,
  };
}

const LOWER_BOUNDS = Array.from({ length: 12 }, () => ({ value: 0.7, low: 0.7, high: Infinity }));

const lineOf = (given: Partial<JudgedRow>): string =>
  renderBudgets([{ budget: P99, rows: [rowOf(given)] }]).split('\n')[1] ?? '';

it.each<[string, Partial<JudgedRow>]>([
  ['40.0 ms (38.0 ms to 42.0 ms)  broken', { verdict: 'broken', interval: { low: 1.9, high: 2.1 } }],
  ['40.0 ms (at least 38.0 ms)  broken', { verdict: 'broken', interval: { low: 1.9, high: Infinity } }],
  [
    '40.0 ms (at most 42.0 ms)  undecided: other processes used the CPU in 7 of 12 rounds',
    { interval: { low: 0, high: 2.1 }, open: [{ reason: OTHERS, rounds: 7 }] },
  ],
  [
    'observed 40.0 ms to 40.0 ms  undecided: the server did not stay on its cores in 12 of 12 rounds',
    { open: [{ reason: MOVED, rounds: 12 }] },
  ],
  [
    'undecided: only a lower bound is known in 12 of 12 rounds',
    { comparison: compareRounds(LOWER_BOUNDS, rules) },
  ],
  [
    '40.0 ms (18.0 ms to 42.0 ms)  undecided: the interval contains the limit',
    { interval: { low: 0.9, high: 2.1 } },
  ],
])('describes a row as %s', (words, given) => {
  expect(lineOf(given)).toContain(words);
});

it('says what helps against an undecided row', () => {
  expect(describeWhy(rowOf({ interval: { low: 0.9, high: 2.1 } })).cure).toBe(
    'More rounds narrow the interval',
  );
  const open = [{ reason: OTHERS, rounds: 7 }];
  expect(describeWhy(rowOf({ open })).cure).toBe('Let no other work run at the same time');
});
