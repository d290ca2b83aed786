import { describe, expect, it } from 'vitest';
import { toModel } from '../src/model/model.ts';
import { renderTerminal } from '../src/terminal.ts';
import { toTimesView } from '../src/times.ts';
import { okTrial, readGoldenRun, sampleMeasured } from '../../bench-lab/testing/samples.ts';

const run = readGoldenRun();
const golden = (name: string) => `../../bench-lab/testing/fixtures/golden/${name}`;

describe('the reports of time(1) of a run', () => {
  const view = toTimesView(toModel(run));

  it('have a table for each rung, with fields as rows and targets as columns', async () => {
    expect(view.columns.slice(2)).toEqual(run.plan.targets.map(({ id }) => id));
    expect(view.groups.map(({ heading }) => heading)).toEqual(['10 connections', '100 connections']);
    await expect(renderTerminal(view)).toMatchFileSnapshot(golden('time.txt'));
  });

  it('have only the fields of their platform', () => {
    const fields = view.groups[0]?.rows.map(([name]) => name);
    expect(fields).toContain('max resident set');
    expect(fields).not.toContain('instructions');
    expect(renderTerminal(view)).not.toMatch(/NaN|undefined/);
  });

  it.each([60, 80])('are split into tables that fit %i columns, without losing a target', (width) => {
    const wide = toTimesView(toModel(run));
    const lines = renderTerminal(wide, { width }).split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    const heads = lines.filter((line) => line.startsWith('│ field'));
    expect(heads.length).toBeGreaterThan(1);
    const names = heads.flatMap((head) =>
      head
        .split('│')
        .slice(3, -1)
        .map((name) => name.trim()),
    );
    expect(names).toEqual(wide.columns.slice(2));
  });
});

it('says that a run has no report', () => {
  const bare = toModel({ ...run, trials: [okTrial('vanilla', sampleMeasured())] });
  expect(toTimesView(bare).groups[0]).toMatchObject({ heading: 'no report in this run' });
});
