import { REPORT } from '../cli/commands.ts';
import { BenchError } from '../errors.ts';
import { describeDetail } from '../report/detail.ts';
import { renderJson } from '../report/json.ts';
import { renderLadder, toLadderView } from '../report/ladder.ts';
import { renderMarkdown } from '../report/markdown.ts';
import { renderTerminal } from '../report/terminal.ts';
import { toView } from '../report/view.ts';
import { renderStudy, renderStudyJson } from '../report/warm.ts';
import { findRun, readRun } from '../results/store.ts';
import { findStudy, readStudy } from '../results/study/store.ts';
import { print, printJson, createRunner, widthFor } from './shell.ts';

export const runReport = createRunner(REPORT, async ({ run: name, json, ladder, detail, markdown }) => {
  const folder = findStudy(name);
  if (folder !== undefined) {
    if (ladder || detail || markdown) {
      throw new BenchError(
        'usage',
        `${name} is a study of warm-up, which is printed as a table or with --json`,
        'omit the other options',
      );
    }
    const study = readStudy(folder);
    return json ? printJson(renderStudyJson(study)) : print(renderStudy(study, widthFor({})));
  }
  const run = readRun(findRun(name));
  if (json) return printJson(renderJson(run));
  const view = ladder ? toLadderView(run) : toView(run);
  const render = ladder ? renderLadder : renderTerminal;
  print(markdown ? renderMarkdown(view) : render(view, widthFor({ detail })));
  if (detail) print(describeDetail(run.trials));
});
