import { describe, expect, it } from 'vitest';
import { compareUnpaired } from '../../src/analyse/unpaired.ts';
import { createRandom, type Random } from '../../src/random.ts';

const RULES = { better: 'lower', threshold: 0.02 } as const;

const figures = (random: Random, count: number, level: number, noise: number): number[] =>
  Array.from({ length: count }, () => level * Math.exp(noise * random.normal()));

describe('compareUnpaired', () => {
  it('finds a shift, marks it unpaired, and names it by what is better', () => {
    const random = createRandom(16);
    const row = { candidate: figures(random, 12, 110, 0.02), baseline: figures(random, 10, 100, 0.02) };
    const [lower] = compareUnpaired([row], RULES);
    const [higher] = compareUnpaired([row], { ...RULES, better: 'higher' });
    expect(lower).toMatchObject({ paired: false, verdict: 'slower', byMoreThanThreshold: true, rounds: 10 });
    expect(higher).toMatchObject({ paired: false, verdict: 'faster', byMoreThanThreshold: true, rounds: 10 });
    expect(lower?.ratio?.estimate).toBeCloseTo(1.1, 1);
    expect(higher?.ratio?.estimate).toBeCloseTo(lower!.ratio!.estimate, 12);
    expect(higher?.ratio?.interval?.low).toBeCloseTo(lower!.ratio!.interval!.low, 12);
    expect(lower?.interval?.low).toBeGreaterThan(0);
  });

  it('finds equal values the same', () => {
    const random = createRandom(17);
    const row = { candidate: figures(random, 20, 100, 0.005), baseline: figures(random, 20, 100, 0.005) };
    expect(compareUnpaired([row], RULES)[0]?.verdict).toBe('same');
  });

  it('returns an estimate and a range, but no interval, for too few values', () => {
    const [few] = compareUnpaired([{ candidate: [110, 111, 112], baseline: [100, 101, 102] }], RULES);
    expect(few).toMatchObject({ verdict: 'undecided', why: 'too-few-rounds', adjustedP: 0.1 });
    expect(few?.interval).toBeUndefined();
    expect(few?.ratio?.range.low).toBeCloseTo(110 / 102, 12);
    expect(compareUnpaired([{ candidate: [], baseline: [1] }], RULES)[0]).toMatchObject({
      rounds: 0,
      adjustedP: 1,
    });
  });

  it('drops values without a ratio, and counts them as the worst figures if they exceed 5 % of a side', () => {
    const random = createRandom(18);
    const candidate = figures(random, 20, 110, 0.02);
    const baseline = figures(random, 20, 100, 0.02);
    const one = compareUnpaired([{ candidate: candidate.with(3, 0), baseline }], RULES)[0];
    expect(one).toMatchObject({ verdict: 'slower', dropped: 1, rounds: 19 });
    const known = candidate.slice(2);
    const two = compareUnpaired([{ candidate: [...known, undefined, undefined], baseline }], RULES)[0]!;
    expect(two).toMatchObject({ verdict: 'slower', dropped: 2, rounds: 18 });
    const [highest, lowest] = [1e300, 1e-300].map(
      (worst) => compareUnpaired([{ candidate: [...known, worst, worst], baseline }], RULES)[0]!,
    );
    expect(two.interval!.low).toBeCloseTo(lowest!.interval!.low, 12);
    expect(two.interval!.high).toBeCloseTo(highest!.interval!.high, 12);
    expect(two.adjustedP).toBeCloseTo(Math.max(highest!.adjustedP, lowest!.adjustedP), 12);
    const half = known.map((figure, at) => (at % 2 === 0 ? figure : undefined));
    expect(compareUnpaired([{ candidate: half, baseline }], RULES)[0]).toMatchObject({
      verdict: 'undecided',
      why: 'blocks-dropped',
      adjustedP: 1,
    });
  });

  it('divides the error budget among several rows', () => {
    const random = createRandom(19);
    const row = { candidate: figures(random, 8, 104, 0.02), baseline: figures(random, 8, 100, 0.02) };
    const noise = { candidate: figures(random, 8, 100, 0.02), baseline: figures(random, 8, 100, 0.02) };
    const [alone] = compareUnpaired([row], RULES);
    const [shared] = compareUnpaired([row, noise, noise], RULES);
    expect(shared!.adjustedP).toBeCloseTo(Math.min(1, 3 * alone!.adjustedP), 12);
    expect(shared!.interval!.low).toBeLessThan(alone!.interval!.low);
  });

  it('calls equal sides faster or slower in at most 5.5 % of 2,000 pairs', () => {
    const random = createRandom(20);
    let wrong = 0;
    for (let pair = 0; pair < 2000; pair++) {
      const row = { candidate: figures(random, 9, 100, 0.08), baseline: figures(random, 8, 100, 0.08) };
      const [{ verdict } = { verdict: 'undecided' }] = compareUnpaired([row], RULES);
      if (verdict === 'faster' || verdict === 'slower') wrong++;
    }
    expect(wrong / 2000).toBeLessThanOrEqual(0.055);
    expect(wrong / 2000).toBeGreaterThan(0.03);
  });

  it('compares 150 rounds with 130', () => {
    const random = createRandom(22);
    const row = { candidate: figures(random, 150, 103, 0.03), baseline: figures(random, 130, 100, 0.03) };
    const [comparison] = compareUnpaired([row], RULES);
    expect(comparison).toMatchObject({ verdict: 'slower', rounds: 130, byMoreThanThreshold: true });
    expect(comparison?.ratio?.estimate).toBeCloseTo(1.03, 2);
  });
});
