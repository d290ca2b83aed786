import { compareRuns, compareWithin, type ComparedTable } from '../analyse/compare.ts';
import { FACTORS, unlikeRuns, unlikeTargets, type Factor } from '../analyse/unlike.ts';
import { COMPARE, type CompareRequest } from '../cli/commands.ts';
import { BenchError } from '../errors.ts';
import { commandLine } from '../home.ts';
import { describeDifferences } from '../report/changes.ts';
import { describeCopies } from '../report/copies.ts';
import { renderComparison, renderComparisonMarkdown } from '../report/compare.ts';
import { explainBuilds } from '../report/interpreters.ts';
import { toJson } from '../report/json.ts';
import { serversOf } from '../report/model/model.ts';
import { describeEnding } from '../report/stopping.ts';
import { findRun, readRun } from '../results/store.ts';
import { createRunner, logLine, print, printJson, widthFor } from './shell.ts';

/** A comparison of stored runs. */
export interface StoredComparison {
  title: string;
  /** Notes on the comparison, e.g. that the runs are unlike. */
  marks: string[];
  table: ComparedTable;
}

/** Compares stored runs. Throws a usage error for runs that cannot be compared. */
export function compareStored(
  options: Omit<CompareRequest, 'format' | 'failOn' | 'strict'>,
): StoredComparison {
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
  const table =
    second === undefined
      ? compareWithin(first, options.question)
      : compareRuns(first, second, options.question, options.across);
  if (table.rows.length === 0) {
    throw new BenchError(
      'usage',
      second === undefined
        ? `run ${first.plan.run} has nothing to compare: it needs two targets with figures`
        : `${first.plan.run} and ${second.plan.run} have no target in common`,
      second === undefined
        ? `compare it with another run: ${commandLine(`compare ${first.plan.run} <later-run>`)}`
        : undefined,
    );
  }
  const title = second === undefined ? `run ${first.plan.run}` : `${first.plan.run} → ${second.plan.run}`;
  return { title, marks, table };
}

export const runCompare = createRunner(COMPARE, async (options) => {
  const { title, marks, table } = compareStored(options);
  if (options.format === 'json') printJson(toJson({ schema: 1, title, marks, ...table }));
  else if (options.format === 'markdown') print(renderComparisonMarkdown(table, title, marks));
  else print(renderComparison(table, title, marks, widthFor({})));
  const verdicts = table.rows.map(({ comparison }) => comparison.verdict);
  const found = options.failOn.filter((verdict) => verdicts.includes(verdict));
  if (found.length > 0) logLine(`--fail-on: found ${found.join(', ')}`);
  return found.length > 0 || (options.strict && verdicts.includes('undecided')) ? 1 : 0;
});
