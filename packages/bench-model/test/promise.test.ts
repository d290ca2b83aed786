import { describe, expect, it } from 'vitest';
import { allowedShare, describePromises, readPromises } from '../src/promise.ts';

describe('a promise', () => {
  it('is a percentile, the slowest response, or the share of failures, below a limit with its unit', () => {
    expect(readPromises('p99<50ms', 'slo')).toEqual([{ of: 'p99', belowUs: 50_000 }]);
    expect(readPromises('p99.9 < 0.2s, max<1.5s,errors<0.1%', 'slo')).toEqual([
      { of: 'p99.9', belowUs: 200_000 },
      { of: 'max', belowUs: 1_500_000 },
      { of: 'errors', belowShare: 0.001 },
    ]);
  });

  it('is shown as it is said', () => {
    const texts = ['p50<800us', 'p99<2.5ms', 'p90<1s', 'errors<0.05%'];
    expect(texts.map((text) => describePromises(readPromises(text, 'slo')))).toEqual([
      'p50 < 800 µs',
      'p99 < 2.5 ms',
      'p90 < 1 s',
      'errors < 0.05 %',
    ]);
  });

  it.each([
    'p99',
    'p99<',
    'p99<50',
    'p99<0ms',
    'p95<50ms',
    'p99>50ms',
    'errors<3',
    'errors<100%',
    'p99<5%',
    '',
  ])('is not %j: the error has an example', (text) => {
    expect(() => readPromises(text, 'slo')).toThrow(
      expect.objectContaining({ code: 'usage', hint: expect.stringContaining("--slo 'p99<50ms'") }),
    );
  });

  it('has one limit', () => {
    expect(() => readPromises('p99<50ms,p99<20ms', 'slo')).toThrow('p99 has two limits');
  });

  it('allows the share beyond its percentile; a maximum less than one request in two steps', () => {
    const [p99, max, errors] = readPromises('p99<50ms,max<1s,errors<0.1%', 'slo') as [never, never, never];
    expect(allowedShare(p99, 5000)).toBe(0.01);
    expect(allowedShare(max, 1000)).toBeCloseTo(0.00069, 5);
    expect(allowedShare(errors, 10)).toBe(0.001);
  });
});
