import { Ajv } from 'ajv';
import { parse } from 'csv-parse/sync';
import { describe, expect, it, vi } from 'vitest';
import { renderBmf } from '../src/export.ts';
import { renderCsv } from '../src/csv.ts';
import { describeUnfit } from '../src/export.ts';
import { renderActionBenchmark } from '../src/export.ts';
import { toModel } from '../src/model/model.ts';
import { errorOf, okTrial, readGoldenRun, sampleMeasured } from '../../bench-lab/testing/samples.ts';

// Limits the metrics, so that a new one changes no golden file.
vi.mock(import('bench-model/metrics'), async (original) => {
  const { limitMetrics } = await import('../../bench-lab/testing/shown-metrics.ts');
  return limitMetrics(await original());
});

const run = readGoldenRun();
const model = toModel(run);
const golden = (name: string) => `../../bench-lab/testing/fixtures/golden/${name}`;
const isValid = (schema: object, text: string): unknown => {
  const validate = new Ajv().compile(schema);
  validate(JSON.parse(text));
  return validate.errors;
};

/**
 * Bencher Metric Format as its documentation describes it (bencher.dev/docs/reference/bencher-metric-format), and stricter:
 * no other fields, and names within the lengths that Bencher accepts.
 */
const BMF = {
  type: 'object',
  minProperties: 1,
  propertyNames: { minLength: 1, maxLength: 1024, not: { pattern: '-bencher-ignore$' } },
  additionalProperties: {
    type: 'object',
    minProperties: 1,
    // A slug: it names the measure and needs no other.
    propertyNames: { pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 64 },
    additionalProperties: {
      type: 'object',
      required: ['value'],
      properties: {
        value: { type: 'number' },
        lower_value: { type: 'number' },
        upper_value: { type: 'number' },
      },
      additionalProperties: false,
    },
  },
};

/** The entries that github-action-benchmark reads with its custom tools. It takes the number of a range after `± `. */
const GAB = {
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    required: ['name', 'unit', 'value'],
    properties: {
      name: { type: 'string', minLength: 1 },
      unit: { type: 'string', minLength: 1 },
      value: { type: 'number' },
      range: { type: 'string', pattern: '^± [0-9]+(\\.[0-9]+)?(e-?[0-9]+)?$' },
      extra: { type: 'string' },
    },
    additionalProperties: false,
  },
};

const unitsIn = (text: string) => new Set((JSON.parse(text) as { unit: string }[]).map(({ unit }) => unit));

describe('CSV', () => {
  type Row = Record<string, string>;
  const read = (text: string): Row[] => parse<Row>(text, { columns: true, cast: false });

  it('has one row for each trial, in the order of the run', async () => {
    const text = renderCsv(model);
    const rows = read(text);
    expect(rows.map(({ trial }) => trial)).toEqual(run.trials.map(({ id }) => id));
    const told = run.trials.map((trial) => {
      const goodput = trial.status === 'failed' ? undefined : trial.measured.load.goodputPerSecond;
      const load = (trial.status === 'failed' ? trial.partial : trial.measured)?.load;
      return [goodput, load?.counts.ok].map((figure) => String(figure ?? ''));
    });
    expect(told.filter(([goodput]) => goodput === '').length).toBeGreaterThan(0);
    expect(rows.map((row) => [row['goodput_per_second'], row['requests_ok']])).toEqual(told);
    await expect(text).toMatchFileSnapshot(golden('run.csv'));
  });

  it('says which figures are invalid or lower bounds', () => {
    const rows = read(renderCsv(model));
    const bound = rows.find(({ reasons }) => reasons === 'generator-bound');
    expect(bound).toMatchObject({
      status: 'suspect',
      goodput_validity: 'lower bound',
      p50_validity: 'invalid',
      cpu_validity: 'valid',
    });
  });

  it('keeps quotes, commas and line breaks in a name, and disarms formulas', () => {
    const id = '=HYPERLINK("http://a/"),\n"b"';
    const trial = okTrial(id, sampleMeasured());
    const [row] = read(renderCsv(toModel({ ...run, trials: [trial] })));
    expect(row?.['target']).toBe(`'${id}`);
  });

  it('of a run without trials is empty', () => {
    expect(read(renderCsv(toModel({ ...run, trials: [] })))).toEqual([]);
  });
});

describe('Bencher Metric Format', () => {
  it('follows its schema, and has the bounds around each value', async () => {
    const text = renderBmf(model);
    expect(isValid(BMF, text)).toBeNull();
    const benchmarks = JSON.parse(text) as Record<string, Record<string, Record<string, number>>>;
    for (const measure of Object.values(benchmarks).flatMap((measures) => Object.values(measures))) {
      expect(measure['lower_value']).toBeLessThanOrEqual(measure['value'] ?? NaN);
      expect(measure['upper_value']).toBeGreaterThanOrEqual(measure['value'] ?? NaN);
    }
    await expect(text).toMatchFileSnapshot(golden('run.bmf.json'));
  });

  it('omits lower bounds and invalid figures, and says how many', () => {
    const benchmarks = JSON.parse(renderBmf(model)) as Record<string, object>;
    const { cpu, goodput } = model.rows.find(({ target }) => target === 'vanilla')?.figures ?? {};
    expect(goodput?.atLeast).toBe(true);
    const vanilla = benchmarks['devices: vanilla at 10 connections'];
    expect(vanilla).not.toHaveProperty('goodput-per-second');
    expect(vanilla).toHaveProperty('cpu-us-per-request.value', cpu?.median);
    const shown = Object.values(benchmarks).flatMap((measures) => Object.keys(measures)).length;
    const all = model.rows.flatMap(({ figures }) => Object.keys(figures)).length;
    expect(describeUnfit(model)).toBe(
      `${all - shown} of ${all} figures are left out: they are invalid or lower bounds`,
    );
    const sound = toModel({ ...run, trials: [okTrial('vanilla', sampleMeasured())] });
    expect(describeUnfit(sound)).toBeUndefined();
  });
});

describe('the custom format of github-action-benchmark', () => {
  it('has one file for each direction', async () => {
    const [lower, higher] = [renderActionBenchmark(model, 'lower'), renderActionBenchmark(model, 'higher')];
    expect(isValid(GAB, lower)).toBeNull();
    expect(isValid(GAB, higher)).toBeNull();
    expect(unitsIn(higher)).toEqual(new Set(['per second']));
    expect(unitsIn(lower)).toEqual(new Set(['us', 'us per request', 'bytes', 's']));
    await expect(lower).toMatchFileSnapshot(golden('run.action-benchmark.json'));
  });

  it('has names that are unique and the same in every run', () => {
    const names = (run_: typeof run) =>
      (JSON.parse(renderActionBenchmark(toModel(run_), 'lower')) as { name: string }[]).map(
        ({ name }) => name,
      );
    expect(new Set(names(run)).size).toBe(names(run).length);
    const later = { ...run, plan: { ...run.plan, run: '20270101-000000-devices', seed: 8 } };
    expect(names(later)).toEqual(names(run));
    const open = { ...run, plan: { ...run.plan, load: { mode: 'open', perSecond: 500 } as const } };
    expect(names(open)).not.toContain(names(run)[0]);
  });
});

describe('formats that keep figures for later comparisons', () => {
  it('refuse a quick run', () => {
    const quick = toModel({ ...run, plan: { ...run.plan, quick: true } });
    for (const render of [renderBmf, (one: typeof quick) => renderActionBenchmark(one, 'lower')]) {
      expect(errorOf(() => render(quick)).message).toContain('too short to compare');
    }
    expect(renderCsv(quick)).toContain('vanilla');
  });
});
