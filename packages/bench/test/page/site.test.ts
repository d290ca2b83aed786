import { describe, expect, it } from 'vitest';
import { readAssets } from '../../src/conduct/page.ts';
import { toModel } from 'bench-report/model/model';
import { toCover } from 'bench-report/site/cover';
import { toSite, type Skipped } from 'bench-report/site/data';
import { renderSite } from 'bench-report/html/document';
import type { StoredRun } from 'bench-analysis/results/store';
import { runOn, withVersions } from '../../../bench-lab/testing/over-time.ts';
import {
  checkAccess,
  HOSTILE,
  readFragment,
  readTable,
  scrollsOnPhone,
  useChromium,
  type Opened,
  type Opening,
} from './chromium.ts';

const chromium = useChromium();

async function open(runs: StoredRun[], opening: Opening = {}, skipped: Skipped[] = []): Promise<Opened> {
  const listed = runs.map((run) => ({
    run,
    href: `runs/${encodeURIComponent(run.plan.run)}.html`,
    cover: toCover(toModel(run)),
  }));
  const index = renderSite(toSite(listed, skipped), await readAssets('site'));
  return chromium.open(
    { 'index.html': index, 'runs/day-0.html': '<title>the report</title><h1>Report</h1>' },
    opening,
  );
}

const renewed = withVersions({ node: '27.0.0' });
const elsewhere = (run: StoredRun) => ({ host: { ...run.host, cores: 64 } });
const RUNS = [runOn(0), runOn(1), runOn(5, renewed), runOn(6, elsewhere), runOn(7, elsewhere)];
const TITLE = 'CPU µs/req of devices at 10 connections';
/** The table of the first of the two machines. */
const FIRST = `${TITLE}, ${toSite([{ run: runOn(0), href: '' }], []).runs[0]!.machine}`;

/** Counts the lines of vanilla. */
const linesOf = async (runs: StoredRun[]): Promise<number> => {
  await using opened = await open(runs, { fragment: '#target=vanilla&connections=10' });
  const count = `[...document.querySelectorAll('figure .plot g[stroke^="var(--series"] > path')]
    .filter((path) => path.getAttribute('d').includes('L')).length`;
  return await opened.page.evaluate<number>(count);
};
const longer = (run: StoredRun) => ({ plan: { ...run.plan, windowSeconds: 60 } });
const quick = (run: StoredRun) => ({ plan: { ...run.plan, quick: true } });

const other = (run: StoredRun): Partial<StoredRun> => ({
  ...renewed(run),
  trials: run.trials.filter(({ connections }) => connections !== 10),
});

