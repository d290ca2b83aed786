import { describe, expect, it } from 'vitest';
import { figureOf } from '../src/metrics.ts';
import { summarise } from '../src/summary.ts';
import { METRIC_IDS, METRICS, type MetricId } from 'bench-model/metrics';
import type { Limit } from 'bench-model/measured';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import {
  failedTrial,
  okTrial,
  sampleLoad,
  sampleMeasured,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const spoil = (...invalidates: MetricId[]): Reason => ({
  code: 'other-processes',
  text: 'others were busy',
  invalidates,
});

const at = (
  target: string,
  goodput: number,
  cpu: number,
  spoilt?: MetricId[],
  round = 1,
  connections = 10,
): Trial => {
  const measured = sampleMeasured({ goodput, cpu });
  return spoilt === undefined
    ? okTrial(target, measured, { round, connections })
    : suspectTrial(target, measured, [spoil(...spoilt)], { round, connections });
};

const limited = (limit: Limit, round: number): Trial =>
  okTrial('a', sampleMeasured({ given: { limit } }), { round });

describe('figureOf', () => {
  it('returns the measured value, and whether it is valid', () => {
    const trial = at('a', 5000, 20, ['goodput']);
    expect(figureOf(trial, METRICS.goodput)).toMatchObject({ value: 5000, valid: false });
    expect(figureOf(trial, METRICS.cpu)).toMatchObject({ value: 20, valid: true });
  });

  it('returns nothing for an unmeasured metric and for a failed trial', () => {
    expect(figureOf(at('a', 1, 1), METRICS.startup)).toBeUndefined();
    for (const id of METRIC_IDS) expect(figureOf(failedTrial('a', 'died'), METRICS[id])).toBeUndefined();
    const { load } = sampleMeasured();
    const partial = { ...failedTrial('a', 'died'), partial: { load } };
    expect(figureOf(partial, METRICS.goodput)).toBeUndefined();
  });

  it('returns only the start-up and the memory of a server that was asked once', () => {
    const trial = { ...okTrial('a', sampleMeasured({ cpu: 4, given: { startupSeconds: 6 } })) };
    const once = { ...trial, load: { mode: 'amount', requests: 1 } } as const;
    const known = METRIC_IDS.filter((id) => figureOf(once, METRICS[id]) !== undefined);
    expect(known.filter((id) => id !== 'memory')).toEqual(['startup']);
  });

  it('reads each metric from its own field', () => {
    const load = sampleLoad({ goodputPerSecond: 1, latencyUs: { mean: 9, p50: 2, p99: 3, max: 9 } });
    const server = {
      source: 's',
      scope: 's',
      seconds: 1,
      cpuUserUs: 9,
      cpuSystemUs: 9,
      coresUsed: 9,
      idleBytes: 9,
    };
    const given = { load, server: { ...server, peakBytes: 5, loadedBytes: 9 }, startupSeconds: 6 };
    const trial = okTrial('a', sampleMeasured({ cpu: 4, given }));
    const values = METRIC_IDS.map((id) => [id, figureOf(trial, METRICS[id])?.value]);
    const known = { goodput: 1, p50: 2, p99: 3, cpu: 4, memory: 5, startup: 6 };
    expect(Object.fromEntries(values)).toMatchObject(known);
    for (const id of METRIC_IDS) expect(METRICS[id].id).toBe(id);
    const higher = METRIC_IDS.filter((id) => METRICS[id].better === 'higher' && id in known);
    expect(higher).toEqual(['goodput']);
  });
});

describe('summarise', () => {
  it('returns the median of the rounds and their range', () => {
    const trials = [at('a', 300, 3), at('a', 100, 1, undefined, 2), at('a', 170, 2, undefined, 3)];
    const [row, ...rest] = summarise(trials);
    expect(rest).toEqual([]);
    expect(row).toMatchObject({
      target: 'a',
      connections: 10,
      rounds: 3,
      statuses: { ok: 3, suspect: 0, failed: 0 },
    });
    expect(row?.figures.goodput).toMatchObject({
      median: 170,
      least: 100,
      most: 300,
      rounds: 3,
      valid: true,
    });
    const even = summarise(trials.slice(0, 2));
    expect(even[0]?.figures.goodput?.median).toBe(200);
  });

  it('omits the rounds in which a metric is invalid, for that metric only', () => {
    const trials = [
      at('a', 900, 30, ['goodput']),
      at('a', 100, 10, undefined, 2),
      at('a', 110, 20, undefined, 3),
    ];
    const [row] = summarise(trials);
    expect(row?.figures.goodput).toMatchObject({ median: 105, most: 110, rounds: 2, valid: true });
    expect(row?.figures.cpu).toMatchObject({ median: 20, rounds: 3, valid: true });
    expect(row?.reasons).toEqual([{ reason: spoil('goodput'), rounds: 1 }]);
  });

  it('keeps a metric that is invalid in every round, and marks it', () => {
    const [row] = summarise([at('a', 100, 10, ['goodput']), at('a', 200, 10, ['goodput'], 2)]);
    expect(row?.figures.goodput).toMatchObject({ median: 150, rounds: 2, valid: false });
    expect(row?.figures.cpu?.valid).toBe(true);
  });

  it('uses no value of a failed round', () => {
    const [row] = summarise([failedTrial('a', 'died'), at('a', 100, 10, undefined, 2)]);
    expect(row).toMatchObject({ rounds: 2, statuses: { ok: 1, suspect: 0, failed: 1 } });
    expect(row?.figures.goodput).toMatchObject({ median: 100, rounds: 1 });
    const [lost] = summarise([failedTrial('a', 'died')]);
    expect(lost).toMatchObject({ figures: {}, limits: [] });
  });

  it('sorts by CPU per request at each rung, targets without a valid value last', () => {
    const trials = [
      failedTrial('lost', 'died'),
      at('spoilt', 900, 1, ['cpu']),
      at('dear', 900, 30),
      at('cheap', 100, 10, ['goodput', 'p50', 'p99']),
      at('cheap', 100, 11, undefined, 1, 100),
      at('dear', 100, 5, undefined, 1, 100),
    ];
    expect(summarise(trials).map(({ target, connections }) => `${target} ${connections}`)).toEqual([
      'cheap 10',
      'dear 10',
      'spoilt 10',
      'lost 10',
      'dear 100',
      'cheap 100',
    ]);
  });

  it('counts the rounds of each reason, and lists the limits by frequency', () => {
    expect(summarise([limited('waiting', 1), limited('server', 2), limited('server', 3)])[0]?.limits).toEqual(
      ['server', 'waiting'],
    );
    const both = summarise([at('a', 1, 1, ['p99']), at('a', 1, 1, ['p99'], 2)]);
    expect(both[0]?.reasons).toEqual([{ reason: spoil('p99'), rounds: 2 }]);
  });
});

/** A trial from which the hypervisor took this share of a core, in which the server used one. */
const stolen = (cores: number, round = 1): Trial => {
  const reason = makeReason('steal', { cores, coresUsed: 1 });
  return suspectTrial('a', sampleMeasured({ goodput: 5000, cpu: 20 }), [reason], { round });
};

describe('a figure in doubt in every round', () => {
  it('says by how much it can change, of the worst round', () => {
    const [row] = summarise([stolen(0.02), stolen(0.04, 2)]);
    expect(row?.figures.cpu).toMatchObject({ valid: false });
    // A request costs more by up to twice the share that was taken.
    expect(row?.figures.cpu?.within).toBeCloseTo(0.08, 6);
    expect(row?.figures.goodput?.within).toBeCloseTo(0.04, 6);
  });

  it('says nothing if it has no bound, if the bound is far, or if a round is valid', () => {
    expect(summarise([stolen(0.02)])[0]?.figures.p50).not.toHaveProperty('within');
    expect(summarise([stolen(0.3)])[0]?.figures.cpu).not.toHaveProperty('within');
    expect(summarise([stolen(0.02), at('a', 5000, 20, undefined, 2)])[0]?.figures.cpu).not.toHaveProperty(
      'within',
    );
  });
});
