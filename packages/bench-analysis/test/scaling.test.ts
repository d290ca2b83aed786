import { describe, expect, it } from 'vitest';
import { toScalings, type Scaling } from '../src/scaling.ts';
import { compareWithin } from '../src/compare.ts';
import { summarise } from '../src/summary.ts';
import type { Placement, Trial } from 'bench-model/record';
import { makeReason } from 'bench-model/reasons';
import type { Target } from 'bench-model/target';
import {
  failedTrial,
  okTrial,
  sampleMeasured,
  samplePlan,
  sampleResources,
  sampleTarget,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const BOUND = makeReason('generator-bound', { busy: 0.95, coresUsed: 0.5 });

const scaled = (workers: number): Target => ({
  ...sampleTarget(`fastify (${workers} worker${workers > 1 ? 's' : ''})`),
  scale: { of: 'fastify (1 worker)', workers, cores: workers },
});
const [ONE, TWO] = [scaled(1), scaled(2)];

function trialsOf(target: Target, goodputs: number[], placement?: Placement): Trial[] {
  return goodputs.map((goodput, index) =>
    okTrial(target.id, sampleMeasured({ goodput, cpu: 20, given: { server: sampleResources(1) } }), {
      target,
      round: index + 1,
      ...(placement && { placement }),
    }),
  );
}

function scale(trials: Trial[]): Scaling['rows'] {
  const [scaling, ...more] = toScalings(summarise(trials), [ONE, TWO], trials);
  expect(more).toEqual([]);
  expect(scaling).toMatchObject({ of: ONE.id, connections: 10 });
  return scaling?.rows ?? [];
}

describe('toScalings', () => {
  it('divides the goodputs of the same rounds', () => {
    // The machine is three times as fast in the second round.
    const [base, two] = scale([...trialsOf(ONE, [100, 300, 110]), ...trialsOf(TWO, [180, 570, 198])]);
    expect(base?.speedUp).toMatchObject({ median: 1, least: 1, most: 1, valid: true, atLeast: false });
    expect(two?.speedUp).toMatchObject({ median: 1.8, least: 1.8, most: 1.9, rounds: 3, atLeast: false });
    expect(two?.efficiency?.median).toBeCloseTo(0.9, 12);
    expect(two?.coresUsed).toBe(1);
    expect(two?.rounds.map(({ round }) => round)).toEqual([1, 2, 3]);
  });

  it('gives a lower bound if the load was the limit of the larger server', () => {
    const bound = suspectTrial(TWO.id, sampleMeasured({ goodput: 180 }), [BOUND], { target: TWO, round: 1 });
    const [, two] = scale([...trialsOf(ONE, [100]), bound]);
    expect(two?.speedUp).toMatchObject({ median: 1.8, atLeast: true, valid: true });
  });

  it('gives no valid speed-up over a lower bound', () => {
    const bound = suspectTrial(ONE.id, sampleMeasured({ goodput: 100 }), [BOUND], { target: ONE, round: 1 });
    const [base, two] = scale([bound, ...trialsOf(TWO, [180])]);
    expect(two?.speedUp).toMatchObject({ median: 1.8, valid: false, atLeast: false });
    expect(base?.speedUp).toMatchObject({ median: 1 });
  });

  it('marks servers whose cores the load shares, with a lower bound', () => {
    const shared: Placement = { kind: 'shared', server: [0, 1], generator: [0, 1] };
    const [, two] = scale([...trialsOf(ONE, [100]), ...trialsOf(TWO, [120], shared)]);
    expect(two).toMatchObject({ isShared: true, speedUp: { atLeast: true } });
  });

  it('leaves out what failed', () => {
    const failed = failedTrial(TWO.id, 'one process only', { target: TWO, round: 1 });
    const [, two] = scale([...trialsOf(ONE, [100]), failed]);
    expect(two?.speedUp).toBeUndefined();
    expect(two?.rounds).toEqual([]);
  });

  it('is empty for a run without sizes', () => {
    const trials = [okTrial('vanilla', sampleMeasured({ goodput: 1 }))];
    expect(toScalings(summarise(trials), [sampleTarget('vanilla')], trials)).toEqual([]);
  });
});

describe('a comparison of a scaled run', () => {
  it('compares each size with one worker', () => {
    const plan = { ...samplePlan('--rounds 6 --connections 10', ['fastify']), targets: [ONE, TWO] };
    const trials = [
      ...trialsOf(ONE, [100, 100, 100, 100, 100, 100]),
      ...trialsOf(TWO, [200, 200, 200, 200, 200, 200]),
    ];
    const { baseline, rows } = compareWithin({ plan, trials }, { by: 'goodput', threshold: 0.02 });
    expect(baseline).toBe('one worker');
    expect(rows).toMatchObject([{ candidate: TWO.id, baseline: ONE.id, comparison: { verdict: 'faster' } }]);
  });
});
