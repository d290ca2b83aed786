import { present } from 'bench-model/options';
import { defineCommand, flag, option } from '../cli/command.ts';
import { oneOf } from '../cli/values.ts';
import { UsageError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { describeDetail } from 'bench-report/detail';
import { renderJson } from 'bench-report/json';
import { renderMarkdown } from 'bench-report/markdown';
import { toModel, type Model } from 'bench-report/model/model';
import { renderClosing, renderTerminal } from 'bench-report/terminal';
import { toTimesView } from 'bench-report/times';
import { toView } from 'bench-report/view';
import { findRun, readRun, shown, type StoredRun } from 'bench-analysis/results/store';
import { readWhy } from 'bench-analysis/why/store';
import { isBegun } from '../conduct/begun.ts';
import { compareTargets, showComparisons } from '../conduct/compared.ts';
import { openPage, renderPage, writePage } from '../conduct/page.ts';
import { showWhy } from '../conduct/show-why.ts';
import { layoutFor, logLine, print, printHtml, printJson, printStyled } from '../terminal/shell.ts';

/** The formats of a report other than the table for a terminal, each with its content in the words of the help. */
const FORMATS = {
  markdown: 'tables and notes',
  html: 'one file with charts',
  json: 'every value and every record',
};
type ReportFormat = keyof typeof FORMATS;
export const REPORT_FORMATS = Object.keys(FORMATS) as ReportFormat[];

/** A parsed `pnpm report` command. */
interface ReportRequest {
  run: string;
  time: boolean;
  /** Writes the HTML report and opens it in a browser. */
  open: boolean;
  detail: boolean;
  format?: ReportFormat;
}

/** The reasons why the views of a table do not apply to formats that hold the whole run. */
const WHOLE_RUN = {
  time: 'omit --time: the format holds every trial',
  detail: 'omit --detail: the format holds every trial',
};

export default defineCommand({
  name: 'report',
  about: 'Prints the report of a stored run. Measures nothing.',
  arguments: {
    terms: '<run>',
    noun: 'run',
    help: 'the id of a run, its folder, or latest',
    example: commandLine('report latest'),
  },
  options: {
    time: flag({
      help: 'print the report of /usr/bin/time on each server: fields as rows, targets as columns',
    }),
    detail: flag({ help: 'print every column and every trial' }),
    format: option('<name>', oneOf(REPORT_FORMATS), {
      help: `print the report in this format: ${REPORT_FORMATS.map((name) => `${name} (${FORMATS[name]})`).join(', ')}`,
    }),
    json: flag({
      help: 'the same as --format json',
      conflicts: { ...WHOLE_RUN, format: 'omit one of them' },
    }),
    open: flag({
      help: 'open the report with charts in a browser: writes report.html into the folder of the run',
      alone: 'shows every figure',
    }),
  },
  read({ format, json, ...views }, [run = '']): ReportRequest {
    const [view] = (['time', 'detail'] as const).filter((name) => views[name]);
    if (view !== undefined && format !== undefined && format !== 'markdown') {
      throw new UsageError(`--format ${format} and --${view} cannot be combined`, WHOLE_RUN[view]);
    }
    return { ...views, run, ...present({ format: json ? 'json' : format }) };
  },
  async run(request) {
    const { format, time, detail } = request;
    const run = readRun(findRun(request.run));
    if (format !== 'json') refuseEmpty(run);
    const model = toModel(run, { distributions: request.open || format === 'html' || format === 'json' });
    if (request.open) {
      const page = await writePage(model, run.folder);
      logLine(`opening ${shown(page)}`);
      return openPage(page);
    }
    if (format !== undefined && format !== 'markdown') return PRINTERS[format](model, run);
    const why = readWhy(run.folder);
    const view = time
      ? toTimesView(model)
      : toView(model, { detail, isExplained: why !== undefined, isForeign: !isBegun(run) });
    if (format === 'markdown') {
      print(renderMarkdown(view));
      if (detail) print(describeDetail(run.trials));
      return;
    }
    const layout = layoutFor({ detail, isBrief: !time });
    const { closing, ...figures } = view;
    printStyled(renderTerminal(figures, layout));
    if (detail) print(describeDetail(run.trials));
    if (!time) {
      printStyled(showComparisons(run.plan, compareTargets(model)));
      if (why !== undefined) showWhy(why);
    }
    if (closing !== undefined) printStyled(`${renderClosing(closing, layout)}\n`);
  },
});

/** Throws a usage error for a run that ended before its first trial did. */
function refuseEmpty({ plan, trials }: StoredRun): void {
  if (trials.length > 0) return;
  throw new UsageError(
    `run ${plan.run} has no trials: it ended before the first one did`,
    `to measure it: ${commandLine(`bench --resume ${plan.run}`)}`,
  );
}

/** Prints a whole run in a format that takes no other options. */
const PRINTERS: Record<
  Exclude<ReportFormat, 'markdown'>,
  (model: Model, run: StoredRun) => void | Promise<void>
> = {
  html: async (model, { folder }) => printHtml(await renderPage(model, folder)),
  json: (model, { trials }) => printJson(renderJson(model, trials)),
};
