import { compareWithin, type ComparedTable, findVerdicts } from 'bench-analysis/compare';
import { compareRuns, type RunsTable } from 'bench-analysis/runs';
import { FACTORS, unlikeRuns, unlikeTargets, type Factor } from 'bench-analysis/unlike';
import { COMPARE, type CompareRequest } from '../cli/commands.ts';
import { BenchError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { describeDifferences } from 'bench-report/changes';
import { describeCopies } from 'bench-report/copies';
import { viewComparison } from 'bench-report/compare';
import { renderMarkdown } from 'bench-report/markdown';
import { viewRuns } from 'bench-report/runs';
import { renderTerminal } from 'bench-report/terminal';
import { explainBuilds } from 'bench-report/interpreters';
import { toJson } from 'bench-report/json';
import { serversOf } from 'bench-report/model/model';
import { describeEnding } from 'bench-report/stopping';
import { findRun, readRun } from 'bench-analysis/results/store';
import { present } from 'bench-model/options';
import { readRepeats } from './repeats.ts';
import { createRunner, layoutFor, logLine, print, printJson, printStyled } from './shell.ts';

/** A comparison of stored runs. */
export interface StoredComparison {
  title: string;
  /** Notes on the comparison, e.g. that the runs are unlike. */
  marks: string[];
  /** The targets of one run, or each target in two runs. */
  compared: { kind: 'within'; table: ComparedTable } | { kind: 'between'; table: RunsTable };
}

/** Compares stored runs. Throws a usage error for runs that cannot be compared. */
export function compareStored(options: Omit<CompareRequest, 'format' | 'failOn'>): StoredComparison {
  const [first, second] = options.runs.map((name) => readRun(findRun(name)));
  if (first === undefined)
    throw new BenchError('usage', 'name a run to compare', commandLine('compare <run> [later-run]'));
  const marks: string[] = [];
  for (const { plan } of [first, ...(second === undefined ? [] : [second])]) {
    if (plan.quick)
      throw new BenchError(
        'usage',
        `run ${plan.run} is a first impression (--quick): too short to compare`,
        'measure without --quick',
      );
  }
  const listUnlike = (across: Factor | undefined): string[] =>
    second === undefined ? unlikeTargets(first, across) : unlikeRuns(first, second, across);
  const unlike = listUnlike(options.across);
  if (unlike.length > 0 && !options.force) {
    const only = FACTORS.find((factor) => listUnlike(factor).length === 0);
    const declare = only === undefined ? '' : `--across ${only} declares that they may differ in this; `;
    throw new BenchError(
      'usage',
      `${second === undefined ? 'the targets of the run' : 'the runs'} are unlike: ${unlike.join('; ')}`,
      `${declare}--force compares anyway and marks the output`,
    );
  }
  marks.push(...unlike.map((difference) => `FORCED although unlike: ${difference}`));
  if (second === undefined)
    marks.push(
      ...explainBuilds(serversOf(first.plan, first.trials)),
      ...describeCopies(first.plan),
      ...describeEnding(first.plan, first.trials),
    );
  else marks.push(...describeDifferences(first, second));
  if (second !== undefined) {
    const repeats = readRepeats(first, second);
    const table = compareRuns(first, second, options.question, present({ across: options.across, repeats }));
    return { title: `${first.plan.run} → ${second.plan.run}`, marks, compared: { kind: 'between', table } };
  }
  const table = compareWithin(first, options.question);
  if (table.rows.length === 0)
    throw new BenchError(
      'usage',
      `run ${first.plan.run} has nothing to compare: it needs two targets with figures`,
      `compare it with another run: ${commandLine(`compare ${first.plan.run} <later-run>`)}`,
    );
  return { title: `run ${first.plan.run}`, marks, compared: { kind: 'within', table } };
}

export const runCompare = createRunner(COMPARE, async ({ format, failOn, ...options }) => {
  const { title, marks, compared } = compareStored(options);
  if (format === 'json') printJson(toJson({ schema: 1, title, marks, ...compared.table }));
  else {
    const view =
      compared.kind === 'within'
        ? viewComparison(compared.table, title, marks)
        : viewRuns(compared.table, title, marks);
    if (format === undefined) printStyled(renderTerminal(view, layoutFor({ isBrief: false })));
    else print(renderMarkdown(view));
  }
  if (compared.kind === 'between') return 0;
  const found = findVerdicts(compared.table, failOn);
  if (found.length > 0) logLine(`--fail-on: found ${found.join(', ')}`);
  return found.length > 0 ? 1 : 0;
});
