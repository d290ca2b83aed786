import { parse } from '@bench/harness/options';
import { BenchError } from '@bench/harness/errors';
import { describeDetail } from '@bench/harness/report/detail';
import { renderJson } from '@bench/harness/report/json';
import { renderLadder, toLadderView } from '@bench/harness/report/ladder';
import { renderMarkdown } from '@bench/harness/report/markdown';
import { renderTerminal } from '@bench/harness/report/terminal';
import { toView } from '@bench/harness/report/view';
import { findRun, listRuns, readRun } from '@bench/harness/results/store';
import { print, printJson, runMain, widthFor } from './shell.ts';

await runMain(async () => {
  const { values, positionals } = parse(process.argv.slice(2), {
    json: { type: 'boolean' },
    detail: { type: 'boolean' },
    ladder: { type: 'boolean' },
    markdown: { type: 'boolean' },
  });
  const [name, ...rest] = positionals;
  if (name === undefined || rest.length > 0) {
    const runs = listRuns();
    throw new BenchError(
      'usage',
      'name the one run to report',
      runs.length > 0 ? `pnpm report ${runs.at(-1)}` : 'pnpm bench makes one',
    );
  }
  const run = readRun(findRun(name));
  if (values.json) return printJson(renderJson(run));
  const view = values.ladder ? toLadderView(run) : toView(run);
  const render = values.ladder ? renderLadder : renderTerminal;
  print(values.markdown ? renderMarkdown(view) : render(view, widthFor(values)));
  if (values.detail) print(describeDetail(run.trials));
});
