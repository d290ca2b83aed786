import { REPORT } from '@bench/harness/cli/commands';
import { describeDetail } from '@bench/harness/report/detail';
import { renderJson } from '@bench/harness/report/json';
import { renderLadder, toLadderView } from '@bench/harness/report/ladder';
import { renderMarkdown } from '@bench/harness/report/markdown';
import { renderTerminal } from '@bench/harness/report/terminal';
import { toView } from '@bench/harness/report/view';
import { findRun, readRun } from '@bench/harness/results/store';
import { print, printJson, runCommand, widthFor } from './shell.ts';

await runCommand(REPORT, async ({ run: name, json, ladder, detail, markdown }) => {
  const run = readRun(findRun(name));
  if (json) return printJson(renderJson(run));
  const view = ladder ? toLadderView(run) : toView(run);
  const render = ladder ? renderLadder : renderTerminal;
  print(markdown ? renderMarkdown(view) : render(view, widthFor({ detail })));
  if (detail) print(describeDetail(run.trials));
});
