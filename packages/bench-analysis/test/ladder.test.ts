import { describe, expect, it } from 'vitest';
import { toLadders, type Ladder } from '../src/ladder.ts';
import { summarise } from '../src/summary.ts';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { failedTrial, okTrial, sampleMeasured, suspectTrial } from '../../bench-lab/testing/samples.ts';

const bound = makeReason('generator-bound', { busy: 0.95, coresUsed: 0.5 });
const spoilt: Reason = { code: 'other-processes', text: 'others', invalidates: ['goodput', 'p50', 'p99'] };

/** One rung: its connections, the goodput of each round, and the reason that all of them carry. */
type Step = [connections: number, goodputs: number[], reason?: Reason | 'failed'];

const trialsOf = (target: string, steps: Step[]): Trial[] =>
  steps.flatMap(([connections, goodputs, reason]) =>
    goodputs.map((goodput, index) => {
      const head = { connections, round: index + 1 };
      if (reason === 'failed') return failedTrial(target, 'died', head);
      const measured = sampleMeasured({ goodput });
      return reason === undefined
        ? okTrial(target, measured, head)
        : suspectTrial(target, measured, [reason], head);
    }),
  );

const climb = (...steps: Step[]): Ladder => toLadders(summarise(trialsOf('a', steps)), false)[0]!;

describe('the knee', () => {
  it('is at or below the first rung if no higher rung gains anything', () => {
    expect(climb([10, [1000]], [100, [1010]], [1000, [990]]).knee).toEqual({ at: 10 });
  });

  it('is between a rung below the ceiling in every round and the rung that reached it', () => {
    const { knee } = climb([10, [200, 195]], [100, [800, 790]], [1000, [805, 800]]);
    expect(knee).toMatchObject({ at: 100, above: 10 });
  });

  it('includes the connections from which requests queue: 40, for 40 threads that wait 50 ms', () => {
    const { knee } = climb([10, [200]], [100, [800]], [1000, [800]]);
    expect(knee).toEqual({ at: 100, above: 10, queuesFrom: 40 });
  });

  it('has no lower bound if a round of the rung below reached the ceiling', () => {
    const { knee } = climb([10, [780, 1020, 800]], [100, [1000, 1010, 990]], [1000, [1000, 1000, 1000]]);
    expect(knee).toEqual({ at: 100, queuesFrom: 12.5 });
  });

  it('tolerates 5 %: 95 % of the ceiling has reached it, 94 % has not', () => {
    expect(climb([10, [950]], [100, [1000]], [1000, [1000]]).knee).toMatchObject({ at: 10 });
    expect(climb([10, [940]], [100, [1000]], [1000, [1000]]).knee).toMatchObject({ at: 100, above: 10 });
  });

  it('skips a lower rung without a valid result', () => {
    const failed = climb([10, [200]], [100, [1], 'failed'], [1000, [800]], [10_000, [810]]);
    expect(failed.knee).toMatchObject({ at: 1000, above: 10 });
    const bounded = climb([10, [200], bound], [100, [800]], [1000, [800]]);
    expect(bounded.knee).toEqual({ at: 100 });
  });
});

describe('no knee is reported', () => {
  it.each<[Ladder['knee'], Step[]]>([
    [
      { why: 'too-few-rungs' },
      [
        [10, [1000]],
        [100, [1000]],
      ],
    ],
    [
      { why: 'still-rising', connections: 1000 },
      [
        [10, [100]],
        [100, [200]],
        [1000, [300]],
      ],
    ],
    [
      { why: 'lower-bound', connections: 100 },
      [
        [10, [500]],
        [100, [1000], bound],
        [1000, [900]],
      ],
    ],
    // A saturated generator may hide more goodput than the lower rungs reached.
    [
      { why: 'lower-bound', connections: 1000 },
      [
        [10, [500]],
        [100, [1000]],
        [1000, [400], bound],
      ],
    ],
    [
      { why: 'lower-bound', connections: 1000 },
      [
        [10, [500]],
        [100, [600]],
        [1000, [700], bound],
      ],
    ],
    [
      { why: 'invalid', connections: 1000 },
      [
        [10, [500]],
        [100, [1000]],
        [1000, [1000], spoilt],
      ],
    ],
    [
      { why: 'not-measured', connections: 1000 },
      [
        [10, [500]],
        [100, [1000]],
        [1000, [1], 'failed'],
      ],
    ],
    [
      { why: 'none-valid' },
      [
        [10, [500], spoilt],
        [100, [1], 'failed'],
        [1000, [400], spoilt],
      ],
    ],
  ])('with the reason %o', (knee, steps) => {
    expect(climb(...steps).knee).toEqual(knee);
  });

  it('in an open loop, where the rate sets the goodput', () => {
    const rows = summarise(
      trialsOf('a', [
        [10, [100]],
        [100, [100]],
        [1000, [100]],
      ]),
    );
    expect(toLadders(rows, true)[0]?.knee).toEqual({ why: 'open-loop' });
  });
});

describe('the fall', () => {
  it('is the first rung from which every round is below all rounds of the best rung', () => {
    const { fall } = climb([10, [900, 1000, 1100]], [100, [880, 920, 940]], [1000, [600, 700, 800]]);
    expect(fall?.connections).toBe(1000);
    expect(fall?.share).toBeCloseTo(0.3);
  });

  it('is absent within 5 %, if goodput recovers, or if only a lower bound is lower', () => {
    expect(climb([10, [1000]], [100, [960]], [1000, [955]]).fall).toBeUndefined();
    expect(climb([10, [1000]], [100, [700]], [1000, [990]]).fall).toBeUndefined();
    expect(climb([10, [1000]], [100, [990]], [1000, [400], bound]).fall).toBeUndefined();
  });
});

describe('toLadders', () => {
  it('lists the rungs of each target by increasing connections', () => {
    const trials = [
      ...trialsOf('a', [
        [100, [1]],
        [10, [1]],
      ]),
      ...trialsOf('b', [[10, [1]]]),
    ];
    const ladders = toLadders(summarise(trials), false);
    expect(ladders.map(({ target, rungs }) => [target, rungs.map(({ connections }) => connections)])).toEqual(
      [
        ['a', [10, 100]],
        ['b', [10]],
      ],
    );
  });
});
