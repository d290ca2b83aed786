import { describe, expect, it } from 'vitest';
import { viewTable, type View } from '../src/content.ts';
import { describeCopies } from '../src/plan.ts';
import { toTable } from '../src/table.ts';
import { renderRows, renderTerminal } from '../src/terminal.ts';
import { wrap } from '../src/width.ts';

it('shows wide characters whole, and aligns what follows them', () => {
  const rows = [
    ['GET /商品/一覧', '12'],
    ['GET /orders', '8'],
  ];
  expect(renderRows(['request', 'ms'], rows, ['request'])).toBe(
    ['request         ms', 'GET /商品/一覧  12', 'GET /orders      8'].join('\n'),
  );
});

it('breaks lines by what a terminal shows', () => {
  expect(wrap('ab 商品 cd', 7)).toBe('ab 商品\n    cd');
  expect(wrap('ab 商品 cd', 6)).toBe('ab\n    商品\n    cd');
});

it('says what is the same in each row once, below the table', () => {
  const view: View = {
    title: 'devices, 3 rounds',
    setting: [],
    columns: ['target', 'class', 'p99', 'limit', 'status'],
    words: ['target', 'class', 'limit', 'status'],
    expendable: [],
    shareable: ['class', 'limit', 'status'],
    groups: [
      { heading: '10 connections', rows: [['a', 'raw', '1 ms', 'server', 'ok']] },
      { heading: '100 connections', rows: [['a', 'raw', '1 ms', 'waiting', 'ok']] },
    ],
    signs: [{ column: 'class', text: 'class: how it was written.' }],
    notes: [],
  };
  const lines = renderTerminal(view).split('\n');
  expect(lines.at(-3)).toBe('  In each row: class raw, status ok');
  expect(lines[2]?.match(/[a-z]\S*/g)).toEqual(['target', 'p99', 'limit']);
  expect(lines.at(-2)).toBe('  class: how it was written.');
});

describe('a narrow page', () => {
  const cells = ['fastapi[HEAD 1914504]', 'slower: +56 % (+50 % to +73 %)'];
  const columns = ['target', 'verdict'];

  it('keeps intervals on one line, and colours verdicts', () => {
    const view = viewTable({ title: 'run', columns, rows: [cells], notes: [] }, []);
    const text = renderTerminal(view, {
      width: 40,
      paint: (style, painted) => (style === 'bad' ? `<${painted}>` : painted),
    });
    expect(text).toMatch(/<slower:.*\n.*<?\(\+50 % to \+73 %\)>/);
  });

  it('says nothing of settings as copies: their names are all', () => {
    const copy = { kind: 'setting', name: 'A=1' };
    expect(describeCopies({ targets: [{ copy }] } as never)).toEqual([]);
  });

  it('has the status of trials that are not ok, and is brief about the setting', () => {
    const row = { target: 'a', class: 'raw', connections: 10, rounds: 2, figures: {}, limits: [] };
    const statuses = { ok: 1, suspect: 1, failed: 0 };
    expect(toTable([{ ...row, statuses } as never]).expendable).not.toContain('status');
    expect(toTable([{ ...row, statuses: { ok: 2, suspect: 0, failed: 0 } } as never]).expendable).toContain(
      'status',
    );
    const view = {
      ...viewTable({ title: 'run', columns, rows: [cells], notes: [] }, []),
      setting: ['all'],
      brief: { setting: ['some'], notes: ['checked'] },
    };
    expect(renderTerminal(view, { noteLines: 10 })).toContain('some');
    expect(renderTerminal(view)).toContain('all');
  });
});
