/** The index over all stored runs as a folder for a static host: `index.html`, and the report of each run beside it. */
import { HOME } from 'bench-machine/home';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { toModel } from 'bench-report/model/model';
import { toCover } from 'bench-report/site/cover';
import { toSite, type Listed, type Skipped } from 'bench-report/site/data';
import { isSite, renderSite } from 'bench-report/html/document';
import { readRun, shown, writeReport } from 'bench-analysis/results/store';
import { readAssets, renderPage } from './page.ts';
import { screen } from '../terminal/shell.ts';

const INDEX = 'index.html';

/** The folder of the reports. Every page in it belongs to the index. */
const REPORTS = 'runs';

/** The result of `writeSite`. */
interface WrittenSite {
  /** The path of the index. */
  index: string;
  reports: number;
  skipped: Skipped[];
}

/**
 * Writes the index over all stored runs and their reports, and removes the reports of runs that no longer exist. Throws
 * a usage error if the folder holds other files.
 */
export async function writeSite(folder: string, results = HOME.results): Promise<WrittenSite> {
  refuseForeign(folder);
  const reports = join(folder, REPORTS);
  mkdirSync(reports, { recursive: true });
  const listed: Listed[] = [];
  const skipped: Skipped[] = [];
  const found = listFolders(results).filter((path) => resolve(path) !== resolve(folder));
  for (const [position, path] of found.entries()) {
    const name = basename(path);
    if (screen.isLive) screen.showLive(`[${position + 1}/${found.length}] ${name}`);
    try {
      const run = readStored(path);
      const model = toModel(run, { distributions: true });
      writeReport(reports, `${name}.html`, await renderPage(model, path));
      listed.push({ run, href: `${REPORTS}/${encodeURIComponent(name)}.html`, cover: toCover(model) });
    } catch (error) {
      skipped.push({ name, reason: reasonOf(error, path) });
    }
  }
  if (screen.isLive) screen.showLive('');
  const kept = new Set(listed.map(({ href }) => decodeURIComponent(basename(href))));
  for (const page of globSync('*.html', { cwd: reports })) if (!kept.has(page)) rmSync(join(reports, page));
  writeReport(folder, INDEX, renderSite(toSite(listed, skipped), await readAssets('site')));
  return { index: join(folder, INDEX), reports: listed.length, skipped };
}

/** Throws a usage error if a folder holds files, but no index: they may be somebody's work. */
function refuseForeign(folder: string): void {
  let names: string[];
  try {
    names = existsSync(folder) ? readdirSync(folder) : [];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BenchError('usage', `${shown(folder)}: cannot be read as a folder (${code})`, 'name a folder');
  }
  const index = join(folder, INDEX);
  if (names.length === 0 || (existsSync(index) && isSite(readFileSync(index, 'utf8')))) return;
  throw new BenchError(
    'usage',
    `${shown(folder)} holds other files`,
    'name a new or empty folder, or one that --site has written',
  );
}

/** Lists the folders of the results and of the published results. A run in both counts once. */
function listFolders(results: string): string[] {
  const folders = new Map<string, string>();
  for (const parent of [join(results, 'published'), results]) {
    if (!existsSync(parent)) continue;
    for (const entry of readdirSync(parent, { withFileTypes: true })) {
      // The probe of --rate auto belongs to the run after it.
      const isStored = entry.isDirectory() && entry.name !== 'published' && !entry.name.endsWith('-probe');
      if (isStored) folders.set(entry.name, join(parent, entry.name));
    }
  }
  return [...folders.values()].toSorted();
}

/** Reads a run. Throws a usage error for a folder that holds something else. */
function readStored(path: string): Listed['run'] {
  const name = basename(path);
  if (existsSync(join(path, 'run.json'))) {
    const run = readRun(path);
    // A copied folder is a run by another name, as on the command line.
    return { ...run, plan: { ...run.plan, run: name } };
  }
  throw new BenchError('usage', 'holds no run: it has no run.json');
}

/** Returns the message of an error without the folders of this machine. Throws what is not about a stored file. */
function reasonOf(error: unknown, path: string): string {
  const isAboutFile = error instanceof BenchError || (error as NodeJS.ErrnoException).code !== undefined;
  if (!isAboutFile) throw error;
  const { message } = error as Error;
  return [`${shown(path)}/`, `${path}/`].reduce((text, prefix) => text.replaceAll(prefix, ''), message);
}
