import { describe, expect, it } from 'vitest';
import { createHistogram, encodeHistogram } from 'bench-statistics/histogram';
import { METRIC_IDS } from 'bench-model/metrics';
import type { Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { toModel } from '../src/model/model.ts';
import { toTable } from '../src/table.ts';
import {
  failedTrial,
  okTrial,
  readGoldenRun,
  sampleCounts,
  sampleLoad,
  sampleMeasured,
  sampleResources,
  samplePlan,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const golden = readGoldenRun();

/** A run of two targets, whose CPU per request differs by half, without noise worth speaking of. */
function runOf(rounds: number, options = ''): { plan: typeof golden.plan; trials: Trial[] } {
  const plan = samplePlan(`--rounds ${rounds} --connections 10 ${options}`);
  const trials = plan.trials.map(({ target, round, order }) => {
    const cpu = (target === 'vanilla' ? 20 : 30) * (1 + round / 1000);
    return okTrial(target, sampleMeasured({ cpu }), { round, order });
  });
  return { plan, trials };
}

const modelOf = (run: { plan?: typeof golden.plan; trials: Trial[] }) =>
  toModel({ ...golden, ...run }, { distributions: true });

const pointOf = (ok: number[], readings: number) => {
  const memory = Array.from({ length: readings }, (_, index) => ({
    seconds: index / 10,
    bytes: 1000 + index,
  }));
  const server = { source: 'a', scope: 'b', seconds: 5, cpuUserUs: 1, cpuSystemUs: 1, coresUsed: 1 };
  const measured = sampleMeasured({
    given: {
      load: sampleLoad({ slices: { milliseconds: 50, ok } }),
      server: { ...server, memoryOverTime: memory },
    },
  });
  return modelOf({ trials: [okTrial('vanilla', measured)] }).rows[0]?.trials[0];
};

const loadOf = (values: number[], timeout = 0) => {
  const histogram = createHistogram();
  for (const value of values) histogram.recordValue(value);
  return sampleLoad({
    counts: sampleCounts({ ok: values.length, timeout }),
    latencyHistogram: encodeHistogram(histogram),
  });
};
const upTo = (n: number) => Array.from({ length: n }, (_, index) => index + 1);
const measured = (values: number[], timeout = 0) =>
  sampleMeasured({ given: { load: loadOf(values, timeout) } });
const distributionOf = (...trials: Trial[]) => modelOf({ trials }).rows[0]?.distribution;

describe('the row of a request that is measured alone', () => {
  it('shows what the server keeps of each response', () => {
    const own = samplePlan('--get /a --get /b --connections 10 --rounds 3', ['vanilla']);
    const trials = own.trials.map(({ id, route = '', round, connections }) => {
      const memoryBytes = [50, 100, 150].map((given) => 40e6 + given * (route === 'GET /b' ? 1400 : 0));
      const turns = { answers: [50, 50, 50], goodputPerSecond: [1, 1, 1], places: [0, 1, 2], memoryBytes };
      const given = { server: { ...sampleResources(1), peakBytes: 41e6 }, turns };
      return okTrial('vanilla', sampleMeasured({ given }), { id, connections, route, round });
    });
    const model = modelOf({ plan: own, trials });
    const { columns, groups } = toTable(model.rows);
    const at = columns.indexOf('growth/req');
    expect(columns[at - 1]).toBe('memory');
    const cells = new Set(groups.flatMap(({ rows }) => rows.map((row) => row[at])));
    expect(cells).toEqual(new Set(['0 B ±0 B', '1.4 KB ±0 B']));
  });
});

describe('the model of a run', () => {
  it('is the same after a round trip through JSON', () => {
    const model = modelOf(golden);
    expect(JSON.parse(JSON.stringify(model))).toEqual(model);
  });

  it('has a row for each target and rung, with its trials in the order of the rounds', () => {
    const { rows } = modelOf(golden);
    expect(rows).toHaveLength(6);
    const trials = rows.flatMap((row) => row.trials.map(({ id }) => id));
    expect(trials.toSorted()).toEqual(golden.trials.map(({ id }) => id).toSorted());
    for (const row of rows) expect(row.trials.map(({ round }) => round)).toEqual([1, 2]);
  });

  it('names the reasons that spoil a figure, and ranks only figures that the rounds distinguish', () => {
    const { rows } = modelOf(golden);
    const vanilla = rows.find(({ target, connections }) => target === 'vanilla' && connections === 10);
    expect(vanilla?.figures.goodput).toMatchObject({ atLeast: true, reasons: ['generator-bound'] });
    expect(vanilla?.figures.cpu?.reasons).toEqual([]);
    const unfit = rows
      .flatMap((row) => Object.values(row.figures))
      .filter(({ atLeast, valid }) => atLeast || !valid);
    expect(new Set(unfit.map(({ rank }) => rank))).toEqual(new Set([undefined]));
    // One round ranks nothing.
    expect(modelOf(runOf(1)).rows.map((row) => row.figures.cpu?.rank)).toEqual([undefined, undefined]);
    const three = modelOf(runOf(3)).rows.map(({ target, figures }) => [target, figures.cpu?.rank]);
    expect(three).toEqual([
      ['vanilla', 1],
      ['fastify', 2],
    ]);
  });

  it('gives a figure an interval from six rounds on', () => {
    expect(modelOf(runOf(5)).rows[0]?.figures.cpu?.interval).toBeUndefined();
    const { interval, least, most } = modelOf(runOf(6)).rows[0]?.figures.cpu ?? {};
    expect(interval).toEqual({ low: least, high: most });
  });

  it('compares the targets by every metric, unless the run is too short or has one target', () => {
    const { comparisons } = modelOf(runOf(6));
    expect(comparisons.map(({ by }) => by)).toEqual(
      METRIC_IDS.filter((id) => ['goodput', 'p50', 'p99', 'max', 'cpu'].includes(id)),
    );
    const cpu = comparisons.find(({ by }) => by === 'cpu');
    expect(cpu).toMatchObject({
      baseline: 'vanilla',
      threshold: 0.02,
      rows: [{ candidate: 'fastify', connections: 10, comparison: { verdict: 'slower' }, rank: 2 }],
    });
    expect(cpu?.rows[0]?.comparison.ratio?.estimate).toBeCloseTo(1.5);
    const { plan, trials } = runOf(6);
    expect(modelOf({ plan: { ...plan, quick: true }, trials }).comparisons).toEqual([]);
    const alone = trials.filter(({ target }) => target.id === 'vanilla');
    expect(modelOf({ plan, trials: alone }).comparisons).toEqual([]);
  });

  it('keeps the reason and the last lines of the log of a trial that failed', () => {
    const trial = { ...failedTrial('vanilla', 'the server ended'), logTail: ['Error: no such module'] };
    const { rows, problems } = modelOf({ trials: [trial] });
    expect(rows[0]?.trials[0]).toMatchObject({
      status: 'failed',
      figures: {},
      reasons: [{ code: 'trial', text: 'the server ended' }],
      logTail: ['Error: no such module'],
    });
    expect(problems).toMatchObject([
      { isFatal: true, places: [{ target: 'vanilla', connections: 10, rounds: 1, of: 1 }] },
    ]);
  });
});

describe('the course of a window', () => {
  it('has at most 25 moments, and the right goodput', () => {
    const point = pointOf(
      Array.from({ length: 100 }, () => 5),
      120,
    );
    expect(point?.goodputOverTime).toHaveLength(25);
    expect(point?.goodputOverTime?.at(-1)).toEqual({ seconds: 5, value: 100 });
    expect(point?.memoryOverTime).toHaveLength(25);
    expect(point?.memoryOverTime?.[0]).toEqual({ seconds: 0, value: 1000 });
    expect(point?.memoryOverTime?.at(-1)?.value).toBe(1119);
  });

  it('loses no response but those of a shorter last span, and is absent without slices', () => {
    const point = pointOf(
      Array.from({ length: 26 }, (_, index) => index),
      1,
    );
    expect(point?.goodputOverTime?.map(({ value }) => value / 10)).toEqual(
      Array.from({ length: 13 }, (_, index) => 4 * index + 1),
    );
    expect(point?.memoryOverTime).toBeUndefined();
    expect(pointOf([], 0)?.goodputOverTime).toBeUndefined();
  });
});

describe('a latency distribution', () => {
  const late: Reason = { code: 'late-generator', text: 'late', invalidates: ['p99'] };
  it('merges the rounds, and has a percentile only with ten responses beyond it', () => {
    const found = distributionOf(
      okTrial('vanilla', measured(upTo(500))),
      okTrial('vanilla', measured(upTo(1000).slice(500)), { round: 2 }),
    );
    expect(found).toMatchObject({ answers: 1000, unanswered: 0, rounds: 2, valid: true, maxUs: 1000 });
    expect(found?.points.find(({ percentile }) => percentile === 50)?.us).toBe(500);
    expect(found?.points.at(-1)).toEqual({ percentile: 99, us: 990 });
  });

  it('counts requests that timed out as slower than every response', () => {
    const found = distributionOf(okTrial('vanilla', measured(upTo(900), 100)));
    expect(found?.points.at(-1)).toEqual({ percentile: 90, us: 900 });
    expect(found?.points.find(({ percentile }) => percentile === 50)?.us).toBe(500);
  });

  it('omits rounds with an invalid tail, unless there are no others', () => {
    const spoilt = suspectTrial('vanilla', measured([9000, 9000, 9000]), [late], { round: 2 });
    expect(distributionOf(okTrial('vanilla', measured(upTo(100))), spoilt)).toMatchObject({
      answers: 100,
      rounds: 1,
      valid: true,
    });
    expect(distributionOf(spoilt)).toMatchObject({ answers: 3, valid: false });
  });

  it('is absent without histograms, and by default', () => {
    const trial = okTrial('vanilla', measured(upTo(100)));
    expect(distributionOf(failedTrial('vanilla', 'it ended'))).toBeUndefined();
    expect(distributionOf(okTrial('vanilla', sampleMeasured()))).toBeUndefined();
    expect(toModel({ ...golden, trials: [trial] }).rows[0]?.distribution).toBeUndefined();
  });
});
