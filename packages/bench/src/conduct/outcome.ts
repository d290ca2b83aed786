/** The outcome of `pnpm bench`: a run, its report and its exit code. */
import { compareWithin, type ComparedTable, findVerdicts, type Question } from 'bench-analysis/compare';
import { compareRuns } from 'bench-analysis/runs';
import { unlikeRuns } from 'bench-analysis/unlike';
import { FEWEST_ROUNDS } from 'bench-analysis/verdict';
import { commandLine } from 'bench-machine/home';
import { describeDifferences } from 'bench-report/changes';
import { describeCopies } from 'bench-report/copies';
import { viewComparison } from 'bench-report/compare';
import { viewRuns } from 'bench-report/runs';
import { describeDetail } from 'bench-report/detail';
import { renderJson } from 'bench-report/json';
import { renderClosing, renderTerminal } from 'bench-report/terminal';
import { describeEnding, describeUndecided } from 'bench-report/stopping';
import { toModel } from 'bench-report/model/model';
import { toView } from 'bench-report/view';
import type { View } from 'bench-report/content';
import { readRun, shown, type StoredRun } from 'bench-analysis/results/store';
import { present } from 'bench-model/options';
import { readRepeats } from './repeats.ts';
import { measureForeseen } from './foreseen.ts';
import { writePage } from './page.ts';
import { questionOf } from './reach.ts';
import type { Foreseen } from './request.ts';
import { layoutFor, logLine, print, printJson, printStyled, terminal } from '../terminal/shell.ts';

/** Measures a request, shows its report, and returns the exit code. */
export async function measureAndReport(foreseen: Foreseen): Promise<number> {
  const { options, old } = foreseen;
  const measured = await measureForeseen(foreseen, terminal);
  if (measured === undefined) return 130;
  const { source, folder, interrupted } = measured;
  const { plan } = source;
  const resume = `to continue: ${commandLine(`bench --resume ${plan.run}`)}`;
  if (options.json) printJson(renderJson(source));
  if (source.trials.length === 0) {
    logLine('no trial has ended, so there is no report');
    if (interrupted) logLine(resume);
    return interrupted ? 130 : 1;
  }

  const { closing, ...view } = toView(toModel(source), options);
  const layout = layoutFor(options);
  const compared = compareMeasured(readRun(folder), old, options.failOn !== undefined);
  if (!options.json) {
    printStyled(renderTerminal(view, layout));
    if (options.detail) print(describeDetail(source.trials));
    printStyled(compared.text);
  }
  for (const line of describeEnding(plan, source.trials, interrupted)) logLine(line);
  for (const line of describeUndecided(plan, source.trials)) logLine(line);
  logLine(`saved in ${shown(folder)}; to show it again: ${commandLine(`report ${plan.run}`)}`);
  logLine(`report with charts: ${shown(await writePage(source, folder))}`);
  if (interrupted) {
    logLine(resume);
    return 130;
  }
  if (!options.json && closing !== undefined) printStyled(`${renderClosing(closing, layout)}\n`);
  const { failOn = [] } = options;
  const found = compared.tables.flatMap((table) => findVerdicts(table, failOn));
  if (found.length > 0) logLine(`--fail-on: found ${found.join(', ')}`);
  return found.length > 0 || source.trials.some(({ status }) => status === 'failed') ? 1 : 0;
}

/** The comparisons of the targets of a run, and the text of all comparisons. */
interface Compared {
  tables: ComparedTable[];
  text: string;
}

function showView(view: View): string {
  return renderTerminal(view, layoutFor({ isBrief: false }));
}

function show(tables: ComparedTable[], title: string, marks: string[]): Compared {
  return {
    tables,
    text: tables.map((table) => showView(viewComparison(table, title, marks))).join(''),
  };
}

/** Compares the targets of a run, if it is meant to or if a job depends on it, and the run with the old one that it repeats. */
function compareMeasured(run: StoredRun, old: StoredRun | undefined, isAsked: boolean): Compared {
  const { plan } = run;
  const { by, threshold } = questionOf(plan);
  const within = compareTargets(run, { by, threshold }, isAsked);
  if (old === undefined || plan.quick) return within;
  const marks = [
    ...unlikeRuns(old, run, undefined).map((difference) => `UNLIKE: ${difference}`),
    ...describeDifferences(old, run),
  ];
  const title = `${old.plan.run} → ${plan.run}`;
  const table = compareRuns(old, run, { by, threshold }, present({ repeats: readRepeats(old, run) }));
  return {
    ...within,
    text: `${within.text}${showView(viewRuns(table, title, marks))}`,
  };
}

/** Compares the targets of a run; empty if it is not meant to compare: the ranks of a table of few rounds say the same. */
function compareTargets(run: StoredRun, { by, threshold }: Question, isAsked: boolean): Compared {
  const { plan } = run;
  const title = `run ${plan.run}`;
  if (plan.quick) return show([], title, []);
  // The cost of a background request is the purpose of the run, however many rounds it has.
  if (plan.background !== undefined) {
    const metrics = plan.sequentialTest === undefined ? (['goodput', 'p99'] as const) : [by];
    return show(
      metrics.map((metric) => compareWithin(run, { by: metric, threshold })),
      title,
      [],
    );
  }
  const targets = new Set(run.trials.map(({ target }) => target.id));
  const compares = isAsked || plan.rounds >= FEWEST_ROUNDS || plan.sequentialTest !== undefined;
  if (targets.size < 2 || !compares) return show([], title, []);
  return show([compareWithin(run, { by, threshold })], title, describeCopies(plan));
}
