import { describe, expect, it } from 'vitest';
import type { FoundCapacity, Step } from 'bench-model/measured';
import { makeReason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { mean } from 'bench-statistics/numbers';
import { createRandom, type Random } from 'bench-statistics/random';
import { differencesWithin } from '../src/compare.ts';
import { locateWithin } from '../src/differences.ts';
import { summarise } from '../src/summary.ts';
import { okTrial, sampleMeasured, suspectTrial } from '../../bench-lab/testing/samples.ts';

const FEW = makeReason('few-answers', { answers: 10, needed: 1000, promise: 'p99 < 20 ms' });
const PAIR = { candidate: 'b', baseline: 'a', connections: 100 };
/** The share of slow requests grows e-fold when the rate does by 1/SLOPE. */
const SLOPE = 12;

/** A search whose trial takes the slope for a random one, as one trial tells it. */
function search(capacity: number, random: Random, given: Partial<FoundCapacity> = {}): FoundCapacity {
  const steps = [0.5, 1.5].map((odds): Step => {
    const perSecond = capacity * (1 + odds / SLOPE);
    const noise = 1 + 0.2 * (random.float() - 0.5);
    return {
      perSecond,
      seconds: 5,
      servedPerSecond: perSecond,
      failedShare: 0,
      limit: 'server',
      generatorBusy: 0.2,
      requests: 2000,
      brokenShare: 0.01 * Math.exp(odds) * noise,
    };
  });
  const perSecond = capacity * (1 + 0.3 * (random.float() - 0.5));
  return { perSecond, by: { of: 'p99', belowUs: 20_000 }, pacePerSecond: 500, steps, ...given };
}

function run(ratio: number, given: Partial<FoundCapacity> = {}): Trial[] {
  const random = createRandom(7);
  return Array.from({ length: 9 }, (_, index) => {
    const round = { round: index + 1, connections: 100 };
    const trial = (target: string, capacity: number, own = {}): Trial =>
      okTrial(target, sampleMeasured({ given: { capacity: search(capacity, random, own) } }), round);
    return [trial('a', 400), trial('b', 400 * ratio, given)];
  }).flat();
}

function spreadOf(values: readonly number[]): number {
  return Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
}

const valuesOf = (trials: readonly Trial[]): number[] =>
  differencesWithin(trials, PAIR, 'capacity').flatMap((one) => one?.value ?? []);

describe('the capacities of two targets', () => {
  it('are compared by one slope, without the noise of one for each trial', () => {
    const values = valuesOf(run(0.9));
    expect(Math.abs(mean(values) - Math.log(1 / 0.9))).toBeLessThan(0.02);
    expect(spreadOf(values)).toBeLessThan(0.03);
  });

  it('are compared as found if different promises decided', () => {
    const values = valuesOf(run(1, { by: { of: 'p50', belowUs: 5000 } }));
    expect(spreadOf(values)).toBeGreaterThan(0.05);
  });

  it('count a search whose own slope was nearly flat by chance, and whose own estimate was far off', () => {
    const [first, ...others] = run(0.9) as [Trial, ...Trial[]];
    if (first.status === 'failed') throw new Error('it has not failed');
    const { capacity } = first.measured;
    const given = capacity?.steps ?? [];
    const brokenShare = mean(given.map((step) => step.brokenShare));
    const steps = given.map((step) => ({ ...step, brokenShare }));
    const flat = { ...first.measured, capacity: { ...capacity, perSecond: 900, steps } as FoundCapacity };
    const spoilt = suspectTrial('a', flat, [FEW], { round: 1, connections: 100 });
    const differences = differencesWithin([spoilt, ...others], PAIR, 'capacity');
    const { centre, interval } = locateWithin(differences, 0.05);
    expect(Math.abs(centre - Math.log(1 / 0.9))).toBeLessThan(0.02);
    expect(interval?.low).toBeGreaterThan(0.05);
    expect(interval?.high).toBeLessThan(0.2);
  });

  it('have bounds if too few answers are near them, and those of the trial if its search was spoilt', () => {
    const [first, ...others] = run(1) as [Trial, ...Trial[]];
    if (first.status === 'failed') throw new Error('it has not failed');
    const { capacity } = first.measured;
    const steps = capacity?.steps.map((step) => ({ ...step, requests: 100 })) ?? [];
    const short = { ...first.measured, capacity: { ...capacity, steps } as FoundCapacity };
    const broken = makeReason('promise-broken', { promise: 'p99 < 20 ms', perSecond: 400, brokenShare: 0.1 });
    const [few, spoilt] = (
      [
        [short, FEW],
        [first.measured, broken],
      ] as const
    ).map(([measured, reason]) => {
      const trial = suspectTrial('a', measured, [reason], { round: 1, connections: 100 });
      return differencesWithin([trial, ...others], PAIR, 'capacity')[0];
    });
    expect((few?.high ?? 0) - (few?.low ?? 0)).toBeGreaterThan(0.1);
    expect(few?.low).toBeGreaterThan(-1);
    expect(spoilt?.low ?? -Infinity).toBe(-Infinity);
  });
});

describe('the capacity of a row', () => {
  it('is the Hodges-Lehmann estimate of its rounds, which rare bursts move', () => {
    const found = [380, 380, 380, 380, 420, 430, 440];
    const trials = found.map((perSecond, index) => {
      const capacity = { ...search(400, createRandom(index)), perSecond };
      return okTrial('a', sampleMeasured({ given: { capacity } }), { round: index + 1 });
    });
    const figure = summarise(trials)[0]?.figures.capacity;
    expect(figure?.median).toBeGreaterThan(385);
    expect(figure?.median).toBeLessThan(420);
    expect(figure?.interval?.low).toBeCloseTo(380);
  });
});
