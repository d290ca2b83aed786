import { describe, expect, it } from 'vitest';
import { gather } from '../../../src/catalogue/workloads/gather.ts';
import { findWorkload } from '../../../src/catalogue/workloads/index.ts';

const PARAMS = { fixtures: 3, items: 2 };
const draw = gather.draw(() => 0.5, PARAMS);
const texts = gather.fixtures?.(PARAMS) ?? [];
const answer = (body: string, contentType = 'application/json') =>
  draw.check({ status: 200, contentType, body: Buffer.from(body) }, 0);

describe('gather', () => {
  it('requests /data, for which the server fetches each fixture once', () => {
    expect(findWorkload('gather')).toBe(gather);
    expect(draw.requests).toEqual([{ method: 'GET', path: '/data', headers: {} }]);
    expect(JSON.parse(draw.files['BENCH_FIXTURES'] ?? '')).toEqual([
      '/fixtures/0.json',
      '/fixtures/1.json',
      '/fixtures/2.json',
    ]);
    expect(draw.fetches).toBe(3);
    expect(draw.timing).toBe('gather');
  });

  it('accepts only a complete list of objects in the order of the fixtures', () => {
    const items = texts.flatMap((text) => JSON.parse(text) as object[]);
    expect(items).toHaveLength(6);
    expect(answer(JSON.stringify(items, null, 1))).toBeUndefined();
    expect(
      answer(JSON.stringify(items.map((item) => Object.fromEntries(Object.entries(item).toReversed())))),
    ).toBe(undefined);
    expect(answer(JSON.stringify(items.slice(0, -1)))).toMatch(/^wrong body/);
    expect(answer(JSON.stringify(items.toReversed()))).toMatch(/^wrong body/);
    expect(answer('[]')).toMatch(/^wrong body/);
    expect(answer(JSON.stringify(items), 'text/plain')).toMatch(/^content type/);
  });

  it('is the same in every trial', () => {
    expect(gather.draw(() => 0.1, PARAMS).files).toEqual(draw.files);
    expect(gather.fixtures?.(PARAMS)).toEqual(texts);
  });
});
