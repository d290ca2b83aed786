/** `pnpm compare`: versions of a service in one run, or stored runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineCommand, flag, explainEach, inGroup, option } from '../cli/command.ts';
import { refuseAmbiguous } from '../cli/things.ts';
import { oneOf, text } from '../cli/values.ts';
import type { BenchRequest } from '../plan/request.ts';
import { SPEC, OPTIONS, readBench, refuseBesideThings } from './bench.ts';
import { compareWithin, type ComparedTable, findVerdicts, type Question } from 'bench-analysis/compare';
import { compareRuns, type RunsTable } from 'bench-analysis/runs';
import { FACTORS, unlikeRuns, type Factor } from 'bench-analysis/unlike';
import { refuseFirst, UsageError } from 'bench-model/errors';
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
import { present, thresholdFor, type VERDICTS } from 'bench-model/options';
import { showView } from '../conduct/compared.ts';
import { logLine, print, printJson, printStyled } from '../terminal/shell.ts';

export interface StoredComparison {
  title: string;
  /** Notes on the comparison, e.g. that the runs are unlike. */
  marks: string[];
  /** The targets of one run, or each target in two runs. */
  compared: { kind: 'within'; table: ComparedTable } | { kind: 'between'; table: RunsTable };
}

export interface CompareInput extends Partial<Question> {
  /** The one factor that may differ between two runs. */
  across?: Factor;
  /** Compares unlike runs, and marks the result. */
  force?: boolean;
}

/** Compares the targets of a stored run, or two runs. Throws a usage error for runs that cannot be compared. */
export function compareStored(
  names: readonly string[],
  { by = 'cpu', threshold = thresholdFor(by), baseline, across, force = false }: CompareInput = {},
): StoredComparison {
  const question = { by, threshold, ...present({ baseline }) };
  const runs = names.map((name) => readRun(findRun(name)));
  const quick = runs.find(({ plan }) => plan.quick);
  if (quick !== undefined)
    throw new UsageError(
      `run ${quick.plan.run} is a first impression (--quick): too short to compare`,
      'measure without --quick',
    );
  const [first, second] = runs;
  if (first === undefined)
    throw new UsageError('name a run to compare', commandLine('compare <run> [later-run]'));
  if (second === undefined) {
    const table = compareWithin(first, question);
    if (table.rows.length === 0)
      throw new UsageError(
        `run ${first.plan.run} has nothing to compare: it needs two targets with figures`,
        `compare it with another run: ${commandLine(`compare ${first.plan.run} <later-run>`)}`,
      );
    const marks = [
      ...explainBuilds(serversOf(first.plan, first.trials)),
      ...describeCopies(first.plan),
      ...describeEnding(endingOf(first), first.plan, by),
    ];
    return { title: `run ${first.plan.run}`, marks, compared: { kind: 'within', table } };
  }
  const unlike = unlikeRuns(first, second, across);
  if (unlike.length > 0 && !force) {
    const only = FACTORS.find((factor) => unlikeRuns(first, second, factor).length === 0);
    const declare = only === undefined ? '' : `--across ${only} declares that they may differ in this; `;
    throw new UsageError(
      `the runs are unlike: ${unlike.join('; ')}`,
      `${declare}--force compares anyway and marks the output`,
    );
  }
  const marks = [
    ...unlike.map((difference) => `FORCED although unlike: ${difference}`),
    ...describeDifferences(first, second),
  ];
  const table = compareRuns(first, second, question, across);
  return { title: `${first.plan.run} → ${second.plan.run}`, marks, compared: { kind: 'between', table } };
}

interface CompareRequest extends CompareInput {
  runs: string[];
  failOn: (typeof VERDICTS)[number][];
  markdown: boolean;
  json: boolean;
}

/** Options that apply to stored runs alone. */
const OF_STORED = inGroup('Stored runs', {
  baseline: option('<target>', text, {
    help: 'the target that the others are compared with. A runtime such as @3.12, or a revision, compares each target with itself; undisturbed does so without its background request',
    usually: 'the pairs that the run was planned for, otherwise its first target',
  }),
  across: option('<factor>', oneOf(FACTORS), {
    help: `the one factor that may differ between two runs: ${FACTORS.join(', ')}`,
  }),
  force: flag({ help: 'compare unlike runs, and mark the output' }),
  markdown: flag({ help: 'print the comparison as Markdown', conflicts: { json: 'omit one of them' } }),
});

