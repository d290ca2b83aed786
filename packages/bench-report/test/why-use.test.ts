import { expect, it } from 'vitest';
import type { ChangedUse } from 'bench-analysis/why/use';
import { describeUse, viewUse } from '../src/why-use.ts';

const USES: ChangedUse[] = [
  { name: 'systemUs', before: 21, after: 1450, difference: 1429, margin: 90, isClear: true },
  { name: 'connections', before: 0, after: 1, difference: 1, margin: 0.004, isClear: true },
  { name: 'writes', before: 1.002, after: 1001, difference: 999.998, margin: 2, isClear: true },
  { name: 'waits', before: 0.31, after: 1.84, difference: 1.53, margin: 0.2, isClear: true },
  { name: 'faults', before: 0.02, after: 0.01, difference: -0.01, margin: 0.03, isClear: false },
  { name: 'collections', before: 0.5, after: 12.3, difference: 11.8, margin: 0.4, isClear: true },
];

it('what a request takes is a row for each figure', () => {
  const { groups, notes } = viewUse(USES);
  expect(groups[0]?.rows).toEqual([
    ['µs of CPU in the kernel', '21.0', '1,450', '+1,429 (+1,339 to +1,519)'],
    ['connections opened', '0.00', '1.00', '+1.00 (+1.00 to +1.00)'],
    ['writes', '1.00', '1,001', '+1,000 (+998 to +1,002)'],
    ['waits of a thread', '0.31', '1.84', '+1.53 (+1.33 to +1.73)'],
    ['page faults', '0.02', '0.01', '−0.01 (−0.04 to +0.02)'],
    ['garbage collections per 1,000 requests', '0.50', '12.3', '+11.8 (+11.4 to +12.2)'],
  ]);
  expect(notes[0]).toContain('counted under strace');
  expect(viewUse(USES.slice(0, 2)).notes[0]).toContain('were not counted');
});

it('a fault of one side comes with its cure, and then what else clearly differs', () => {
  const causes = [
    { of: 'connections', target: 'new', per: 1, other: 'old', otherPer: 0 },
    { of: 'writes', target: 'new', per: 1001, other: 'old', otherPer: 1.002 },
  ] as const;
  expect(describeUse(USES, causes)).toEqual([
    'new opens 1.00 connections per answer, old 0.00: let it keep connections alive.',
    'new sends an answer in 1,001 writes, old in 1.00: join them, or write through a buffer.',
    'Each request takes 1.84 waits of a thread instead of 0.31.',
    '1,000 requests cause 12.3 garbage collections instead of 0.50.',
  ]);
});
