import { readPastedTimes, type PastedUsage } from 'bench-analysis/pasted-times';
import { REPORT, type ReportFormat, type ReportRequest } from '../cli/commands.ts';
import { BenchError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { renderBmf } from 'bench-report/bmf';
import { describeDetail } from 'bench-report/detail';
import { describeUnfit } from 'bench-report/export';
import { countOf } from 'bench-report/format';
import { renderGab } from 'bench-report/gab';
import { renderJson } from 'bench-report/json';
import { toLadderView } from 'bench-report/ladder';
import { renderMarkdown } from 'bench-report/markdown';
import { toModel, type Model } from 'bench-report/model/model';
import { renderClosing, renderTerminal } from 'bench-report/terminal';
import { toTimesView } from 'bench-report/times';
import { toView } from 'bench-report/view';
import { renderStudyJson, viewStudies } from 'bench-report/warm';
import { findRun, readRun, type StoredRun } from 'bench-analysis/results/store';
import { findStudy, readStudy } from 'bench-analysis/results/study/store';
import { openPage, renderPage, writePage } from './page.ts';
import { createRunner, layoutFor, logLine, print, printHtml, printJson, printStyled } from './shell.ts';
import { writeSite } from './site.ts';
import { readText } from './text-file.ts';

export const runReport = createRunner(REPORT, async (asked) => {
  if (asked.site !== undefined) return printSite(asked.site, asked.open);
  const { format, ladder, time, detail } = asked;
  const study = findStudy(asked.run);
  if (study !== undefined) return printStudy(study, asked);
  const [folder, pasted] = findAll(
    () => findRun(asked.run),
    () => asked.with.flatMap(readPasted),
  );
  const run = readRun(folder);
  if (format !== 'json') refuseEmpty(run);
  if (asked.open) return openPage(await writePage(run, run.folder));
  if (format !== undefined && format !== 'markdown') return PRINTERS[format](run);
  const model = toModel(run);
  const view = time
    ? toTimesView(model, pasted)
    : ladder
      ? toLadderView(model, { detail })
      : toView(model, { detail });
  if (format === 'markdown') {
    print(renderMarkdown(view));
    if (detail) print(describeDetail(run.trials));
    return;
  }
  const layout = layoutFor({ detail, isBrief: !time });
  const { closing, ...figures } = view;
  printStyled(renderTerminal(figures, layout));
  if (detail) print(describeDetail(run.trials));
  if (closing !== undefined) printStyled(`${renderClosing(closing, layout)}\n`);
});

/** Finds two inputs. Throws one usage error that names every missing one. */
function findAll<A, B>(first: () => A, second: () => B): [A, B] {
  const [a, b] = [attempt(first), attempt(second)];
  if (a instanceof BenchError && b instanceof BenchError)
    throw new BenchError('usage', `${b.message}. Also, ${a.message}`, a.hint);
  for (const found of [a, b]) if (found instanceof BenchError) throw found;
  return [a as A, b as B];
}

/** Returns a usage error instead of throwing it. */
function attempt<T>(find: () => T): T | BenchError {
  try {
    return find();
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
}

/** Throws a usage error for a run that ended before its first trial did. */
function refuseEmpty({ plan, trials }: StoredRun): void {
  if (trials.length > 0) return;
  throw new BenchError(
    'usage',
    `run ${plan.run} has no trials: it ended before the first one did`,
    `to measure it: ${commandLine(`bench --resume ${plan.run}`)}`,
  );
}

async function printSite(folder: string, open: boolean): Promise<void> {
  const { index, reports, skipped } = await writeSite(folder);
  for (const { name, reason } of skipped) logLine(`skipped ${name}: ${reason}`);
  print(`${index}: ${countOf(reports, 'run')}\n`);
  if (open) await openPage(index);
}

function readPasted(file: string): PastedUsage[] {
  const { text, name } = readText(file);
  return readPastedTimes(text, name);
}

function printStudy(folder: string, { run, format, ladder, time, detail, open }: ReportRequest): void {
  const isOther = format !== undefined && format !== 'json' && format !== 'markdown';
  if (ladder || time || detail || open || isOther) {
    throw new BenchError(
      'usage',
      `${run} is a study of warm-up, which is printed as a table, or with --json or --format markdown`,
      'omit the other options',
    );
  }
  const study = readStudy(folder);
  if (format === 'json') printJson(renderStudyJson(study));
  else if (format === 'markdown') print(renderMarkdown(viewStudies([study])));
  else printStyled(renderTerminal(viewStudies([study]), layoutFor({ isBrief: false })));
}

/** Prints a whole run in a format that takes no other options. */
const PRINTERS: Record<Exclude<ReportFormat, 'markdown'>, (run: StoredRun) => void | Promise<void>> = {
  html: async (run) => printHtml(await renderPage(run)),
  json: (run) => printJson(renderJson(run)),
  async csv(run) {
    // The library is loaded only where it is used.
    const { renderCsv } = await import('bench-report/csv');
    print(renderCsv(toModel(run)));
  },
  bmf: (run) => printFigures(run, renderBmf),
  gab: (run) => printFigures(run, (model) => renderGab(model, 'lower')),
  'gab-bigger': (run) => printFigures(run, (model) => renderGab(model, 'higher')),
};

/** Prints the figures that another program may compare, and says how many are left out. */
function printFigures(run: StoredRun, render: (model: Model) => string): void {
  const model = toModel(run);
  printJson(render(model));
  const unfit = describeUnfit(model);
  if (unfit !== undefined) logLine(`warning: ${unfit}`);
}
