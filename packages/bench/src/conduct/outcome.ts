/** The outcome of `pnpm bench`: a run, its report and its exit code. */
import { showPath } from 'bench-machine/files';
import { BenchError } from 'bench-model/errors';
import { type ComparedTable, findVerdicts, questionOf } from 'bench-analysis/compare';
import { compareRuns } from 'bench-analysis/runs';
import { unlikeRuns } from 'bench-analysis/unlike';
import { commandLine } from 'bench-machine/home';
import { describeDifferences } from 'bench-report/changes';
import { viewRuns } from 'bench-report/runs';
import { describeDetail } from 'bench-report/detail';
import { renderJson } from 'bench-report/json';
import { renderClosing, renderTerminal } from 'bench-report/terminal';
import { toModel, type Model } from 'bench-report/model/model';
import { toView } from 'bench-report/view';
import type { StoredRun } from 'bench-analysis/results/store';
import { compareTargets, showComparisons, showView, showWhy } from './compared.ts';
import { measureRequest } from './measure-request.ts';
import { writePage } from './page.ts';
import { openSession } from './session.ts';
import { profileRun, unique } from './why.ts';
import type { ResolvedRequest } from './resolve.ts';
import { layoutFor, logLine, print, printJson, printStyled, terminal } from '../terminal/shell.ts';

/** Measures a request, shows its report, and returns the exit code. */
export async function measureAndReport(request: ResolvedRequest): Promise<number> {
  const { raw, repeated } = request;
  const { run, interrupted } = await measureRequest(request, terminal);
  const { plan, trials, folder } = run;
  const resume = `to continue: ${commandLine(`bench --resume ${plan.run}`)}`;
  const model = toModel({ ...run, interrupted }, { distributions: true });
  if (raw.json) printJson(renderJson(model, trials));
  if (trials.length === 0) {
    logLine('no trial has ended, so there is no report');
    if (interrupted) logLine(resume);
    return interrupted ? 130 : 1;
  }

  const { closing, ...view } = toView(model, { ...raw, isExplained: raw.why });
  const layout = layoutFor(raw);
  const compared = compareMeasured(model, run, { repeated, isAsked: raw.failOn !== undefined });
  if (!raw.json) {
    printStyled(renderTerminal(view, layout));
    if (raw.detail) print(describeDetail(trials));
    printStyled(compared.text);
  }
  logLine(`saved in ${showPath(folder)}; to show it again: ${commandLine(`report ${plan.run}`)}`);
  try {
    if (raw.why && !interrupted) await explainDifferences(run, compared.tables, raw.json);
  } finally {
    await keepPage(model, folder);
  }
  if (interrupted) {
    logLine(resume);
    return 130;
  }
  if (!raw.json && closing !== undefined) printStyled(`${renderClosing(closing, layout)}\n`);
  const found = compared.tables.flatMap((table) => findVerdicts(table, raw.failOn ?? []));
  if (found.length > 0) logLine(`--fail-on: found ${found.join(', ')}`);
  return found.length > 0 || trials.some(({ status }) => status === 'failed') ? 1 : 0;
}

/** Writes the report with charts. Without it, the run is still complete. */
export async function keepPage(model: Model, folder: string): Promise<void> {
  try {
    logLine(`report with charts: ${showPath(await writePage(model, folder))}`);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    logLine(`warning: there is no report with charts: ${error.message}; ${error.hint}`);
  }
}

/** Profiles the servers of every difference that was found, and prints where it is spent. */
async function explainDifferences(
  run: StoredRun,
  tables: readonly ComparedTable[],
  isJson: boolean,
): Promise<void> {
  const different = tables.flatMap(({ rows }) =>
    rows.filter(({ comparison: { verdict } }) => verdict === 'slower' || verdict === 'faster'),
  );
  if (different.length === 0) {
    logLine(
      `--why: no comparison found a difference. To profile anyway: ${commandLine(`why ${run.plan.run}`)}`,
    );
    return;
  }
  using session = await openSession(`${run.plan.run} (why)`, { wait: true });
  const why = await profileRun(run, unique(different), { session, voice: terminal, mostSeconds: 40 });
  if (why === undefined) return;
  if (!isJson) showWhy(why);
  logLine(`to profile more servers of each side, for smaller causes: ${commandLine(`why ${run.plan.run}`)}`);
}

/** Selects the comparisons of the targets of a run, and compares the run with the old one that it repeats. Returns the text of all. */
function compareMeasured(
  model: Model,
  run: StoredRun,
  { repeated: old, isAsked }: { repeated: StoredRun | undefined; isAsked: boolean },
): { tables: ComparedTable[]; text: string } {
  const { plan } = model;
  const tables = compareTargets(model, isAsked);
  const within = showComparisons(plan, tables);
  if (old === undefined || plan.quick) return { tables, text: within };
  const differences = [
    ...unlikeRuns(old, run, undefined).map((difference) => `UNLIKE: ${difference}`),
    ...describeDifferences(old, run),
  ];
  const between = compareRuns(old, run, questionOf(plan));
  const title = `${old.plan.run} → ${plan.run}`;
  return { tables, text: `${within}${showView(viewRuns(between, title, differences))}` };
}
