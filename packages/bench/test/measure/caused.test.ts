import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { causedBetween, placesOf, withoutValues, withTold } from '../../src/measure/caused.ts';

describe('a statement without its values', () => {
  it.for([
    [
      "SELECT *\n  FROM book WHERE author_id = 5 AND title = 'it''s'",
      'SELECT * FROM book WHERE author_id = ? AND title = ?',
    ],
    ['select 1 from t2 where a in ($1, $2, $3)', 'select ? from t2 where a in (?)'],
    ['select * from t where a in ($1 /*, ... */)', 'select * from t where a in (?)'],
    ['INSERT INTO t VALUES (1, 2.5), (3, 4)', 'INSERT INTO t VALUES (?)'],
    ['SELECT * FROM `t` WHERE `a` IN (...)', 'SELECT * FROM `t` WHERE `a` IN (...)'],
  ] as const)('%s', ([text, bare]) => {
    expect(withoutValues(text)).toBe(bare);
  });
});

describe('what requests cause', () => {
  it('is the difference of two counts, for each response', () => {
    const before = { fetches: 5, statements: [{ text: 'select $1', count: 7, ms: 1 }] };
    const after = {
      fetches: 105,
      statements: [
        { text: 'select $1', count: 207, ms: 21 },
        { text: 'create table a', count: 0, ms: 0 },
      ],
    };
    expect(causedBetween(before, after, 100)).toEqual({
      fetches: 1,
      statements: [{ text: 'select ?', count: 2, ms: 0.2 }],
    });
  });

  it('has the statements that a server tells, by their text without values', () => {
    const told = withTold({}, { statements: { 'select 1': 30, 'select 2': 10 } });
    expect(causedBetween({}, told, 20)).toEqual({ statements: [{ text: 'select ?', count: 2 }] });
    expect(causedBetween({}, withTold({}, {}), 20)).toEqual({});
  });
});

it('a place at which requests wait has the text of its line', () => {
  const root = mkdtempSync(join(tmpdir(), 'bench-places-'));
  const file = join(root, 'main.py');
  writeFileSync(file, 'async def read():\n    await asyncio.sleep(1)\n');
  const waits = [
    { file: join(root, 'gone.py'), name: 'gone', line: 9, in: '', ms: 100 },
    { file, name: 'read', line: 2, in: 'sleep', ms: 400 },
  ];
  expect(placesOf(waits, root, 100)).toEqual([
    { file: 'main.py', name: 'read', line: 2, code: 'await asyncio.sleep(1)', in: 'sleep', ms: 4 },
    { file: 'gone.py', name: 'gone', line: 9, code: 'gone', ms: 1 },
  ]);
  rmSync(root, { recursive: true });
});
