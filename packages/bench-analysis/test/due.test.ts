import { describe, expect, it } from 'vitest';
import { compareWithin } from '../src/compare.ts';
import { endingOf, trackRun } from '../src/due.ts';
import type { Plan } from 'bench-model/plan';
import { createRandom } from 'bench-statistics/random';
import type { Trial } from 'bench-model/record';
import { failedTrial, okTrial, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

const CPU = { by: 'cpu', threshold: 0.02 } as const;

/** CPU per request of each target, as a multiple of the first one. `noisy` alternates around it, and no round decides it. */
type Costs = Record<string, number | 'noisy'>;

/** Measures a plan trial by trial, as a run does, and leaves out what is no longer due. */
function play(plan: Plan, costs: Costs, { rounds = plan.rounds, fails = [] as string[] } = {}): Trial[] {
  const random = createRandom(7);
  const tracker = trackRun(plan);
  const trials: Trial[] = [];
  for (const planned of plan.trials) {
    const { id, target: name, connections, round, order } = planned;
    const target = plan.targets.find((one) => one.id === name)!;
    const noise = 1 + 0.005 * random.normal();
    const cost = costs[name] === 'noisy' ? 1 + 0.1 * (-1) ** round : (costs[name] ?? 1);
    if (round > rounds) break;
    if (!tracker.due(trials)(planned)) continue;
    const head = { id, connections, round, order };
    const cpu = 100 * (1 + 0.2 * Math.sin(round)) * cost * noise;
    const trial = fails.includes(name)
      ? failedTrial(name, 'it died', head)
      : okTrial(name, sampleMeasured({ cpu, given: { limit: 'server' } }), head);
    trials.push({ ...trial, target });
  }
  return trials;
}

const roundsOf = (trials: Trial[], name: string): number =>
  trials.filter(({ target }) => target.id === name).length;

const planOf = (names: string[], line = '--connections 10'): Plan =>
  samplePlan(`--threshold 2% ${line}`, names, { looks: '12/18/24' });

const THREE = planOf(['a', 'b', 'c']);

const firstRow = (all: Trial[]) => compareWithin({ plan: THREE, trials: all }, CPU).rows[0];

it('goes on with --fail-on until the whole interval of a difference lies beyond the threshold', () => {
  const roundsWith = (line: string, cost: number) =>
    roundsOf(play(planOf(['a', 'b'], `--connections 10 ${line}`), { a: 1, b: cost }), 'b');
  const decided = play(planOf(['a', 'b']), { a: 1, b: 1.022 });
  expect(compareWithin({ plan: planOf(['a', 'b']), trials: decided }, CPU).rows[0]?.comparison).toMatchObject(
    { verdict: 'slower', byMoreThanThreshold: false, rounds: 12 },
  );
  expect(roundsWith('--fail-on slower', 1.022)).toBe(24);
  expect(roundsWith('--fail-on slower', 1.06)).toBe(12);
  expect(roundsWith('--fail-on undecided', 1.022)).toBe(12);
});

describe('a target whose comparison is decided', () => {
  const costs: Costs = { a: 1, b: 1.06, c: 'noisy' };
  const trials = play(THREE, costs);

  it('leaves, while its baseline and the others continue', () => {
    expect(['a', 'b', 'c'].map((name) => roundsOf(trials, name))).toEqual([24, 12, 24]);
  });

  it('keeps the rounds, the interval and the verdict with which it left', () => {
    const left = firstRow(trials.filter(({ round }) => round <= 12));
    expect(left?.comparison).toMatchObject({ verdict: 'slower', rounds: 12, unbounded: 0 });
    expect(firstRow(trials)).toEqual(left);
  });

  it('is missed in no round: the rounds of the run are complete without it', () => {
    const tracker = trackRun(THREE);
    expect(tracker.countRounds(trials)).toBe(24);
    expect(tracker.countRounds(trials.slice(0, -1))).toBe(23);
    expect(tracker.countRounds(trials.filter(({ round }) => round <= 13))).toBe(13);
  });

  it('leaves again after a resume, wherever the run was interrupted', () => {
    for (const [index, trial] of trials.entries()) {
      const due = trackRun(THREE).left(trials.slice(0, index));
      expect(due[0]?.id).toBe(trial.id);
    }
    expect(trackRun(THREE).left(trials)).toEqual([]);
  });

  it('returns to the end of the run as undecided only if nothing decides it', () => {
    expect(endingOf({ plan: THREE, trials })).toMatchObject({
      why: 'schedule-over',
      rounds: 24,
      undecided: 1,
    });
    const decided = play(THREE, { a: 1, b: 1.06, c: 1 });
    expect(endingOf({ plan: THREE, trials: decided })).toMatchObject({ why: 'decided', rounds: 12 });
    expect(trackRun(THREE).left(decided)).toEqual([]);
  });
});

it('leaves at one number of connections, and continues at another', () => {
  const plan = planOf(['a', 'b'], '--connections 10,100');
  const trials = play(plan, { a: 1, b: 'noisy' }, { rounds: 12 }).map((trial): Trial => {
    if (trial.connections === 100 || trial.status === 'failed') return trial;
    const cpuUsPerRequest = trial.target.id === 'a' ? 100 : 120 + (trial.round % 3);
    return { ...trial, measured: { ...trial.measured, cpuUsPerRequest } };
  });
  expect(trackRun(plan).standing(trials)?.open).toMatchObject([{ connections: 100 }]);
  const due = trackRun(plan).left(trials);
  expect(due).toHaveLength(2 * 12);
  expect(due.every(({ connections }) => connections === 100)).toBe(true);
});

describe('a sequential test', () => {
  const names = ['a', 'b'];

  it('has nothing left at the first look with a verdict, and not before a look', () => {
    const plan = planOf(names);
    const trials = play(plan, { a: 1, b: 1.05 });
    expect(roundsOf(trials, 'b')).toBe(12);
    expect(trackRun(plan).left(trials.slice(0, -2))).not.toEqual([]);
  });

  it('ends after three rounds if a difference is large beside its noise', () => {
    const plan = planOf(names);
    const trials = play(plan, { a: 1, b: 1.6 });
    expect(compareWithin({ plan, trials }, CPU).rows[0]?.comparison).toMatchObject({
      verdict: 'slower',
      byMoreThanThreshold: true,
      rounds: 3,
    });
    expect(endingOf({ plan, trials })).toMatchObject({ why: 'decided', rounds: 3 });
    expect(roundsOf(play(plan, { a: 1, b: 1.3 }), 'b')).toBe(4);
    expect(roundsOf(play(plan, { a: 1.6, b: 1 }), 'b')).toBe(3);
  });

  it('does not say anything of a difference that an early look does not decide', () => {
    const plan = planOf(names);
    const trials = play(plan, { a: 1, b: 1.05 }, { rounds: 4 });
    const { comparison } = compareWithin({ plan, trials }, CPU).rows[0]!;
    expect(comparison).toMatchObject({ verdict: 'undecided', why: 'too-few-rounds', rounds: 4 });
    expect(comparison.interval).toBeUndefined();
    expect(comparison.ratio?.interval).toBeUndefined();
    expect(trackRun(plan).stopsAfter(trials)).toEqual([4]);
  });

  it('continues while an interval is too wide', () => {
    const plan = planOf(names);
    const trials = play(plan, { a: 1, b: 'noisy' }, { rounds: 12 });
    expect(trackRun(plan).standing(trials)?.open).toMatchObject([{ comparison: { why: 'wide' } }]);
    expect(trackRun(plan).left(trials)).toHaveLength(2 * 12);
  });

  it('has no standing while a trial of the round of a look is missing', () => {
    const plan = planOf(names);
    const trials = play(plan, { a: 1, b: 1.6 });
    expect(trackRun(plan).standing(trials)?.rounds).toBe(3);
    expect(trackRun(plan).standing(trials.slice(0, -1))).toBeUndefined();
  });

  it('does not wait for a repeated target, unless it is the only candidate', () => {
    const repeated = 'a (A/A)';
    const beside = planOf(names, '--connections 10 --noise');
    const trials = play(beside, { a: 1, b: 1.05, [repeated]: 'noisy' });
    expect(roundsOf(trials, repeated)).toBe(12);
    const alone = planOf(['a'], '--connections 10 --noise');
    expect(roundsOf(play(alone, { a: 1, [repeated]: 'noisy' }), repeated)).toBe(24);
  });

  it('gives up a target that fails: it can no longer be decided', () => {
    const trials = play(THREE, { a: 1, b: 1.05, c: 1 }, { fails: ['c'] });
    expect(roundsOf(trials, 'c')).toBe(12);
    expect(endingOf({ plan: THREE, trials })).toMatchObject({ why: 'hopeless', rounds: 12 });
  });

  it('of one target ends at its first look', () => {
    const plan = planOf(['a']);
    expect(play(plan, { a: 1 })).toHaveLength(12);
  });
});

describe('a run that is stopped', () => {
  const plan = planOf(['a', 'b']);
  const upTo = (count: number): Trial[] => play(plan, { a: 1, b: 'noisy' }, { rounds: count });
  const slower = (count: number): Trial[] =>
    play(planOf(['a', 'b'], '--connections 10'), { a: 1, b: 1.05 }, { rounds: count });

  it('one round before its first look has a verdict from the rounds that it has', () => {
    const { rows } = compareWithin({ plan, trials: slower(11) }, CPU);
    expect(rows[0]?.comparison).toMatchObject({ verdict: 'slower', rounds: 11 });
    expect(endingOf({ plan, trials: slower(11) })).toMatchObject({
      why: 'interrupted',
      rounds: 11,
      undecided: 0,
      comparisons: 1,
    });
  });

  it('between two looks is compared with all of its rounds', () => {
    const { rows } = compareWithin({ plan, trials: upTo(17) }, CPU);
    expect(rows[0]?.comparison).toMatchObject({ rounds: 17 });
  });

  it('at a planned look spends there what a stop may spend', () => {
    const planned = compareWithin({ plan, trials: upTo(12) }, CPU).rows[0]?.comparison.interval;
    const stops = trackRun(plan).stopsAfter(upTo(12));
    const stopped = compareWithin({ plan, stops, trials: upTo(12) }, CPU).rows[0]?.comparison.interval;
    expect(stopped!.high - stopped!.low).toBeLessThan(planned!.high - planned!.low);
  });

  it('in the middle of a round is compared without the rest of that round', () => {
    const [first, ...rest] = play(THREE, { a: 1, b: 1.05, c: 'noisy' }, { rounds: 9 });
    const trials = [first!, ...rest].filter(({ round, target }) => round < 9 || target.id !== 'c');
    const { rows } = compareWithin({ plan: THREE, trials }, CPU);
    expect(rows.map(({ comparison }) => comparison.rounds)).toEqual([8, 8]);
    const stops = trackRun(THREE).stopsAfter(trials);
    expect(stops).toEqual([8]);
    expect(compareWithin({ plan: THREE, stops, trials }, CPU).rows).toEqual(rows);
  });

  it('keeps its stop, and what that has spent, when it is continued', () => {
    const stops = trackRun(plan).stopsAfter(upTo(17));
    expect(stops).toEqual([17]);
    const end = play(plan, { a: 1, b: 'noisy' });
    const widthOf = (after: number[]) => {
      const { interval } = compareWithin({ plan, stops: after, trials: end }, CPU).rows[0]!.comparison;
      return interval!.high - interval!.low;
    };
    expect(widthOf(stops)).toBeGreaterThan(1.05 * widthOf([]));
    expect(trackRun(plan, stops).stopsAfter(upTo(17))).toEqual(stops);
    expect(trackRun(plan, stops).stopsAfter(end)).toEqual(stops);
  });

  it('and continued does not measure what the stop has decided', () => {
    const trials = play(THREE, { a: 1, b: 1.05, c: 'noisy' }, { rounds: 9 });
    const due = trackRun(THREE, trackRun(THREE).stopsAfter(trials)).left(trials);
    expect(new Set(due.map(({ target }) => target))).toEqual(new Set(['a', 'c']));
  });

  it('has no stop if nothing is due any more', () => {
    expect(trackRun(plan).stopsAfter(play(plan, { a: 1, b: 1.05 }))).toEqual([]);
    expect(trackRun(plan).stopsAfter([])).toEqual([]);
  });

  it('after 8 of 12 fixed rounds is compared with these', () => {
    const fixed = samplePlan('--connections 10 --rounds 12', ['a', 'b']);
    const trials = play(fixed, { a: 1, b: 1.05 }, { rounds: 8 });
    const { rows } = compareWithin({ plan: fixed, trials }, CPU);
    expect(rows[0]?.comparison).toMatchObject({ verdict: 'slower', rounds: 8 });
    expect(trackRun(fixed).stopsAfter(trials)).toEqual([8]);
  });
});

it('a run of fixed rounds measures every trial, whatever it finds', () => {
  const plan = samplePlan('--connections 10 --rounds 12', ['a', 'b']);
  const trials = play(plan, { a: 1, b: 1.5 });
  expect(trials).toHaveLength(24);
  expect(trackRun(plan).standing(trials)).toBeUndefined();
  expect(endingOf({ plan, trials })).toBeUndefined();
});
