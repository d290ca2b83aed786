import { present } from 'bench-model/options';
import { ARGUMENTS, defineCommand, flag, option, repeated } from '../cli/command.ts';
import { oneOf, text } from '../cli/values.ts';
import { readFileSync } from 'node:fs';
import { readPastedTimes, type PastedUsage } from 'bench-analysis/pasted-times';
import { BenchError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { describeDetail } from 'bench-report/detail';
import { countOf } from 'bench-report/format';
import { renderJson } from 'bench-report/json';
import { toLadderView } from 'bench-report/ladder';
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
import { writeSite } from '../conduct/site.ts';

/** The formats of a report other than the table for a terminal, each with its content in the words of the help. */
const FORMATS = {
  markdown: 'tables and notes',
  html: 'one file with charts',
  json: 'every value and every record',
  csv: 'one row per trial',
};
type ReportFormat = keyof typeof FORMATS;
export const REPORT_FORMATS = Object.keys(FORMATS) as ReportFormat[];

/** A parsed `pnpm report` command. */
interface ReportRequest {
  /** Empty if a site of all runs is asked for. */
  run: string;
  ladder: boolean;
  time: boolean;
  /** Writes the HTML report and opens it in a browser. */
  open: boolean;
  /** Texts with reports of time(1) to show beside those of the run. */
  with: string[];
  detail: boolean;
  format?: ReportFormat;
  /** The folder of a site over all stored runs. */
  site?: string;
}

/** The reasons why the views of a table do not apply to formats that hold the whole run. */
const WHOLE_RUN = {
  ladder: 'omit --ladder: the format holds every trial',
  time: 'omit --time: the format holds every trial',
  detail: 'omit --detail: the format holds every trial',
};

const REPORT_EXAMPLE = commandLine('report latest');

export default defineCommand({
  name: 'report',
  about: 'Prints the report of a stored run, or writes a site over all stored runs. Measures nothing.',
  arguments: {
    terms: '[run]',
    noun: 'run',
    help: 'the id of a run, its folder, or latest',
    example: REPORT_EXAMPLE,
  },
  options: {
    ladder: flag({
      help: 'print the goodput of each target by number of connections, and the knee after which it stops growing',
    }),
    time: flag({
      help: 'print the report of /usr/bin/time on each server: fields as rows, targets as columns',
      conflicts: { ladder: 'print one after the other' },
    }),
    with: repeated('<file>', text, {
      help: 'a text with pasted reports of time -l (macOS) or time -v (GNU), to show beside those of the run; - is standard input',
      needs: 'time',
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
      help: 'open the report with charts in a browser: writes report.html into the folder of the run; with --site, open the index',
      alone: { besides: [ARGUMENTS, 'site'], because: 'shows every figure' },
    }),
    site: option('<folder>', text, {
      help: 'write a site over all stored runs into a folder: index.html shows each target over time and links to a report of each run; writing again updates it',
      alone: { besides: ['open'], because: 'covers all stored runs' },
    }),
  },
  read({ format, json, site, ...views }, [run = '']): ReportRequest {
    if (run === '' && site === undefined) throw new BenchError('usage', 'name a run', REPORT_EXAMPLE);
    const [view] = (['ladder', 'time', 'detail'] as const).filter((name) => views[name]);
    if (view !== undefined && format !== undefined && format !== 'markdown') {
      throw new BenchError('usage', `--format ${format} and --${view} cannot be combined`, WHOLE_RUN[view]);
    }
    return { ...views, run, ...present({ format: json ? 'json' : format, site }) };
  },
  async run(request) {
    if (request.site !== undefined) return printSite(request.site, request.open);
    const { format, ladder, time, detail } = request;
    const [folder, pasted] = findAll(
      () => findRun(request.run),
      () => request.with.flatMap(readPasted),
    );
    const run = readRun(folder);
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
      ? toTimesView(model, pasted)
      : ladder
        ? toLadderView(model, { detail })
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
    if (!time && !ladder) {
      printStyled(showComparisons(run.plan, compareTargets(model)));
      if (why !== undefined) showWhy(why);
    }
    if (closing !== undefined) printStyled(`${renderClosing(closing, layout)}\n`);
  },
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

/** Prints a whole run in a format that takes no other options. */
const PRINTERS: Record<
  Exclude<ReportFormat, 'markdown'>,
  (model: Model, run: StoredRun) => void | Promise<void>
> = {
  html: async (model, { folder }) => printHtml(await renderPage(model, folder)),
  json: (model, { trials }) => printJson(renderJson(model, trials)),
  async csv(model) {
    // The library is loaded only where it is used.
    const { renderCsv } = await import('bench-report/csv');
    print(renderCsv(model));
  },
};

/** Reads pasted reports of time(1); `-` is standard input. Throws a usage error if the file cannot be read. */
function readPasted(file: string): PastedUsage[] {
  if (file === '-') return readPastedTimes(readFileSync(0, 'utf8'), 'stdin');
  let pasted: string;
  try {
    pasted = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const problem = code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`;
    throw new BenchError('usage', `${file}: ${problem}`, 'name a text file');
  }
  return readPastedTimes(pasted, file);
}
