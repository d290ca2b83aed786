import { expect, it } from 'vitest';
import type { ChangedUse } from 'bench-analysis/why/use';
import { describePlace, describeStatements, describeTime, describeUse, viewUse } from '../src/why-use.ts';

const USES: ChangedUse[] = [
  { name: 'connections', before: 0, after: 1, difference: 1, margin: 0.004, isClear: true },
  { name: 'calls', before: 8.39, after: 1014, difference: 1005.61, margin: 3, isClear: true },
  { name: 'writes', before: 1.002, after: 1001, difference: 999.998, margin: 2, isClear: true },
  { name: 'threads', before: 7, after: 7, difference: 0, margin: 0, isClear: false },
  { name: 'collections', before: 10.4, after: 0, difference: -10.4, margin: 0.4, isClear: true },
];
const STATEMENTS: ChangedUse = {
  name: 'statements',
  before: 2,
  after: 20.99,
  difference: 18.99,
  margin: 0,
  isClear: true,
};
const CHANGE = { difference: 19, margin: 0 };

it('what requests cause is a row for each count', () => {
  const { groups, notes } = viewUse(USES);
  expect(groups[0]?.rows.slice(0, 2)).toEqual([
    ['connections opened per request', '0.00', '1.00', '+1.00 (+1.00 to +1.00)'],
    ['system calls per request', '8.39', '1,014', '+1,006 (+1,003 to +1,009)'],
  ]);
  expect(notes[0]).toContain('counted under strace');
  expect(viewUse(USES.slice(0, 1)).notes[0]).toContain('were not counted');
});

it('what clearly differs is told, without what follows from statements', () => {
  expect(describeUse(USES)).toEqual([
    'Also changed: connections opened per request 0 → 1, system calls per request 8.39 → 1,014, writes per request 1 → 1,001, garbage collections per 1,000 requests 10.4 → 0.',
  ]);
  expect(describeUse([STATEMENTS, ...USES.slice(1, 3)])).toEqual([]);
});

it('names the statement that is sent more often, and one that is sent no more', () => {
  const text = 'SELECT book.id AS book_id, book.title AS book_title FROM book WHERE ? = book.author_id';
  const changed = [
    { part: { text, count: 20 }, before: 1, after: 20, ...CHANGE },
    { part: { text: 'BEGIN', count: 1 }, before: 1, after: 0, ...CHANGE },
  ];
  expect(describeStatements([STATEMENTS], changed)).toEqual([
    'Each request sends 21 statements instead of 2: 20 × `SELECT … FROM book WHERE ? = book.author_id` instead of 1, `BEGIN` no more.',
  ]);
  expect(describeStatements([{ ...STATEMENTS, before: 3, after: 1.003 }], changed.slice(1))).toEqual([
    'Each request sends 1 statement instead of 3: `BEGIN` no more.',
  ]);
  expect(describeStatements([STATEMENTS], [])).toEqual([]);
});

it('names the line and the statement for which requests wait', () => {
  const part = { file: 'main.py', line: 12, name: 'read', code: 'await asyncio.sleep(0.004)', ms: 4 };
  expect(
    describePlace({ part: { ...part, in: 'sleep', for: 'a timer' }, before: 0, after: 4.14, ...CHANGE }),
  ).toBe(
    'Each request waits 4.14 ms for a timer at main.py:12 (`await asyncio.sleep(0.004)`, in sleep) instead of none.',
  );
  const statement = { text: 'select pg_sleep(?)', count: 1, ms: 4 };
  expect(describeTime({ part: statement, before: 4.2, after: 0, ...CHANGE })).toBe(
    'No request waits any longer in the database for `select pg_sleep(?)`: 4.20 ms before.',
  );
});
