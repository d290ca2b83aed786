import { describe, expect, it } from 'vitest';
import { createRandom } from '../src/random.ts';

describe('createRandom', () => {
  // Drawn by a separate implementation of sfc32 in Python: a seed in an old record must still give the same order.
  it.each([
    [0, [0.9817317219131122, 0.5801159137713449, 0.48707062736056117]],
    [1, [0.4143997614965732, 0.3868573653355908, 0.967716195918118]],
    [20240229, [0.5613695939450505, 0.6569560668133876, 0.8633993047850613]],
    [Number.MAX_SAFE_INTEGER, [0.04254553797168481, 0.3694926223812637, 0.14317705854789753]],
  ])('always gives the same stream for seed %i', (seed, expected) => {
    const random = createRandom(seed);
    expect(expected.map(() => random.float())).toEqual(expected);
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 53])('refuses the seed %d', (seed) => {
    expect(() => createRandom(seed)).toThrow(RangeError);
  });

  it('draws every integer below n equally often', () => {
    const random = createRandom(2);
    const counts = [0, 0, 0, 0, 0, 0, 0];
    for (let i = 0; i < 70_000; i++) counts[random.below(7)]!++;
    const chiSquare = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    expect(chiSquare).toBeLessThan(22.5);
  });

  it('has no modulo bias where 2³² is far from a multiple of n', () => {
    const random = createRandom(3);
    const n = 3 * 2 ** 30;
    let inLowerThird = 0;
    for (let i = 0; i < 30_000; i++) inLowerThird += random.below(n) < 2 ** 30 ? 1 : 0;
    expect(inLowerThird / 30_000).toBeCloseTo(1 / 3, 1.7);
  });

  it.each([0, -1, 1.5, 2 ** 33])('refuses to draw below %d', (n) => {
    expect(() => createRandom(1).below(n)).toThrow(RangeError);
  });

  it('tosses a fair coin, independent of the previous toss', () => {
    const random = createRandom(4);
    const tosses = Array.from({ length: 40_000 }, () => random.coin());
    const heads = tosses.filter(Boolean).length;
    const repeats = tosses.filter((toss, i) => toss === tosses[i - 1]).length;
    expect(Math.abs(heads - 20_000)).toBeLessThan(400);
    expect(Math.abs(repeats - 20_000)).toBeLessThan(400);
  });

  it('draws normal deviates: mean 0, variance 1, kurtosis 3', () => {
    const random = createRandom(5);
    const drawn = Array.from({ length: 100_000 }, () => random.normal());
    const moment = (power: number) => drawn.reduce((sum, x) => sum + x ** power, 0) / drawn.length;
    expect(moment(1)).toBeCloseTo(0, 1.5);
    expect(moment(2)).toBeCloseTo(1, 1.5);
    expect(moment(4)).toBeCloseTo(3, 1);
  });

  it('shuffles a copy, every order equally often', () => {
    const random = createRandom(6);
    const items = ['a', 'b', 'c'];
    const orders = new Map<string, number>();
    for (let i = 0; i < 60_000; i++) {
      const order = random.shuffle(items).join('');
      orders.set(order, (orders.get(order) ?? 0) + 1);
    }
    expect(items).toEqual(['a', 'b', 'c']);
    expect(orders.size).toBe(6);
    for (const count of orders.values()) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });
});
