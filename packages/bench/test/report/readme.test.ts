import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/catalogue/stacks.ts';
import { compareWithin } from '../../src/analyse/compare.ts';
import { DEFAULT_THRESHOLD } from '../../src/plan/options.ts';
import { renderComparison } from '../../src/report/compare.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import { toView } from '../../src/report/view.ts';
import { summarisePool } from '../../src/analyse/power.ts';
import { createRandom } from '../../src/random.ts';
import { renderPower } from '../../src/report/power.ts';
import { readPool } from '../../src/results/pool.ts';
import { RESULTS, readRun } from '../../src/results/store.ts';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const QUOTES = [...README.matchAll(/<!-- run (?<run>[\w-]+) -->\n(?<quote>.*?)<!-- end -->/gs)];

const COMPARISONS = [
  ...README.matchAll(/<!-- compare (?<run>[\w-]+) -->\n```\n(?<quote>.*?)```\n<!-- end -->/gs),
];

const POOLS = [...README.matchAll(/<!-- power (?<run>[\w-]+) -->\n```\n(?<quote>.*?)```\n<!-- end -->/gs)];

describe('the README', () => {
  it('quotes a published run', () => {
    expect(QUOTES.length).toBeGreaterThan(0);
  });

  it.each(QUOTES.map(({ groups }) => [groups?.['run'] ?? '', groups?.['quote'] ?? '']))(
    'agrees with the published run %s',
    (run, quote) => {
      const stored = readRun(join(RESULTS, 'published', run));
      expect(quote.trim()).toBe(renderMarkdown(toView(stored)).trim());
      expect(stored.plan.quick).toBe(false);
    },
  );

  it('quotes published comparisons', () => {
    expect(COMPARISONS.length).toBeGreaterThan(0);
  });

  it.each(COMPARISONS.map(({ groups }) => [groups?.['run'] ?? '', groups?.['quote'] ?? '']))(
    'agrees with the comparison of the published run %s',
    (run, quote) => {
      const stored = readRun(join(RESULTS, 'published', run));
      const table = compareWithin(stored, { by: 'cpu', threshold: DEFAULT_THRESHOLD });
      expect(quote).toBe(renderComparison(table, `run ${run}`, []));
    },
  );

  it.each(POOLS.map(({ groups }) => [groups?.['run'] ?? '', groups?.['quote'] ?? '']))(
    'agrees with the published sittings %s',
    (run, quote) => {
      const pool = readPool(join(RESULTS, 'published', run));
      if (pool === undefined) throw new Error(`no pool ${run}`);
      expect(quote).toBe(renderPower(pool, summarisePool(pool.entries, '12/18/24', createRandom(1))));
    },
  );

  it('quotes published sittings', () => {
    expect(POOLS.length).toBeGreaterThan(0);
  });
});