/** Options that apply to stored runs and to new ones. */
const OF_BOTH = ['by', 'threshold', 'fail-on', 'json'];

/** Options of `bench` that a comparison does not have. */
const { quick: _quick, resume: _resume, again: _again, ...OF_MEASURED } = OPTIONS;

export default defineCommand({
  name: 'compare',
  about:
    'Compares versions of a service, or servers: measures them in turns until each difference is decided. Stored runs are compared without measuring.',
  arguments: {
    terms: '[thing...]',
    noun: 'thing',
    help: 'a revision (. is the working tree, with which a single one is compared), a folder, an address, a target such as fastapi@3.14, or a stored run',
    example: commandLine('compare main HEAD'),
    conflicts(words): Record<string, string> {
      const isStored = words.some(isStoredRun);
      const measured = Object.keys(OF_MEASURED).filter((name) => !OF_BOTH.includes(name));
      return isStored
        ? explainEach(measured, 'a stored run is not measured again: omit it')
        : {
            ...refuseBesideThings(words),
            ...explainEach(Object.keys(OF_STORED), 'it is for stored runs: omit it'),
          };
    },
  },
  options: { ...OF_MEASURED, ...OF_STORED },
  examples: [
    ['bench-http compare main HEAD', 'what did my branch change?'],
    ['bench-http compare HEAD', 'my uncommitted changes?'],
    ['bench-http compare . --env WORKERS=1,4', 'two settings'],
    ["bench-http compare . --run '…' --run '…'", 'two commands'],
    ['bench-http compare ./old ./new', 'two folders'],
    ['bench-http compare --node 22,26', 'two runtimes'],
  ],
  usual:
    'run env python node with get connections budget by threshold fail-on why baseline across force markdown',
  listedBy: 'bench',
  notes: `Exit codes: 0 compared, 1 a trial failed or --fail-on applies, 2 bad usage, 3 a\ntoolchain is missing, 130 interrupted.`,
  read(values, words): CompareRequest | BenchRequest {
    const runs = values.args.filter(isStoredRun);
    if (runs.length === 0) {
      const asked = { ...values, quick: false, resume: undefined, again: undefined };
      return readBench(asked, words, { compares: true });
    }
    const other = values.args.find((word) => !runs.includes(word));
    const { by, threshold, baseline, failOn = [], across, markdown, json, force } = values;
    const apart = 'a stored run has no interval with what is measured now';
    refuseFirst([
      [other !== undefined, `${other} is no stored run, and ${runs[0]} is one`, apart],
      [runs.length > 2, 'at most two stored runs can be compared', apart],
      [
        baseline !== undefined && runs.length > 1,
        '--baseline names a target of one run, so a second run cannot be combined with it',
        'omit --baseline: each target is compared with itself in the other run',
      ],
      [
        failOn.length > 0 && runs.length > 1,
        '--fail-on needs one run that holds both sides: two runs of different times have no verdict',
        `measure both sides in one run: ${commandLine(`compare main HEAD --fail-on ${failOn.join()}`)}, or ${commandLine('ci')}`,
      ],
    ]);
    return { runs, failOn, force, markdown, json, ...present({ by, threshold, baseline, across }) };
  },
  async run(request) {
    if (!('runs' in request)) {
      await refuseAmbiguous(request);
      return SPEC.run(request);
    }
    const { runs, markdown, json, failOn } = request;
    const { title, marks, compared } = compareStored(runs, request);
    if (json) printJson(toJson({ schema: 1, title, marks, ...compared.table }));
    else {
      const view =
        compared.kind === 'within'
          ? viewComparison(compared.table, title, marks)
          : viewRuns(compared.table, title, marks);
      if (markdown) print(renderMarkdown(view));
      else printStyled(showView(view));
    }
    if (compared.kind === 'between') return 0;
    const found = findVerdicts(compared.table, failOn);
    if (found.length > 0) logLine(`--fail-on: found ${found.join(', ')}`);
    return found.length > 0 ? 1 : 0;
  },
});

/** Returns true for the name of a stored run: its id, its folder or latest. */
function isStoredRun(word: string): boolean {
  return word === 'latest' || /^\d{8}-\d{6}-/.test(word) || existsSync(join(word, 'run.json'));
}
