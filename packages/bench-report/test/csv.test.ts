import { parse } from 'csv-parse/sync';
import { describe, expect, it, vi } from 'vitest';
import { renderCsv } from '../src/csv.ts';
import { toModel } from '../src/model/model.ts';
import { okTrial, readGoldenRun, sampleMeasured } from '../../bench-lab/testing/samples.ts';

// Limits the metrics, so that a new one changes no golden file.
vi.mock(import('bench-model/metrics'), async (original) => {
  const { limitMetrics } = await import('../../bench-lab/testing/shown-metrics.ts');
  return limitMetrics(await original());
});

const run = readGoldenRun();
const model = toModel(run);
const golden = (name: string) => `../../bench-lab/testing/fixtures/golden/${name}`;
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
