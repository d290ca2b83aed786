import { METRIC_IDS } from 'bench-model/metrics';
import { defineCommand, flag, option } from '../cli/command.ts';
import { listOf, oneOf, share, text } from '../cli/values.ts';
import { compareWithin, type ComparedTable, findVerdicts, type Question } from 'bench-analysis/compare';
import { compareRuns, type RunsTable } from 'bench-analysis/runs';
import { FACTORS, unlikeRuns, type Factor } from 'bench-analysis/unlike';
import { BenchError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { describeDifferences } from 'bench-report/changes';
import { describeCopies } from 'bench-report/plan';
import { viewComparison } from 'bench-report/compare';
import { renderMarkdown } from 'bench-report/markdown';
import { viewRuns } from 'bench-report/runs';
import { explainBuilds } from 'bench-report/interpreters';
import { toJson } from 'bench-report/json';
import { serversOf } from 'bench-report/model/model';
import { endingOf } from 'bench-analysis/due';
import { describeEnding } from 'bench-report/ending';
import { findRun, readRun } from 'bench-analysis/results/store';
import { present, thresholdFor, VERDICTS } from 'bench-model/options';
import { showView } from '../conduct/compared.ts';
import { readRepeats } from '../conduct/repeats.ts';
import { logLine, print, printJson, printStyled } from '../terminal/shell.ts';

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
    second === undefined ? [] : unlikeRuns(first, second, across);
  const unlike = listUnlike(options.across);
  if (unlike.length > 0 && !options.force) {
    const only = FACTORS.find((factor) => listUnlike(factor).length === 0);
    const declare = only === undefined ? '' : `--across ${only} declares that they may differ in this; `;
    throw new BenchError(
      'usage',
      `the runs are unlike: ${unlike.join('; ')}`,
      `${declare}--force compares anyway and marks the output`,
    );
  }
  marks.push(...unlike.map((difference) => `FORCED although unlike: ${difference}`));
  if (second === undefined)
    marks.push(
      ...explainBuilds(serversOf(first.plan, first.trials)),
      ...describeCopies(first.plan),
      ...describeEnding(endingOf(first.plan, first.trials), first.plan, options.question.by),
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

/** A parsed `pnpm compare` command. */
interface CompareRequest {
  runs: string[];
  question: Question;
  failOn: (typeof VERDICTS)[number][];
  across?: Factor;
  force: boolean;
  format?: 'markdown' | 'json';
}

export default defineCommand({
  name: 'compare',
  about:
    'Compares the targets inside one run with a baseline, round by round. With two runs, prints the ratio of each target to itself, without a verdict.',
  arguments: {
    terms: '<run> [later-run]',
    noun: 'run',
    help: 'the id of a stored run, its folder, or latest',
    more: 'compare each target with itself in this later run, instead of with the other targets of <run>',
    example: commandLine('compare <run> [later-run]'),
  },
  options: {
    by: option('<metric>', oneOf(METRIC_IDS), { help: METRIC_IDS.join(', '), default: 'cpu' }),
    baseline: option('<target>', text, {
      help: 'the target that the others are compared with. @3.12 compares each stack with itself on that runtime. The name of a revision or a copy, such as main, compares each target with itself in that version. undisturbed compares each target with and without its background request',
      usually: 'the pairs that the run was planned for, otherwise its first target',
    }),
    threshold: option('<share>', share, {
      help: 'the smallest difference that matters',
      usually: '2%; 5% of a capacity',
    }),
    across: option('<factor>', oneOf(FACTORS), {
      help: `the one factor that may differ: ${FACTORS.join(', ')}`,
    }),
    force: flag({ help: 'compare unlike runs, and mark the output' }),
    'fail-on': option('<verdicts>', listOf(oneOf(VERDICTS)), {
      help: `exit with 1 if one of these is found in the run: ${VERDICTS.join(', ')}. faster and slower count if the whole interval lies beyond the threshold`,
    }),
    format: option('<name>', oneOf(['markdown', 'json']), {
      help: 'print the comparison as markdown or json',
    }),
    json: flag({ help: 'the same as --format json', conflicts: { format: 'omit one of them' } }),
  },
  notes: 'Exit codes: 0 compared, 1 --fail-on applies, 2 refused or bad usage.',
  read(
    { by, threshold = thresholdFor(by), baseline, failOn = [], across, format, json, ...rest },
    runs,
  ): CompareRequest {
    if (baseline !== undefined && runs.length > 1) {
      throw new BenchError(
        'usage',
        '--baseline names a target of one run, so a second run cannot be combined with it',
        'omit --baseline: each target is compared with itself in the other run',
      );
    }
    if (failOn.length > 0 && runs.length > 1) {
      throw new BenchError(
        'usage',
        '--fail-on needs one run that holds both sides: two runs of different times have no verdict',
        `measure both sides in one run: ${commandLine(`bench --rev main,HEAD --fail-on ${failOn.join()}`)}, or ${commandLine('ci')}`,
      );
    }
    return {
      ...rest,
      runs,
      question: { by, threshold, ...present({ baseline }) },
      failOn,
      ...present({ across, format: json ? 'json' : format }),
    };
  },
  async run({ format, failOn, ...options }) {
    const { title, marks, compared } = compareStored(options);
    if (format === 'json') printJson(toJson({ schema: 1, title, marks, ...compared.table }));
    else {
      const view =
        compared.kind === 'within'
          ? viewComparison(compared.table, title, marks)
          : viewRuns(compared.table, title, marks);
      if (format === undefined) printStyled(showView(view));
      else print(renderMarkdown(view));
    }
    if (compared.kind === 'between') return 0;
    const found = findVerdicts(compared.table, failOn);
    if (found.length > 0) logLine(`--fail-on: found ${found.join(', ')}`);
    return found.length > 0 ? 1 : 0;
  },
});
