import { describe, expect, it } from 'vitest';
import { replaceDisturbed } from '../../src/conduct/study.ts';
import { planAlone } from '../../src/plan/alone.ts';
import { samplePlan } from '../../../bench-lab/testing/samples.ts';

const whole = samplePlan('');
const plan = planAlone(whole, 'warm', whole.targets, 4);
const [first, second] = plan.targets.map(({ id }) => id) as [string, string];

function disturbed(count: number) {
  return [{ id: first, disturbed: count }];
}

describe('processes in place of disturbed ones', () => {
  it('are as many as were disturbed, with new places and ids', () => {
    const more = replaceDisturbed(
      plan,
      [
        { id: first, disturbed: 0 },
        { id: second, disturbed: 2 },
      ],
      2,
    );
    expect(more.map(({ target, round }) => [target, round])).toEqual([
      [second, 5],
      [second, 6],
    ]);
    const all = [...plan.trials, ...more];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all.map(({ order }) => order)).toEqual(all.map((_, order) => order));
  });

  it('are not more than the spare ones over the whole study', () => {
    const once = replaceDisturbed(plan, disturbed(1), 2);
    const longer = { ...plan, trials: [...plan.trials, ...once] };
    expect(replaceDisturbed(longer, disturbed(1), 2)).toEqual([]);
    const twice = replaceDisturbed(longer, disturbed(3), 2);
    expect(twice).toHaveLength(1);
    expect(replaceDisturbed({ ...plan, trials: [...longer.trials, ...twice] }, disturbed(4), 2)).toEqual([]);
    expect(replaceDisturbed(plan, disturbed(4), 0)).toEqual([]);
  });
});
