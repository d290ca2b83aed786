import { showPath } from 'bench-machine/files';
import { defineCommand, flag, option } from '../cli/command.ts';
import { text } from '../cli/values.ts';
import { UsageError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { describeDetail } from 'bench-report/detail';
import { renderJson } from 'bench-report/json';
import { renderMarkdown } from 'bench-report/markdown';
import { toModel } from 'bench-report/model/model';
import { renderClosing, renderTerminal } from 'bench-report/terminal';
import { toTimesView } from 'bench-report/times';
import { toView } from 'bench-report/view';
import { findRun, readRun } from 'bench-analysis/results/store';
import { readWhy } from 'bench-analysis/why/store';
import { isBegun } from '../conduct/begun.ts';
import { compareTargets, showComparisons, showWhy } from '../conduct/compared.ts';
import { writePage, writeSite } from '../conduct/page.ts';
import { layoutFor, logLine, print, printJson, printStyled } from '../terminal/shell.ts';

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
    markdown: flag({ help: 'print tables and notes as Markdown' }),
    json: flag({ help: 'print every value and every record as JSON', alone: 'holds every trial' }),
    open: flag({
      help: 'open the report with charts in a browser: writes report.html into the folder of the run',
      alone: 'shows every figure',
    }),
    site: option('<folder>', text, {
      help: 'write the pages of all runs below <run>, and an index',
      alone: 'shows every figure',
    }),
  },
  async run({ args: [named = ''], time, detail, markdown, json, open, site }) {
    if (site !== undefined) return logLine(`index of the reports: ${showPath(await writeSite(named, site))}`);
    const run = readRun(findRun(named));
    if (!json && run.trials.length === 0)
      throw new UsageError(
        `run ${run.plan.run} has no trials: it ended before the first one did`,
        `to measure it: ${commandLine(`bench --resume ${run.plan.run}`)}`,
      );
    const model = toModel(run, { distributions: open || json });
    if (open) {
      const page = await writePage(model, run.folder);
      logLine(`opening ${showPath(page)}`);
      const { default: openFile } = await import('open');
      await openFile(page);
      return;
    }
    if (json) return printJson(renderJson(model, run.trials));
    const why = readWhy(run.folder);
    const view = time
      ? toTimesView(model)
      : toView(model, { detail, isExplained: why !== undefined, isForeign: !isBegun(run) });
    const layout = layoutFor({ detail, isBrief: !time });
    const { closing, ...figures } = view;
    if (markdown) print(renderMarkdown(view));
    else printStyled(renderTerminal(figures, layout));
    if (detail) print(describeDetail(run.trials));
    if (markdown) return;
    if (!time) {
      printStyled(showComparisons(run.plan, compareTargets(model)));
      if (why !== undefined) showWhy(why);
    }
    if (closing !== undefined) printStyled(`${renderClosing(closing, layout)}\n`);
  },
});
