import { expect, it } from 'vitest';
import { tableInMarkdown } from '../src/markdown.ts';

const shown = (cell: string): string => tableInMarkdown(['a'], [[cell]])[2] ?? '';

it('writes targets on a runtime as code, because GitHub takes them for addresses of mail', () => {
  expect(shown('uvicorn/interpreted@3.14.6+jit')).toBe('| `uvicorn/interpreted@3.14.6+jit` |');
  expect(shown('6 worse (fastapi@3.15+jit +40 %, fastapi@3.14: no)')).toBe(
    '| 6 worse (`fastapi@3.15+jit` +40 %, `fastapi@3.14`: no) |',
  );
  expect(shown('`fastapi@3.14` as code')).toBe('| `fastapi@3.14` as code |');
  expect(shown('fastapi@3.14{PYTHON_GIL=0}')).toBe('| `fastapi@3.14{PYTHON_GIL=0}` |');
  expect(shown('itself on @3.13')).toBe('| itself on @3.13 |');
});
