/** Pages in Chromium, with everything that they tell and ask for. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe, { type AxeResults } from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { runSync } from '../../src/machine/subprocess.ts';
import { needs, tool } from '../needs.ts';

/** A name that would run as a script if a page read it as HTML. */
export const HOSTILE = `</script><script>globalThis.hacked = 1</script><img src="x" onerror="globalThis.hacked = 2">`;

/** A page, with everything that it told and asked for. */
export interface Opened extends AsyncDisposable {
  page: Page;
  /** Messages of the console, errors, and requests for anything but the file. */
  noise: string[];
}

/** How a page is opened: the end of its address, and the options of its window. */
export interface Opening {
  fragment?: string;
  options?: Parameters<Browser['newPage']>[0];
}

/** Starts Chromium for the tests of this file. Without Chromium they are skipped. Returns the function that opens documents by name. */
export function useChromium(): (documents: Record<string, string>, opening?: Opening) => Promise<Opened> {
  const found = needs(tool('chromium'));
  const folder = mkdtempSync(join(tmpdir(), 'bench-page-'));
  let browser: Browser | undefined;

  beforeAll(async () => {
    if (found.why !== undefined) return;
    const executablePath = runSync(['which', 'chromium']).stdout.trim();
    // Containers give the sandbox of Chromium nothing to work with.
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  return async (documents, { fragment = '', options = {} } = {}) => {
    const files = Object.entries(documents).map(([name, text]) => {
      const file = join(folder, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return pathToFileURL(file).href;
    });
    const page = await browser!.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    const noise: string[] = [];
    page.on('console', (message) => noise.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => noise.push(`error: ${error.message}`));
    page.on('request', (request) => {
      if (!files.includes(request.url().replace(/#.*/, ''))) noise.push(`request: ${request.url()}`);
    });
    await page.goto(`${files[0]}${fragment}`);
    return { page, noise, [Symbol.asyncDispose]: () => page.close() };
  };
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

/** Returns what axe finds in a page. */
export async function checkAccess(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
