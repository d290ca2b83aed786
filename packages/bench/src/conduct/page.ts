/** The HTML report: its script and style, the file beside the run, and the browser that shows it. */
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from 'bench-machine/files';
import { digestOf } from 'bench-targets/prepare/digest';
import { UsageError } from 'bench-model/errors';
import { renderHtml, type Assets } from 'bench-report/html/document';
import { renderSite } from 'bench-report/html/site';
import { toModel, type Model } from 'bench-report/model/model';
import { readRun, writeReport } from 'bench-analysis/results/store';
import { readWhy } from 'bench-analysis/why/store';

export const PAGES = fileURLToPath(new URL('../../../bench-report/page/', import.meta.url));

/** The bundles of a checkout, which serve all projects that are measured with it. */
const CACHE = join(PAGES, '../../../.cache/page');

/** All that a bundle is made of, from the root of the repository: the scripts, what they share with the other reports, and libraries. */
export const PAGE_SOURCES = [
  'packages/bench-report/{page,src}/**/*.ts',
  'packages/bench-{model,statistics}/src/**/*.ts',
  'packages/bench-report/package.json',
  'pnpm-lock.yaml',
];

/** The script in the package, where it is bundled when the package is made. */
export const BUNDLE = 'report.js';

/** The name of the report in the folder of a run. */
const REPORT = 'report.html';

/** Renders the HTML report of a model with distributions, and the profiles in the folder of its run. */
export async function renderPage(model: Model, folder?: string): Promise<string> {
  const why = folder === undefined ? undefined : readWhy(folder);
  return renderHtml(model, await readAssets(), why);
}

/** Writes the HTML report of a run into its folder and returns its path. */
export async function writePage(model: Model, folder: string): Promise<string> {
  writeReport(folder, REPORT, await renderPage(model, folder));
  return join(folder, REPORT);
}

/**
 * Writes the reports of all runs below a folder, and an index of them, into another one. Returns the path of the index. Throws
 * a usage error if no run with a trial is there.
 */
export async function writeSite(from: string, place: string): Promise<string> {
  const found = globSync('**/run.json', { cwd: from }).map((file) => readRun(join(from, dirname(file))));
  const runs = found.filter(({ trials }) => trials.length > 0);
  if (runs.length === 0)
    throw new UsageError(`${from} has no runs with a trial`, 'name a folder of runs, such as .bench/results');
  const assets = await readAssets();
  makeFolder(place);
  const entries = runs.map((run) => {
    const model = toModel(run, { distributions: true });
    const file = `${run.plan.run}.html`;
    writeReport(place, file, renderHtml(model, assets, readWhy(run.folder)));
    return { file, model };
  });
  writeReport(place, 'index.html', renderSite(entries, assets.style));
  return join(place, 'index.html');
}

let bundle: Promise<string> | undefined;

/** Returns the script and the style of the page. A checkout bundles the script once per version of its sources. */
async function readAssets(): Promise<Assets> {
  const packed = join(PAGES, BUNDLE);
  const file = existsSync(packed) ? packed : await (bundle ??= provideBundle());
  return { script: readFileSync(file, 'utf8'), style: readFileSync(join(PAGES, 'page.css'), 'utf8') };
}

async function provideBundle(): Promise<string> {
  const root = join(PAGES, '../../..');
  // To read all of them would take longer than to render the page.
  const versions = globSync(PAGE_SOURCES, { cwd: root }).map((source) => {
    const { size, mtimeMs } = statSync(join(root, source));
    return `${source} ${size} ${mtimeMs}`;
  });
  const file = join(CACHE, `${digestOf([], versions.join('\n'))}.js`);
  if (existsSync(file)) return file;
  const { bundlePage } = await import('./bundle.ts');
  mkdirSync(dirname(file), { recursive: true });
  // Another process may be writing the same file.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, await bundlePage());
  renameSync(draft, file);
  return file;
}
