import { expect, it } from 'vitest';
import { renderRows } from '../src/terminal.ts';
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
