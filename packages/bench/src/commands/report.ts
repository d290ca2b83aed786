import { readPastedTimes, type PastedUsage } from '../analyse/recheck/pasted-times.ts';
import { REPORT, type ReportFormat, type ReportRequest } from '../cli/commands.ts';
import { BenchError } from '../errors.ts';
import { renderBmf } from '../report/bmf.ts';
import { describeDetail } from '../report/detail.ts';
import { describeUnfit } from '../report/export.ts';
import { renderGab } from '../report/gab.ts';
import { renderJson } from '../report/json.ts';
import { renderLadder, toLadderView } from '../report/ladder.ts';
import { renderMarkdown } from '../report/markdown.ts';
import { toModel } from '../report/model/model.ts';
import { renderTerminal } from '../report/terminal.ts';
import { toTimesView } from '../report/times.ts';
import { toView } from '../report/view.ts';
import { renderStudy, renderStudyJson } from '../report/warm.ts';
import { findRun, readRun, type StoredRun } from '../results/store.ts';
import { findStudy, readStudy } from '../results/study/store.ts';
import { openPage, renderPage, writePage } from './page.ts';
import { print, printHtml, printJson, createRunner, logLine, widthFor } from './shell.ts';
import { readText } from './text-file.ts';

export const runReport = createRunner(REPORT, async (asked) => {
  const study = findStudy(asked.run);
  if (study !== undefined) return printStudy(study, asked);
  const run = readRun(findRun(asked.run));
  const { format, ladder, time, detail } = asked;
  if (asked.open) return openPage(await writePage(run, run.folder));
  if (format !== undefined && format !== 'markdown') return printFormat(format, run);
  const model = toModel(run);
  const view = time
    ? toTimesView(model, asked.with.flatMap(readPasted))
    : ladder
      ? toLadderView(model)
      : toView(model);
  const render = ladder ? renderLadder : renderTerminal;
  print(format === 'markdown' ? renderMarkdown(view) : render(view, widthFor({ detail })));
  if (detail) print(describeDetail(run.trials));
});

function readPasted(file: string): PastedUsage[] {
  const { text, name } = readText(file);
  return readPastedTimes(text, name);
}

function printStudy(folder: string, { run, format, ladder, time, detail, open }: ReportRequest): void {
  if (ladder || time || detail || open || (format !== undefined && format !== 'json')) {
    throw new BenchError(
      'usage',
      `${run} is a study of warm-up, which is printed as a table or with --json`,
      'omit the other options',
    );
  }
  const study = readStudy(folder);
  if (format === 'json') printJson(renderStudyJson(study));
  else print(renderStudy(study, widthFor({})));
}

/** Prints a whole run for another program. */
async function printFormat(format: Exclude<ReportFormat, 'markdown'>, run: StoredRun): Promise<void> {
  if (format === 'json') return printJson(renderJson(run));
  if (format === 'html') return printHtml(await renderPage(run));
  const model = toModel(run);
  if (format === 'csv') {
    // The library is loaded only where it is used.
    const { renderCsv } = await import('../report/csv.ts');
    return print(renderCsv(model));
  }
  const text = format === 'bmf' ? renderBmf(model) : renderGab(model, format === 'gab' ? 'lower' : 'higher');
  printJson(text);
  const unfit = describeUnfit(model);
  if (unfit !== undefined) logLine(`warning: ${unfit}`);
}
