import { describe, expect, it } from 'vitest';
import { judge } from '../../src/judge/judge.ts';
import { METRIC_IDS, metricsOf } from 'bench-model/metrics';
import type { Placement } from 'bench-model/record';
import { makeReason } from 'bench-model/reasons';
import { judgeInserts } from '../../src/judge/companions.ts';
import { sampleEvidence, sampleLoad, sampleResources } from '../../../bench-lab/testing/samples.ts';

describe('the inserts of a trial', () => {
  it.each([
    [1000, 1000, 0, []],
    [1000, 999, 0, ['inserts']],
    [1000, 1001, 0, ['inserts']],
    // Inserts that were never answered may or may not be stored.
    [1000, 1000, 5, []],
    [1000, 1005, 5, []],
    [1000, 1006, 5, ['inserts']],
    [1000, 999, 5, ['inserts']],
  ])('%i acknowledged, %i stored, %i without a response: %j', (acknowledged, stored, unanswered, codes) => {
    const reasons = judgeInserts({ acknowledged, stored, unanswered });
    expect(reasons.map(({ code }) => code)).toEqual(codes);
    for (const { invalidates } of reasons) expect(invalidates).toEqual(METRIC_IDS);
  });

  it('are reported for a trial that failed for another reason', () => {
    expect(makeReason('inserts', { acknowledged: 1520, stored: 1523, unanswered: 12 }).text).toBe(
      '1,520 inserts were acknowledged, 12 without a response, and the table has 1,523: no acknowledged insert was lost',
    );
  });
});

describe('a database', () => {
  const apart: Placement = { kind: 'separate', server: [2], generator: [0], beside: { database: [1] } };
  const beside: Placement = { kind: 'separate', server: [1], generator: [0], beside: { database: [0] } };
  const elsewhere: Placement = { kind: 'separate', server: [1], generator: [0] };
  const shared: Placement = {
    kind: 'shared',
    server: [0, 1],
    generator: [0, 1],
    beside: { database: [0, 1] },
  };

  it.each([
    ['on a separate core', apart, 0.91, 0.3, 'database'],
    ['on a separate core with spare time', apart, 0.85, 0.3, 'waiting'],
    ['on the core of the load, and busier than the load', beside, 0.6, 0.35, 'database'],
    ['on the core of the load, and less busy than the load', beside, 0.3, 0.65, 'waiting'],
    ['on unknown cores', elsewhere, 1.5, 0.3, 'waiting'],
    ['on cores that all share, used up', shared, 1.85, 0.1, 'database'],
    ['on cores that all share, about one of them used', shared, 1.1, 0.1, 'server'],
  ] as const)('is judged as the limit by its cores: %s', (_, placement, cores, generator, limit) => {
    const load = sampleLoad({ generators: [{ cpuUs: generator * 5e6, seconds: 5, utilisation: generator }] });
    const evidence = { load, resources: sampleResources(cores), placement, besideRequests: 0 };
    const companion = { limit: 'database' } as const;
    const isShared = placement.kind === 'shared';
    const companions = [{ companion, evidence }];
    const verdict = judge(sampleEvidence({ load, budgetCores: isShared ? 1.8 : 1, isShared, companions }));
    expect(verdict.limit).toBe(limit);
    const bound = verdict.reasons.filter(({ code }) => code === 'companion-bound');
    expect(bound).toHaveLength(limit === 'database' ? 1 : 0);
    for (const { invalidates } of bound) expect(invalidates).toEqual(metricsOf('pace'));
  });
});
