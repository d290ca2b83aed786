import { describe, expect, it } from 'vitest';
import { renderPage } from '../../src/conduct/page.ts';
import { sum } from 'bench-statistics/numbers';
import { toModel, type Source } from 'bench-report/model/model';
import { toTimesView } from 'bench-report/times';
import { toView } from 'bench-report/view';
import { findRun, readRun } from 'bench-analysis/results/store';
import { readGoldenRun } from '../../../bench-lab/testing/samples.ts';
import {
  becomesTrue,
  checkAccess,
  HOSTILE,
  readFragment,
  readTable,
  scrollsOnPhone,
  useChromium,
  type Opened,
} from './chromium.ts';

const chromium = useChromium();

async function open(source: Source, fragment = ''): Promise<Opened> {
  return chromium.open(
    { 'report.html': await renderPage(toModel(source, { distributions: true })) },
    { fragment },
  );
}

/** A4 without its margins, in CSS pixels. */
const PAPER_WIDTH = 702;

const headline = readRun(findRun('20261123-090543-devices'));
const pythons = readRun(findRun('20261121-234936-devices'));

const ENDS = 'How the requests of the windows ended, all rounds together';

/**
 * Describes the page of a run. All tests share it, because drawing it takes most of their time: those of `more` leave it
 * as wide and as full as it was.
 */
function describePage(name: string, source: Source, more?: (opened: () => Opened) => void): void {
  describe(`the page of a run ${name}`, () => {
    const opened = chromium.share(() => open(source));

    it('reports no error, sends no request, and has a table for every chart', async () => {
      const { page, noise } = opened();
      expect(noise).toEqual([]);
      expect(await page.title()).toContain(source.plan.run);
      const [charts, drawn, tables] = await Promise.all(
        ['figure', 'figure .plot svg', 'figure details table'].map((of) => page.locator(of).count()),
      );
      expect([drawn, tables]).toEqual([charts, charts]);
      expect(charts).toBeGreaterThanOrEqual(source.trials.length > 0 ? 5 : 0);
    });

    it('accounts for every request', async () => {
      const { page } = opened();
      const captions = await page.evaluate<string[]>(
        `[...document.querySelectorAll('caption')].map((one) => one.textContent)`,
      );
      const hasTrials = source.trials.length > 0;
      expect(captions.includes(ENDS)).toBe(hasTrials);
      const shown = hasTrials ? await readTable(page, ENDS) : [];
      const sums = shown.map(({ target = '', connections = '', sent = '', ...ended }) => {
        const numbers = Object.values(ended).map((text) => Number(text.replaceAll(',', '')));
        return { target, connections, sent, ended: sum(numbers).toLocaleString('en-US') };
      });
      expect(sums.length > 0).toBe(hasTrials);
      for (const { sent, ended } of sums) expect(ended).toBe(sent);
      const counted = source.trials.flatMap((trial) => {
        const parts = trial.status === 'failed' ? trial.partial : trial.measured;
        return parts?.load?.counts.sent ?? [];
      });
      expect(sum(sums.map(({ sent }) => Number(sent.replaceAll(',', ''))))).toBe(sum(counted));
    });

    more?.(opened);

    // The last test, because it does not change the page back.
    it('fits on paper', async () => {
      const { page } = opened();
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: PAPER_WIDTH, height: 1000 });
      await becomesTrue(page, `innerWidth === ${PAPER_WIDTH} && matchMedia('print').matches`);
      await page.evaluate('dispatchEvent(new Event("beforeprint"))');
      const wide = await page.evaluate(
        `[...document.querySelectorAll('table, .plot svg, pre')]
          .filter((one) => one.getBoundingClientRect().right > ${PAPER_WIDTH} + 1)
          .map((one) => one.textContent.slice(0, 80))`,
      );
      expect(wide).toEqual([]);
    });
  });
}

