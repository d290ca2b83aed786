import { describe, expect, it } from 'vitest';
import { asyncfib, fib } from '../../../src/catalogue/workloads/fib.ts';
import { completeParams, findWorkload } from '../../../src/catalogue/workloads/index.ts';
import type { Params } from '../../../src/catalogue/workloads/workload.ts';
import { errorOf } from '../../../../bench-lab/testing/samples.ts';

const drawOf = (n: number): ReturnType<typeof fib.draw> => fib.draw(() => 0.5, { n });

const wrongWith = (n: number, body: string): string | undefined =>
  drawOf(n).check({ status: 200, contentType: 'application/json', body: Buffer.from(body) }, 0);

describe('fib', () => {
  it.each([
    [0, 1],
    [1, 1],
    [2, 2],
    [20, 10_946],
    [30, 1_346_269],
    [45, 1_836_311_903],
  ])('accepts only fib(%i) = %i, with no other fields', (n, number) => {
    expect(wrongWith(n, `{ "fib": ${number} }`)).toBeUndefined();
    expect(wrongWith(n, `{"fib":${number + 1}}`)).toMatch(/^wrong body/);
    expect(wrongWith(n, `{"fib":"${number}"}`)).toMatch(/^wrong body/);
    expect(wrongWith(n, `{"fib":${number},"n":${n}}`)).toMatch(/^wrong body/);
  });

  it('sends the same request in every trial, because the work must not vary', () => {
    const paths = [0, 0.3, 0.9].map((number) => fib.draw(() => number, { n: 24 }).requests);
    expect(paths).toEqual(paths.map(() => [{ method: 'GET', path: '/fib/24', headers: {} }]));
  });
});

describe('asyncfib', () => {
  it('requests the same number from another path', () => {
    const draw = asyncfib.draw(() => 0.5, { n: 24 });
    expect(draw.requests[0]?.path).toBe('/asyncfib/24');
    expect(draw.timing).toBe('fib');
    const body = Buffer.from('{"fib":75025}');
    expect(draw.check({ status: 200, contentType: 'application/json', body }, 0)).toBeUndefined();
  });
});

describe('the parameters of a workload', () => {
  it('have defaults', () => {
    expect(completeParams(fib, {})).toEqual({ n: 20 });
    expect(completeParams(fib, { n: 0 })).toEqual({ n: 0 });
    expect(completeParams(findWorkload('devices'), {})).toEqual({});
  });

  it.each<[string, Params, string]>([
    ['fib', { m: 1 }, 'expected one of n'],
    ['fib', { constructor: 1 }, 'expected one of n'],
    ['devices', { n: 1 }, 'it takes no parameters'],
    ['fib', { n: 46 }, 'from 0 to 45'],
  ])('of %s cannot be %j', (name, params, words) => {
    const error = errorOf(() => completeParams(findWorkload(name), params));
    expect(error.code).toBe('usage');
    expect(error.message).toContain(words);
  });
});
