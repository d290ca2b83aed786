/** Pages in Chromium, with all their messages and requests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import pWaitFor from 'p-wait-for';
import { afterAll, beforeAll } from 'vitest';
import { runSync } from 'bench-machine/subprocess';
import { needs, tool } from '../../../bench-lab/testing/needs.ts';

const POLL_MS = 20;
/** The longest wait for a page on a busy machine. */
const PATIENCE_MS = 20_000;

const DESK = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

/** A name that would run as a script if a page read it as HTML. */
export const HOSTILE = `</script><script>globalThis.hacked = 1</script><img src="x" onerror="globalThis.hacked = 2">`;

export interface Opened extends AsyncDisposable {
  page: Page;
  /** Messages of the console, errors, and requests for anything but the file. */
  noise: string[];
}

/** The options for opening a page: the end of its address, and its window. */
export interface Opening {
  fragment?: string;
  viewport?: { width: number; height: number };
}

export interface Chromium {
  open(documents: Record<string, string>, opening?: Opening): Promise<Opened>;
  /** Draws a page once for the tests of a `describe`. */
  share(draw: () => Promise<Opened>): () => Opened;
}

/**
 * Starts Chromium for the tests of this file. Without Chromium they are skipped. One page after the other is shown in one
 * window: a renderer for each cost more than half of the work.
 */
export function useChromium(): Chromium {
  const found = needs(tool('chromium'));
  const folder = mkdtempSync(join(tmpdir(), 'bench-page-'));
  let browser: Browser | undefined;
  let page: Page;

  beforeAll(async () => {
    if (found.why !== undefined) return;
    const executablePath = runSync(['which', 'chromium']).stdout.trim();
    // Containers give the sandbox of Chromium nothing to work with.
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open: Chromium['open'] = async (documents, { fragment = '', viewport = DESK } = {}) => {
    // A new folder each time: to the same address with another fragment, Chromium would load nothing.
    const place = mkdtempSync(join(folder, 'opened-'));
    const files = Object.entries(documents).map(([name, text]) => {
      const file = join(place, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return pathToFileURL(file).href;
    });
    await page.setViewportSize(viewport);
    await page.emulateMedia({ media: null, colorScheme: 'light' });
    const noise: string[] = [];
    page.on('console', (message) => noise.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => noise.push(`error: ${error.message}`));
    page.on('request', (request) => {
      if (!files.includes(request.url().replace(/#.*/, ''))) noise.push(`request: ${request.url()}`);
    });
    await page.goto(`${files[0]}${fragment}`);
    await becomesTrue(page, `innerWidth === ${viewport.width}`);
    const close = async (): Promise<void> => {
      page.removeAllListeners();
      await page.goto('about:blank');
    };
    return { page, noise, [Symbol.asyncDispose]: close };
  };

  return {
    open,
    share(draw) {
      let opened: Opened | undefined;
      beforeAll(async () => {
        if (found.why === undefined) opened = await draw();
      });
      afterAll(() => opened?.[Symbol.asyncDispose]());
      return () => {
        if (opened === undefined) throw new Error(found.why ?? 'it is drawn in beforeAll');
        return opened;
      };
    },
  };
}

/**
 * Waits until an expression is true in the page. `page.waitForFunction` evaluates it again in the page itself, where
 * the content security policy forbids that: it throws if the expression was not true at once.
 */
export async function becomesTrue(page: Page, expression: string): Promise<void> {
  const message = `waited ${PATIENCE_MS / 1000} s in vain for ${expression}`;
  const isTrue = async () => (await page.evaluate(expression)) === true;
  await pWaitFor(isTrue, { interval: POLL_MS, timeout: { milliseconds: PATIENCE_MS, message } });
}

/**
 * Returns how many pixels a page scrolls sideways on a phone. The widths come from CSS alone, so a window that is made
 * narrow shows what one shows that was narrow from the start.
 */
export async function scrollsOnPhone(page: Page): Promise<number> {
  await page.setViewportSize(PHONE);
  await becomesTrue(page, `innerWidth === ${PHONE.width}`);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  await page.setViewportSize(DESK);
  return width - PHONE.width;
}

/** The fragment of the address, as the page sees it. `page.url()` learns of `history.replaceState` later. */
export const readFragment = (page: Page): Promise<string> => page.evaluate<string>('location.hash');

/** The texts of the tables with this caption, one object per row. */
export async function readTable(page: Page, caption: string): Promise<Record<string, string>[]> {
  return page.evaluate(
    `(${String((text: string) => {
      const { document } = globalThis as unknown as {
        document: { querySelectorAll: (of: string) => Iterable<Table> };
      };
      interface Cell {
        textContent: string;
      }
      interface Table {
        caption: Cell;
        tHead: { rows: { cells: Iterable<Cell> }[] };
        tBodies: { rows: Iterable<{ cells: Iterable<Cell> }> }[];
      }
      const [table] = [...document.querySelectorAll('table')].filter(
        (one) => one.caption.textContent === text,
      );
      if (table === undefined) throw new Error(`no table ${text}`);
      const heads = [...table.tHead.rows[0]!.cells].map((cell) => cell.textContent);
      return [...table.tBodies[0]!.rows].map(({ cells }) =>
        Object.fromEntries([...cells].map((cell, index) => [heads[index], cell.textContent])),
      );
    })})(${JSON.stringify(caption)})`,
  );
}

/** Returns what axe finds in a page, in the light and in the dark theme, which differ in their colours only. */
export async function checkAccess(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: string[] = [];
  for (const [colorScheme, tags] of [
    ['light', undefined],
    ['dark', ['cat.color']],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await becomesTrue(page, `matchMedia('(prefers-color-scheme: ${colorScheme})').matches`);
    const options: RunOptions = {
      resultTypes: ['violations'],
      selectors: false,
      ...(tags && { runOnly: { type: 'tag', values: [...tags] } }),
    };
    const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
    found.push(
      ...violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html }) => `${colorScheme}: ${id}: ${html.slice(0, 200)}`),
      ),
    );
  }
  return found;
}