/** The tests share a page, because drawing it takes most of their time: each leaves it as wide and as full as it was. */
describe('the index over runs of two machines', () => {
  const opened = chromium.share(() => open(RUNS, {}, [{ name: 'a', reason: 'b' }]));

  it('reports no error, sends no request, and has a table for every chart', async () => {
    const { page, noise } = opened();
    expect(noise).toEqual([]);
    expect(await page.title()).toBe('5 runs on 2 machines · Bench results');
    const [charts, drawn, tables] = await Promise.all(
      ['figure', 'figure .plot svg', 'figure details table'].map((of) => page.locator(of).count()),
    );
    expect([drawn, tables]).toEqual([charts, charts]);
    // Two machines, and each number of connections of the run.
    expect(charts).toBe(2 * runOn(0).plan.rungs.length);
  });

  it('shows each target over time, one machine after the other, with changes of versions', async () => {
    const shown = await readTable(opened().page, FIRST);
    const vanilla = shown.filter(({ target }) => target === 'vanilla');
    expect(vanilla.map(({ run, change }) => [run, change])).toEqual([
      ['day-0', '—'],
      ['day-1', '—'],
      ['day-5', '1'],
    ]);
    const { node = '' } = runOn(0).versions;
    expect(await opened().page.getByText(`Node of Bench ${node} → 27.0.0`).count()).toBeGreaterThan(0);
  });

  it('fits a phone without scrolling sideways', async () => {
    expect(await scrollsOnPhone(opened().page)).toBe(0);
  });

  it('filters by keyboard, and keeps the filter in its address', async () => {
    const { page } = opened();
    await page.getByLabel('fastify', { exact: true }).focus();
    await page.keyboard.press('Space');
    await page.getByLabel('10 connections', { exact: true }).focus();
    await page.keyboard.press('Space');
    expect(await readFragment(page)).toBe('#connections=10&target=fastify');
    expect(await page.getByRole('status').textContent()).toBe('5 of 30 figures are shown.');
    await page.reload();
    expect(await page.getByRole('status').textContent()).toBe('5 of 30 figures are shown.');
    expect(new Set((await readTable(page, FIRST)).map(({ target }) => target))).toEqual(new Set(['fastify']));
    await page.getByRole('button', { name: 'Clear' }).press('Enter');
    expect(await page.getByRole('status').textContent()).toBe('30 of 30 figures are shown.');
  });

  it('has a picture of the outcome of each run, with a link to its report', async () => {
    const covers = opened().page.locator('.covers li');
    expect(await covers.locator('.plot svg').count()).toBe(RUNS.length);
    expect(await covers.locator('a').first().getAttribute('href')).toBe('runs/day-7.html');
    expect(await covers.locator('.plot').first().getAttribute('aria-label')).toMatch(
      /^CPU µs\/req at 10 connections\. /,
    );
  });

  it('has no violation that axe finds, in the light and the dark theme', async () => {
    await opened().page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    expect(await checkAccess(opened().page)).toEqual([]);
  });

  // The last test, because it leaves the page.
  it('links to the report of each run', async () => {
    const { page, noise } = opened();
    await page.getByRole('link', { name: 'day-0' }).last().press('Enter');
    await page.waitForURL(/runs\/day-0\.html$/);
    expect(await page.title()).toBe('the report');
    expect(noise).toEqual([]);
  });
});

describe('the index over runs in Chromium', () => {
  it('finds a change also if the run between was filtered out', async () => {
    await using opened = await open([runOn(0), runOn(1, other), runOn(2, renewed)]);
    const shown = await readTable(opened.page, TITLE);
    expect(shown.filter(({ change }) => change === '1').map(({ run }) => run)).toContain('day-2');
  });

  it('draws a line only between runs that can be compared', async () => {
    // The symbol of vanilla is a circle, which has arcs: only its line has straight parts.
    expect(await linesOf([runOn(0), runOn(1)])).toBe(1);
    expect(await linesOf([runOn(0), runOn(1, longer)])).toBe(0);
  });

  it('lists quick runs and runs without trials, and what it does not show', async () => {
    await using opened = await open([runOn(0, quick), runOn(1, () => ({ trials: [] }))], {}, [
      { name: 'broken', reason: 'trials.jsonl:1: cannot be read' },
    ]);
    const { page, noise } = opened;
    expect(noise).toEqual([]);
    const shown = await readTable(page, 'Runs, the newest first');
    expect(new Set(shown.map(({ run }) => run))).toEqual(new Set(['day-0', 'day-1']));
    expect(shown.find(({ run }) => run === 'day-0')?.['trials']).toContain('quick');
    expect(await readTable(page, 'Folders of the results without a report')).toEqual([
      { folder: 'broken', reason: 'trials.jsonl:1: cannot be read' },
    ]);
  });

  it('shows hostile names as text', async () => {
    const text = JSON.stringify([runOn(0), runOn(1)])
      .replaceAll('"vanilla"', JSON.stringify(HOSTILE))
      .replaceAll('"devices"', JSON.stringify(HOSTILE));
    const runs = JSON.parse(text) as StoredRun[];
    runs[0]!.plan.run = HOSTILE;
    await using opened = await open(runs, {}, [{ name: HOSTILE, reason: HOSTILE }]);
    const { page, noise } = opened;
    expect(noise).toEqual([]);
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(await page.locator('img, script').count()).toBe(0);
    const shown = await readTable(page, 'Runs, the newest first');
    expect(shown.map(({ run }) => run)).toContain(HOSTILE);
  });
});
