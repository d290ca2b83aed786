import { describe, expect, it } from 'vitest';
import { compareWithin, foreseeTable } from 'bench-analysis/compare';
import type { Copy } from 'bench-model/target';
import { benchOptions } from 'bench-model/options';
import { makePlan } from '../../src/plan/plan.ts';
import type { Plan } from 'bench-model/plan';
import { errorOf, sampleStack } from '../../../bench-lab/testing/samples.ts';

const COPIES: Copy[] = [
  { kind: 'revision', name: 'main', commit: '1111111aaaa', subject: 'Serve orders' },
  { kind: 'revision', name: 'HEAD', commit: '2222222bbbb', subject: 'Cache orders' },
];

function planOf(node: string[], copies = COPIES): Plan {
  const stack = { ...sampleStack('shop'), project: { kind: 'node' as const } };
  const options = benchOptions({
    targets: ['shop'],
    matrix: { python: [], node, packages: [] },
    connections: [10],
    rounds: 6,
    copies,
  });
  return makePlan(options, [stack], '20261122-120000-devices', 1);
}

describe('a plan with copies of a project', () => {
  it('measures every target in each copy, and puts the commit into the target id', () => {
    expect(planOf(['22', '24']).targets.map(({ id }) => id)).toEqual([
      'shop@22[main 1111111]',
      'shop@22[HEAD 2222222]',
      'shop@24[main 1111111]',
      'shop@24[HEAD 2222222]',
    ]);
  });

  it('rejects a built-in stack', () => {
    const options = benchOptions({ targets: ['vanilla'], copies: COPIES });
    const error = errorOf(() => makePlan(options, [sampleStack('vanilla')], '20261122-120000-devices', 1));
    expect(error.message).toBe(
      'main 1111111 is a version of your own service, and vanilla is a stack of Bench',
    );
  });
});

/** Returns the pairs that a comparison of all trials would compare. */
function pairsOf(plan: Plan, baseline?: string): string[] {
  const trials = plan.trials.map((planned) => ({
    ...planned,
    target: plan.targets.find(({ id }) => id === planned.target),
    status: 'failed',
    reasons: [],
  }));
  const question = { by: 'cpu', threshold: 0.02, ...(baseline === undefined ? {} : { baseline }) } as const;
  const { rows } = compareWithin({ plan, trials: trials as never }, question);
  return rows.map(({ candidate, baseline: of }) => `${candidate} against ${of}`);
}

describe('a comparison of copies', () => {
  it('uses the first copy as the baseline', () => {
    expect(pairsOf(planOf([]))).toEqual(['shop[HEAD 2222222] against shop[main 1111111]']);
  });

  it('compares each copy with the first one on the same runtime', () => {
    const pairs = [
      'shop@22[HEAD 2222222] against shop@22[main 1111111]',
      'shop@24[HEAD 2222222] against shop@24[main 1111111]',
    ];
    expect(pairsOf(planOf(['22', '24']))).toEqual(pairs);
    expect(pairsOf(planOf(['22', '24']), 'main')).toEqual(pairs);
    expect(foreseeTable(planOf(['22', '24'])).rows).toBe(2);
  });

  it('compares the runtimes within each copy if the baseline is a runtime', () => {
    expect(pairsOf(planOf(['22', '24']), '@22')).toEqual([
      'shop@24[main 1111111] against shop@22[main 1111111]',
      'shop@24[HEAD 2222222] against shop@22[HEAD 2222222]',
    ]);
  });
});
