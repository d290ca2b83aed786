import { describe, expect, it } from 'vitest';
import { compareWithin, foreseeTable } from 'bench-analysis/compare';
import type { Copy } from 'bench-model/target';
import { benchOptions } from 'bench-model/options';
import { makePlan, repeatInCopies } from '../../src/plan/plan.ts';
import type { Plan } from 'bench-model/plan';
import { CAPACITY, errorOf, sampleStack } from '../../../bench-lab/testing/samples.ts';

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
    expect(error.message).toBe('--rev is for your own service, and vanilla is a stack of Bench');
  });
});

describe('the plan of a commit, repeated beside other commits', () => {
  const beside = COPIES.map((copy, index) => (index === 0 ? { ...copy, name: 'baseline' } : copy));
  const repeat = (old: Plan, readsCpu = false): Plan =>
    repeatInCopies(old, beside, {
      run: '20261123-120000-devices',
      seed: 2,
      capacity: readsCpu ? CAPACITY : undefined,
      stacks: [],
    });

  it('measures every target of the commit in each of them, with the same load', () => {
    const old = planOf(['22', '24'], COPIES.slice(0, 1));
    const plan = repeat(old);
    expect(plan.targets.map(({ id, copy }) => [id, copy?.name])).toEqual([
      ['shop@22[baseline 1111111]', 'baseline'],
      ['shop@22[HEAD 2222222]', 'HEAD'],
      ['shop@24[baseline 1111111]', 'baseline'],
      ['shop@24[HEAD 2222222]', 'HEAD'],
    ]);
    expect(plan).toMatchObject({ rungs: [10], rounds: 6, windowSeconds: old.windowSeconds });
    expect(plan.trials).toHaveLength(2 * old.trials.length);
    expect(pairsOf(plan)).toEqual([
      'shop@22[HEAD 2222222] against shop@22[baseline 1111111]',
      'shop@24[HEAD 2222222] against shop@24[baseline 1111111]',
    ]);
  });

  it('moves targets that repeat another together with it', () => {
    const first = planOf([], COPIES.slice(0, 1)).targets[0]!;
    const again = {
      ...first,
      id: `${first.id} (A/A)`,
      repeats: { targetId: first.id, kind: 'a/a' as const },
    };
    const { targets } = repeat({ ...planOf([]), targets: [first, again] });
    expect(targets.map(({ id, repeats }) => [id, repeats?.targetId])).toEqual([
      ['shop[baseline 1111111]', undefined],
      ['shop[HEAD 2222222]', undefined],
      ['shop[baseline 1111111] (A/A)', 'shop[baseline 1111111]'],
      ['shop[HEAD 2222222] (A/A)', 'shop[HEAD 2222222]'],
    ]);
  });

  it('looks the warm-ups up again, because the code differs', () => {
    const old = planOf([], COPIES.slice(0, 1));
    const warmups = [{ target: 'shop[main 1111111]', rungs: [10], seconds: 4 }];
    expect(repeat({ ...old, warmups })).not.toHaveProperty('warmups');
  });

  it('is a duel if two targets can take turns, but not for a fixed number of requests or a rate', () => {
    const old = planOf([], COPIES.slice(0, 1));
    expect(repeat(old, true).byTurns).toEqual({ rungs: [10], turnSeconds: 0.02 });
    expect(repeat(old, true).trials.every(({ duel }) => duel !== undefined)).toBe(true);
    expect(repeat(old, false)).not.toHaveProperty('byTurns');
    for (const load of [{ mode: 'amount', requests: 40 } as const, { mode: 'open', perSecond: 500 } as const])
      expect(repeat({ ...old, load }, true)).not.toHaveProperty('byTurns');
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
