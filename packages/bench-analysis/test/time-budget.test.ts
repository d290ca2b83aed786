import { estimateSeconds, secondsPerRound } from 'bench-model/planned';
import { describe, expect, it } from 'vitest';
import { trackRun } from '../src/due.ts';
import { findShortBudget, keepTime, longestWarmup } from '../src/time-budget.ts';
import type { Plan } from 'bench-model/plan';
import type { Trial } from 'bench-model/record';
import { okTrial, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

const planOf = (line: string): Plan => samplePlan(`--connections 10 --threshold 2% ${line}`, ['a', 'b']);

/** The time of a round of two trials, by estimate. */
const ROUND = secondsPerRound(planOf(''));
/** What a budget allows for a round: warm-ups may be longer than is usual. */
const SLOW = 1.5 * ROUND;

/** Plays a run whose rounds take `pace` times their estimate. Returns its rounds, and the seconds that they took. */
function play(plan: Plan, { pace = 1, before = [] as Trial[] } = {}) {
  let nowMs = 0;
  const mayBegin = keepTime(plan, trackRun(plan), { before, now: () => nowMs });
  const trials = [...before];
  const kept = new Set(before.map(({ id }) => id));
  for (const planned of plan.trials) {
    if (kept.has(planned.id)) continue;
    if (!mayBegin(trials)) break;
    nowMs += 1000 * pace * estimateSeconds(plan, [planned]);
    const target = plan.targets.find(({ id }) => id === planned.target)!;
    const cpu = 100 * (1 + 0.1 * (-1) ** (planned.round + (planned.target === 'a' ? 0 : 1)));
    const { id, connections, round, order } = planned;
    const trial = okTrial(planned.target, sampleMeasured({ cpu }), { id, connections, round, order });
    trials.push({ ...trial, target });
  }
  return { trials, rounds: trials.at(-1)?.round ?? 0, seconds: nowMs / 1000 };
}

describe('keepTime', () => {
  it('begins no round that the budget does not hold', () => {
    const { rounds, seconds } = play(planOf(`--budget ${10.5 * ROUND}s`));
    expect(rounds).toBe(10);
    expect(seconds).toBeCloseTo(10 * ROUND, 6);
  });

  it('follows the pace of the rounds so far', () => {
    const { rounds, seconds } = play(planOf(`--budget ${20.5 * ROUND}s`), { pace: 2.5 });
    expect(rounds).toBe(8);
    expect(seconds).toBeLessThanOrEqual(20.5 * ROUND);
  });

  it('is not exceeded for the one round that a comparison still needs', () => {
    expect(play(planOf(`--budget ${5.5 * ROUND}s`))).toMatchObject({ rounds: 5 });
  });

  it('stops if no comparison can be decided any more', () => {
    expect(play(planOf(`--budget ${4.5 * ROUND}s`))).toMatchObject({ rounds: 4 });
    expect(play(planOf(`--budget ${8.2 * ROUND}s`), { pace: 4 })).toMatchObject({ rounds: 2 });
  });

  it('gives a continued run its budget anew', () => {
    const plan = planOf(`--budget ${10.5 * ROUND}s`);
    const { trials } = play(plan);
    expect(play(plan, { before: trials }).rounds).toBe(20);
  });

  it('allows every trial without a budget', () => {
    const plan = planOf('');
    expect(keepTime(plan, trackRun(plan), { before: [], now: () => Infinity })([])).toBe(true);
  });
});

describe('findShortBudget', () => {
  it('names the budget that holds the rounds of a comparison', () => {
    const short = findShortBudget(planOf(`--budget ${2.5 * SLOW}s`));
    expect(short).toMatchObject({ held: 2, needed: 3, enoughSeconds: 3 * SLOW });
    expect(play(planOf(`--budget ${short!.enoughSeconds}s`)).rounds).toBeGreaterThan(3);
    expect(findShortBudget(planOf(`--budget ${3.5 * SLOW}s`))).toBeUndefined();
  });

  it('finds none without a budget, and none for a single target', () => {
    expect(findShortBudget(planOf(''))).toBeUndefined();
    const alone = samplePlan('--connections 10 --budget 5s', ['a']);
    expect(findShortBudget(alone)).toBeUndefined();
  });
});

describe('longestWarmup', () => {
  it('leaves the rounds of the first look most of a budget, and is not bounded without one', () => {
    const plan = planOf('--budget 60s');
    const { needed } = findShortBudget(planOf('--budget 1s'))!;
    expect(needed * 2 * longestWarmup(plan)).toBeCloseTo(0.4 * 60, 9);
    expect(longestWarmup(planOf(''))).toBe(Infinity);
  });
});
