import { describe, expect, it } from 'vitest';
import { readPastedTimes } from 'bench-analysis/pasted-times';
import { renderMarkdown } from '../src/markdown.ts';
import { toModel } from '../src/model/model.ts';
import { renderTerminal } from '../src/terminal.ts';
import { toTimesView } from '../src/times.ts';
import { okTrial, readFixture, readGoldenRun, sampleMeasured } from '../../bench-lab/testing/samples.ts';

const run = readGoldenRun();
const pasted = readPastedTimes(readFixture('time/pasted.md'), 'old.md');
const golden = (name: string) => `../../bench-lab/testing/fixtures/golden/${name}`;

const cellOf = (view: ReturnType<typeof toTimesView>, field: string, column: string, group = 0) =>
  view.groups[group]?.rows.find(([name]) => name === field)?.[view.columns.indexOf(column)];

describe('the reports of time(1) of a run', () => {
  const view = toTimesView(toModel(run), []);

  it('have a table for each rung, with fields as rows and targets as columns', async () => {
    expect(view.columns.slice(3)).toEqual(run.plan.targets.map(({ id }) => id));
    expect(view.groups.map(({ heading }) => heading)).toEqual(['10 connections', '100 connections']);
    await expect(renderTerminal(view)).toMatchFileSnapshot(golden('time.txt'));
  });

  it('have only the fields of their platform', () => {
    const fields = view.groups[0]?.rows.map(([name]) => name);
    expect(fields).toContain('max resident set');
    expect(fields).not.toContain('instructions');
    expect(renderTerminal(view)).not.toMatch(/NaN|undefined/);
  });

  it.each([80, 120])('are split into tables that fit %i columns, without losing a target', (width) => {
    const wide = toTimesView(toModel(run), pasted);
    const lines = renderTerminal(wide, { width }).split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    const heads = lines.filter((line) => line.startsWith('│ field'));
    expect(heads.length).toBeGreaterThan(1);
    const names = heads.flatMap((head) =>
      head
        .split('│')
        .slice(4, -1)
        .map((name) => name.trim()),
    );
    expect(names).toEqual(wide.columns.slice(3));
  });
});

describe('pasted reports beside a run', () => {
  const view = toTimesView(toModel(run), pasted);

  it('are columns of every table, in the units of the run', async () => {
    expect(view.columns.slice(-4)).toEqual(['old.md #1', 'old.md #2', 'old.md #3', 'old.md #4']);
    for (const group of [0, 1]) {
      expect(cellOf(view, 'max resident set', 'old.md #1', group)).toBe('57.1 MiB');
      expect(cellOf(view, 'max resident set', 'vanilla', group)).toMatch(/^\d+\.\d MiB$/);
    }
    expect(cellOf(view, 'format', 'old.md #1')).toBe('BSD');
    expect(cellOf(view, 'format', 'vanilla')).toBe('GNU');
    await expect(renderMarkdown(view)).toMatchFileSnapshot(golden('time.md'));
  });

  it('show a dash for a field that the other platform does not keep', () => {
    expect(cellOf(view, 'messages sent', 'old.md #1')).toBe('670,126');
    expect(cellOf(view, 'messages sent', 'vanilla')).toBe('—');
  });

  it('are described by the processes that they cover', () => {
    const notes = view.notes.join('\n');
    expect(notes).toMatch(
      /old\.md #2: old\.md:126, pnpm run bench:fastify\. It covers the launcher \(pnpm run\), not the server\./,
    );
    expect(cellOf(view, 'CPU µs/answer', 'old.md #2')).toBe('—');
    expect(cellOf(view, 'CPU µs/answer', 'old.md #1')).toMatch(/^\d+$/);
  });

  it('are shown alone if the run has no report', () => {
    const bare = toModel({ ...run, trials: [okTrial('vanilla', sampleMeasured())] });
    const alone = toTimesView(bare, pasted);
    expect(alone.columns.slice(3)).toHaveLength(4);
    expect(alone.groups).toHaveLength(1);
    expect(alone.notes.join('\n')).not.toContain('Columns of the run');
    expect(toTimesView(bare, []).groups[0]).toMatchObject({ heading: 'no report in this run' });
  });
});
