import { expect, it } from 'vitest';
import { suggest } from '../src/suggest.ts';

it('suggests only similar words, the closest first', () => {
  expect(suggest('fastfy', ['vanilla', 'fastapi', 'fastify'])).toBe('did you mean fastify?');
  expect(suggest('ab', ['xyz', 'abcd', 'ab', 'abc', 'b'])).toBe('did you mean ab, abc, b?');
  expect(suggest('FETCH', ['GET', 'PATCH'])).toBeUndefined();
  expect(suggest('--aa', ['--all', '--app', '--by'])).toBeUndefined();
  expect(suggest('reprot', ['report', 'prune'])).toBe('did you mean report?');
  expect(suggest('wkr', ['wrk', 'k6'])).toBe('did you mean wrk?');
  expect(suggest('apache', ['nginx', 'embedded'])).toBeUndefined();
  expect(suggest('up', ['upstream'])).toBeUndefined();
  expect(suggest('upstream/nginx', ['up', 'upstream'])).toBe('did you mean upstream?');
  expect(suggest('upst', ['upstream'])).toBe('did you mean upstream?');
});
