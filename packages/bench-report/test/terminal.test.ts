import { expect, it } from 'vitest';
import type { View } from '../src/content.ts';
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

it('says what is the same in each row once, above the table', () => {
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
  expect(lines[1]).toBe('  in each row: class raw, status ok');
  expect(lines[3]?.match(/[a-z]\S*/g)).toEqual(['target', 'p99', 'limit']);
  expect(lines.at(-2)).toBe('  class: how it was written.');
});
