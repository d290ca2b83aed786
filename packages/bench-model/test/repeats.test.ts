import { describe, expect, it } from 'vitest';
import type { Target } from '../src/target.ts';
import { isRepeated, undisturbedOf } from '../src/repeats.ts';
import { samplePlan } from '../../bench-lab/testing/samples.ts';

const LINE = '--aa --background "GET /a" --cross-check aiohttp --connections 10';
const { targets } = samplePlan(LINE, ['vanilla']);

describe('a plan with an A/A target, a background request and a second engine', () => {
  it('changes only one property between a target and its repeat', () => {
    expect(targets.map(({ id, repeats }) => [id, repeats])).toEqual([
      ['vanilla', undefined],
      ['vanilla by aiohttp', { targetId: 'vanilla', kind: 'cross-check' }],
      ['vanilla (A/A)', { targetId: 'vanilla', kind: 'a/a' }],
      ['vanilla (A/A) by aiohttp', { targetId: 'vanilla (A/A)', kind: 'cross-check' }],
      ['vanilla (with GET /a)', { targetId: 'vanilla', kind: 'background' }],
      ['vanilla (with GET /a) by aiohttp', { targetId: 'vanilla (with GET /a)', kind: 'cross-check' }],
    ]);
  });

  it('recognises a repeat of a repeat', () => {
    const repeated = (as: 'a/a' | 'background' | 'cross-check') =>
      targets.filter((target) => isRepeated(as, target, targets)).map(({ id }) => id);
    expect(repeated('a/a')).toEqual(['vanilla (A/A)', 'vanilla (A/A) by aiohttp']);
    expect(repeated('background')).toEqual(['vanilla (with GET /a)', 'vanilla (with GET /a) by aiohttp']);
    expect(repeated('cross-check')).toEqual(targets.filter(({ engine }) => engine).map(({ id }) => id));
  });

  it('finds the target without the background request, measured by the same engine', () => {
    expect(targets.map((target) => undisturbedOf(target, targets))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'vanilla',
      'vanilla by aiohttp',
    ]);
    const without = targets.filter(({ id }) => !id.startsWith('vanilla by'));
    expect(undisturbedOf(targets.at(-1)!, without)).toBeUndefined();
    const alone = targets.filter(({ id }) => id !== 'vanilla');
    expect(undisturbedOf(targets.at(-2)!, alone)).toBeUndefined();
  });

  it('terminates if a stored target repeats itself', () => {
    const odd: Target = { ...targets[0]!, repeats: { targetId: 'vanilla', kind: 'a/a' } };
    expect(isRepeated('background', odd, [odd])).toBe(false);
    expect(undisturbedOf(odd, [odd])).toBeUndefined();
  });
});
