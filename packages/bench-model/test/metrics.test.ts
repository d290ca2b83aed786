import { describe, expect, it } from 'vitest';
import { METRIC_IDS, METRICS, metricsOf, type MetricId } from '../src/metrics.ts';
import type { LatencyUs } from '../src/figures.ts';
import { SCHEMAS } from '../src/schemas.ts';
import { figureOf } from 'bench-analysis/metrics';
import { toModel } from 'bench-report/model/model';
import { toView } from 'bench-report/view';
import { okTrial, readGoldenRun, sampleLoad, sampleMeasured } from '../../bench-lab/testing/samples.ts';

const measured = (latencyUs: LatencyUs, latencyAtLeastUs?: LatencyUs) =>
  sampleMeasured({
    given: { load: sampleLoad({ latencyUs, ...(latencyAtLeastUs && { latencyAtLeastUs }) }) },
  });

const labelsOf = (ids: readonly MetricId[]): string[] => ids.map((id) => METRICS[id].label);

describe('the slowest latencies', () => {
  const { 'p99.9': tail, max } = METRICS;

  it('are lower bounds if the generator may have read them late', () => {
    const exact = measured({ mean: 900, p99_9: 5000, max: 90_000 }, { mean: 800, p99_9: 4100, max: 82_000 });
    expect([tail, max].map(({ from }) => from(exact))).toEqual([5000, 90_000]);
    expect([tail, max].map(({ isLowerBound }) => isLowerBound?.(exact))).toEqual([false, false]);
    const late = measured({ mean: 900, p99_9: 5000, max: 90_000 }, { mean: 800, p99_9: 900, max: 2000 });
    expect([tail, max].map(({ from }) => from(late))).toEqual([900, 2000]);
    expect([tail, max].map(({ isLowerBound }) => isLowerBound?.(late))).toEqual([true, true]);
  });

  it('are lower bounds if they lie among requests without a response', () => {
    const open = measured({ mean: 900, p99_9: 4e6, max: 7e6, atLeast: ['p99_9', 'max'] });
    const trial = okTrial('vanilla', open);
    expect([tail, max].map((metric) => figureOf(trial, metric))).toEqual([
      { value: 4e6, valid: true, atLeast: true },
      { value: 7e6, valid: true, atLeast: true },
    ]);
  });
});

describe('a metric is one entry', () => {
  it('that the schema of records knows', () => {
    expect(SCHEMAS.record).toMatchObject({ definitions: { metric: { enum: METRIC_IDS } } });
  });

  it('that has a column in a report in which a row has its figure, in the order of the table', () => {
    const model = toModel(readGoldenRun());
    const known = METRIC_IDS.filter((id) => model.rows.some(({ figures }) => figures[id] !== undefined));
    const { columns } = toView(model);
    expect(columns.filter((column) => labelsOf(METRIC_IDS).includes(column))).toEqual(labelsOf(known));
  });

  it('that is invalid if something that it depends on is in doubt', () => {
    expect(metricsOf('pace')).toEqual(expect.arrayContaining(['goodput', 'p50', 'p99']));
    expect(metricsOf('pace')).not.toContain('cpu');
    expect(metricsOf('tail')).toContain('p99');
    expect(metricsOf('tail')).not.toContain('p50');
    expect(metricsOf('cpu', 'pace')).toEqual(expect.arrayContaining(['goodput', 'p50', 'p99', 'cpu']));
    expect(metricsOf('cpu', 'pace')).not.toContain('memory');
    for (const id of METRIC_IDS) expect(METRICS[id].dependsOn.length).toBeGreaterThan(0);
  });
});
