import { describe, expect, it } from 'vitest';
import type { Plan } from 'bench-model/plan';
import { toModel } from '../src/model/model.ts';
import { describeSetting } from '../src/view.ts';
import { readGoldenRun, samplePlan } from '../../bench-lab/testing/samples.ts';

const study = {
  run: '20261123-120000-warm',
  processes: 1,
  settled: 1,
  observedSeconds: 20,
  warmSeconds: 0,
  warmAnswers: 0,
  excess: 1,
};

/** Returns the lines about the warm-up of a run. */
function linesOf(warmups: NonNullable<Plan['warmups']>): string[] {
  const plan: Plan = {
    ...samplePlan('--rounds 1 --connections 10', ['a', 'b', 'c']),
    autoWarmup: true,
    warmupSeconds: 2,
    warmups,
  };
  const model = toModel({ plan, host: readGoldenRun().host, versions: {}, leftOut: [], trials: [] });
  return describeSetting(model).filter((line) => line.startsWith('warm-up by target'));
}

describe('the warm-up of a run', () => {
  it('is named for each target that takes longer or was not studied, and only once', () => {
    const rungs = [10];
    const warmups = [
      { target: 'a', rungs, seconds: 3, study },
      { target: 'b', rungs, seconds: 3 },
      { target: 'c', rungs, seconds: 2 },
    ];
    expect(linesOf(warmups)).toEqual([
      'warm-up by target, at most 30 s: a 3 s; b 3 s, not studied; c 2 s, not studied',
    ]);
  });

  it('is named with its numbers of connections if they differ in it', () => {
    const warmups = [
      { target: 'a', rungs: [1], seconds: 2, study },
      { target: 'a', rungs: [10, 100], seconds: 4, study },
    ];
    expect(linesOf(warmups)).toEqual([
      'warm-up by target, at most 30 s: a 2 s at 1 connection and 4 s at 10, 100 connections',
    ]);
  });

  it('is not named if every target was studied and is warm after the default', () => {
    expect(linesOf([{ target: 'a', rungs: [10], seconds: 2, study }])).toEqual([]);
  });
});