describePage('of a ladder', headline, (opened) => {
  it('shows the answer on its first screen, at other numbers of connections by a switch', async () => {
    const { page } = opened();
    const picture = page.locator('.answer .plot');
    const box = await picture.boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(600);
    const described = (): Promise<string | null> => picture.getAttribute('aria-label');
    expect(await described()).toMatch(/^The targets at 10 connections\. vanilla at 10: /);
    await page.getByRole('radio', { name: '10 connections', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await described()).toMatch(/^The targets at 100 connections\. vanilla at 100: /);
    expect(await page.getByRole('group', { name: 'Before you use a figure' }).count()).toBe(0);
    await page.keyboard.press('ArrowLeft');
  });

  it('copies its picture as PNG', async () => {
    const { page } = opened();
    await page.evaluate(
      `Object.defineProperty(navigator, 'clipboard', { value: { write: async ([item]) => {
        globalThis.copied = await createImageBitmap(await item.getType('image/png'));
      } } })`,
    );
    await page.getByRole('button', { name: 'Copy the picture' }).click();
    await becomesTrue(page, 'globalThis.copied !== undefined');
    expect(await page.evaluate('globalThis.copied.width')).toBeGreaterThan(1000);
  });

  it('shows the same figures as the terminal', async () => {
    const { columns, groups } = toView(toModel(headline));
    expect(groups.length).toBeGreaterThan(1);
    for (const { heading, rows } of groups) {
      const shown = await readTable(opened().page, `CPU µs/req at ${heading}`);
      const told = rows.map((row) =>
        Object.fromEntries(columns.map((column, index) => [column, row[index]])),
      );
      for (const row of told) expect(shown).toContainEqual(expect.objectContaining(row));
      expect(shown).toHaveLength(told.length);
    }
  });

  it('filters by keyboard, and keeps the filter in its address', async () => {
    const { page, noise } = opened();
    await page.getByLabel('fastapi', { exact: true }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('checkbox', { name: '1,000 connections' }).focus();
    await page.keyboard.press('Space');
    expect(await page.getByRole('status').textContent()).toBe('1 of 20 rows are shown.');
    expect(await readFragment(page)).toBe('#stack=fastapi&connections=1000');
    expect(await readTable(page, 'CPU µs/req at 1,000 connections')).toMatchObject([{ target: 'fastapi' }]);
    await page.reload();
    expect(await page.getByRole('status').textContent()).toBe('1 of 20 rows are shown.');
    await page.getByRole('button', { name: 'Clear' }).press('Enter');
    expect(await page.getByRole('status').textContent()).toBe('20 of 20 rows are shown.');
    expect(noise).toEqual([]);
  });

  it('ranks by the chosen metric', async () => {
    const { page } = opened();
    await page.getByLabel('Metric').selectOption('p99');
    expect(await readFragment(page)).toBe('#metric=p99');
    const shown = await readTable(page, 'p99 at 1,000 connections');
    expect(shown.map((row) => [row['#'], row['target']])).toEqual([
      ['1', 'fastify'],
      ['1', 'vanilla'],
      ['3', 'uvicorn'],
      ['3', 'litestar'],
      ['4', 'fastapi'],
    ]);
    await page.getByLabel('Metric').selectOption('cpu');
  });
});

describePage('of a comparison', pythons, (opened) => {
  it('shows the verdicts on its first screen, with labels that are not clipped', async () => {
    const { page } = opened();
    expect(await page.locator('.answer .plot').getAttribute('aria-label')).toMatch(
      /^The verdicts at 100 connections\. .*: (faster|undecided): /,
    );
    const clipped = await page.evaluate(
      `[...document.querySelectorAll('.plot svg')].flatMap((svg) => {
        const { left, right } = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')]
          .map((text) => [text.textContent, text.getBoundingClientRect()])
          .filter(([, box]) => box.width > 0 && (box.left < left - 1 || box.right > right + 1))
          .map(([text]) => text);
      })`,
    );
    expect(clipped).toEqual([]);
  });

  it('labels every tick of the ratios', async () => {
    const labels = await opened().page.locator('#comparisons .plot text').allTextContents();
    const ratios = labels.flatMap((text) => (text.startsWith('× ') ? [Number(text.slice(2))] : []));
    const steps = ratios.slice(1).map((ratio, index) => Math.round((ratio - ratios[index]!) * 100));
    expect(ratios.length).toBeGreaterThan(4);
    expect(new Set(steps).size).toBe(1);
  });

  it('fits a phone without scrolling sideways', async () => {
    expect(await scrollsOnPhone(opened().page)).toBe(0);
  });

  it('gives the best of many targets colours, and filters by target', async () => {
    const { page } = opened();
    const targets = new Set(pythons.trials.map(({ target }) => target.id));
    expect(targets.size).toBeGreaterThan(8);
    const rounds = page.locator('#rounds');
    expect(await rounds.locator('.legend li').count()).toBe(8);
    const grey = rounds.locator('.plot [stroke="var(--faint)"] path');
    expect(await grey.count()).toBe(targets.size - 8);
    expect(await readTable(page, 'CPU µs/req by round at 100 connections')).toHaveLength(targets.size);
    await page.getByText(`${targets.size} to choose from`).press('Enter');
    for (const name of ['uvicorn/interpreted@3.11', 'uvicorn@3.12'])
      await page.getByLabel(name, { exact: true }).press('Space');
    expect(await page.getByRole('status').textContent()).toBe('2 of 18 rows are shown.');
    expect(await rounds.locator('.legend li').allInnerTexts()).toEqual([
      'uvicorn/interpreted@3.11',
      'uvicorn@3.12',
    ]);
    await page.getByRole('button', { name: 'Clear' }).press('Enter');
    expect(await page.getByRole('status').textContent()).toBe('18 of 18 rows are shown.');
  });
});

describePage('with failed trials', readGoldenRun(), (opened) => {
  it('leads from its head to what the servers printed', async () => {
    const { page } = opened();
    await page.getByRole('link', { name: 'what the servers printed' }).press('Enter');
    await becomesTrue(page, 'document.activeElement.id === "problems-title"');
    expect(await page.getByRole('region', { name: 'Log of 002' }).innerText()).toContain(
      "No module named 'uvloop'",
    );
  });

  it('prints the tables, too', async () => {
    const { page } = opened();
    const closed = 'document.querySelectorAll("figure details:not([open])").length';
    expect(await page.evaluate(closed)).toBeGreaterThan(0);
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    expect(await page.evaluate(closed)).toBe(0);
    await page.evaluate('dispatchEvent(new Event("afterprint"))');
    expect(await page.evaluate(closed)).toBeGreaterThan(0);
  });

  it('has no violation that axe finds, in the light and the dark theme', async () => {
    const { page } = opened();
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    expect(await checkAccess(page)).toEqual([]);
  });
});

describePage('without trials', { ...headline, trials: [] });

describe('the page of a run at an address with a filter', () => {
  const opened = chromium.share(() => open(headline, '#stack=fastify&connections=1000&metric=p99'));

  it('shows the metric of the address', async () => {
    const { page } = opened();
    expect(await page.getByLabel('Metric').inputValue()).toBe('p99');
    expect(await readTable(page, 'p99 at 1,000 connections')).toMatchObject([{ target: 'fastify' }]);
  });

  it('shows the same reports of time(1) as the terminal', async () => {
    const { columns, groups } = toTimesView(toModel(headline));
    const place = columns.indexOf('fastify');
    const told = groups
      .find(({ heading }) => heading === '1,000 connections')
      ?.rows.map((row) => ({ field: row[0], scope: row[1], fastify: row[place] }));
    expect(await readTable(opened().page, 'time(1) at 1,000 connections')).toEqual(told);
  });

  it('moves to a section by a link, and keeps the filter', async () => {
    const { page } = opened();
    await page.getByRole('link', { name: 'Environment' }).press('Enter');
    await becomesTrue(page, 'document.activeElement.id === "environment-title"');
    expect(await readFragment(page)).toBe('#environment&stack=fastify&connections=1000&metric=p99');
    expect(await page.getByRole('status').textContent()).toBe('1 of 20 rows are shown.');
  });

  it('says on paper what was filtered, because the filters are hidden there', async () => {
    const { page } = opened();
    const words = page.getByText(
      '1 of 20 rows are shown. Metric: p99. Stack: fastify. Connections: 1,000 connections.',
    );
    expect(await words.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    expect(await words.isVisible()).toBe(true);
    expect(await page.getByLabel('Metric').isVisible()).toBe(false);
  });
});

describe('the page in Chromium', () => {
  it('shows hostile names, reasons and logs as text', async () => {
    const golden = readGoldenRun();
    const text = JSON.stringify(golden)
      .replaceAll('"vanilla"', JSON.stringify(HOSTILE))
      .replaceAll(/"text":"[^"]*"/g, `"text":${JSON.stringify(HOSTILE)}`)
      .replaceAll(/"logTail":\[[^\]]*\]/g, `"logTail":${JSON.stringify([HOSTILE, '<b>bold</b>'])}`);
    await using opened = await open(JSON.parse(text) as Source);
    const { page, noise } = opened;
    expect(noise).toEqual([]);
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(await page.locator('img, b, script').count()).toBe(0);
    expect(await page.getByText('<b>bold</b>').first().textContent()).toContain(HOSTILE);
    const targets = (await readTable(page, 'CPU µs/req at 100 connections')).map(({ target }) => target);
    expect(targets).toContain(HOSTILE);
  });
});
