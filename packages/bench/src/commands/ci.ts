/** Measures the runs that `bench.config.json` describes, and judges their budgets. */
import { showPath } from 'bench-machine/files';
import { defineCommand, flag, option, WAITS } from '../cli/command.ts';
import { text } from '../cli/values.ts';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { compareWithin } from 'bench-analysis/compare';
import {
  type Budget,
  isOutOfReach,
  judgeBudget,
  type JudgedBudget,
  type JudgedRow,
} from 'bench-analysis/budgets';
import { readConfig, refuseUnmeasured, type Config } from '../cli/config.ts';
import { commandLine, HOME, makeProjectFolder } from 'bench-machine/home';
import { answersFor } from 'bench-statistics/histogram';
import { sum } from 'bench-statistics/numbers';
import { joinWords } from 'bench-targets/catalogue/projects/words';
import { METRICS } from 'bench-model/metrics';
import type { Plan } from 'bench-model/plan';
import { present } from 'bench-model/options';
import type { BenchRequest } from '../plan/request.ts';
import { listProblems, renderBudgets, renderSummary, type Problem } from 'bench-report/budgets';
import { viewComparison } from 'bench-report/compare';
import type { Closing } from 'bench-report/content';
import { describeEnding } from 'bench-report/ending';
import { renderMarkdown } from 'bench-report/markdown';
import { toOutput } from 'bench-report/printable';
import { toModel, type Model } from 'bench-report/model/model';
import { describePlan, secondsOf } from 'bench-report/plan';
import { toView } from 'bench-report/view';
import type { Trial } from 'bench-model/record';
import type { StoredRun } from 'bench-analysis/results/store';
import { countOf, formatSpan } from 'bench-report/format';
import { measureRequest } from '../conduct/measure-request.ts';
import bench from './bench.ts';
import { keepPage } from '../conduct/outcome.ts';
import { resolveRequest, type ResolvedRequest } from '../conduct/resolve.ts';
import { logLine, print, terminal } from '../terminal/shell.ts';

interface Reported {
  run: StoredRun;
  model: Model;
}

export default defineCommand({
  name: 'ci',
  about:
    'Measures the targets of bench.config.json and checks its budgets. Prints each budget, and writes a summary in Markdown to .bench/summary.md and to the summary of a GitHub job.',
  options: {
    config: option('<file>', text, {
      help: 'the configuration',
      usually: 'bench.config.json of the project',
    }),
    'dry-run': flag({ help: 'print the plans and how long they take; start nothing' }),
    ...WAITS,
  },
  notes:
    'Exit codes: 0 every budget is kept or undecided, 1 a budget is broken or a trial\nfailed, 2 the configuration is not valid, 3 a toolchain is missing,\n130 interrupted.',
  async run({ config: file, dryRun, wait }) {
    const config = readConfig(file ?? join(HOME.root, 'bench.config.json'), bench);
    process.chdir(config.folder);
    const requests = await resolveRuns(config, wait);
    const plans = requests.map(({ outline }) => outline);
    const time = formatSpan(sum(plans.map(secondsOf)));
    if (dryRun) return print(`${plans.map(describePlan).join('\n\n')}\n\nin all: about ${time}\n`);
    const reported: Reported[] = [];
    let isInterrupted = false;
    for (const request of requests) {
      const { run, interrupted } = await measureRequest(request, terminal);
      reported.push({ run, model: toModel({ ...run, interrupted }, { distributions: true }) });
      isInterrupted = interrupted;
      if (interrupted) break;
      if (request.goesOn?.(run.plan, run.trials) === false) {
        // A longer duration changes all runs of the job.
        logLine('the job stops: its windows have too few responses for the percentile of a budget');
        break;
      }
    }
    if (reported.every(({ run }) => run.trials.length === 0)) return 130;
    const judged = config.budgets.flatMap(({ budget }) => {
      const { run } = reported.find((one) => rateOf(one.run) === budget.rate) ?? {};
      return run === undefined ? [] : [{ ...judgeBudget(run, budget, baselinesOf(config)), run }];
    });
    const verdict = conclude(judged, reported, isInterrupted);
    const worse = judged.find(
      ({ budget, rows }) => budget.limit.kind === 'worse' && rows.some((row) => row.verdict === 'broken'),
    );
    const next = worse && explain(worse.run);
    const tables = reported.map((one) => describeRun(one, config));
    const summary = renderSummary(verdict.words, judged, { next, runs: tables });
    print(`${renderBudgets(judged)}\n`);
    for (const { run, model } of reported) {
      const lines = [...describeEnding(model.ending, run.plan), model.outcome?.text ?? ''];
      for (const line of lines.filter(Boolean)) logLine(`${run.plan.run}: ${line}`);
      if (run.trials.length > 0) await keepPage(model, run.folder);
    }
    for (const problem of listProblems(judged)) annotate(problem);
    const saved = writeSummary(toOutput(summary));
    logLine(`${verdict.words}; the summary is in ${showPath(saved)}`);
    if (next !== undefined) logLine(`${next.sentence}: ${next.command}`);
    if (isInterrupted) return 130;
    return verdict.isBroken ? 1 : 0;
  },
});

/** Makes the plans of all runs before the first is measured. Throws a usage error if a budget does not fit its run. */
async function resolveRuns(config: Config, wait: boolean): Promise<ResolvedRequest[]> {
  const requests: ResolvedRequest[] = [];
  for (const { rate, request: read } of config.runs) {
    const own = config.budgets.filter(({ budget }) => budget.rate === rate);
    const budgets = own.map(({ budget }) => budget);
    const fitting = fitTo(budgets, baselinesOf(config), read());
    const asked = { ...fitting, ...present({ suffix: rate?.toString() }) };
    const request = await resolveRequest({ ...asked, wait, mayRepeatRevisions: true });
    for (const one of own) refuseUnmeasured(one, request.outline);
    const goesOn = whileInReach(budgets, baselinesOf(config));
    requests.push({ ...request, goesOn });
  }
  return requests;
}

/**
 * Returns a function that is false once windows had too few responses for the percentile of a budget. An open loop is refused
 * before it runs.
 */
function whileInReach(
  budgets: readonly Budget[],
  baselines: readonly string[],
): (plan: Plan, trials: readonly Trial[]) => boolean {
  const percentiles = budgets.filter(({ metric }) => answersFor(metric) !== undefined);
  return (plan, trials) => {
    const first = plan.trials.filter(({ round }) => round === 1);
    const isWhole = trials.filter(({ round }) => round === 1).length === first.length;
    if (plan.load.mode !== 'closed' || !isWhole) return true;
    const run = { plan, trials: [...trials] };
    return !percentiles.some((budget) => isOutOfReach(plan, judgeBudget(run, budget, baselines)));
  };
}

/** Fits a request to its budgets: only a difference beyond a limit ends its test, and without a comparison it needs no baseline. */
function fitTo(budgets: readonly Budget[], baselines: readonly string[], asked: BenchRequest): BenchRequest {
  const { sequentialTest, ifTwo, revisions = [] } = asked;
  if (budgets.every(({ limit }) => limit.kind === 'figure')) {
    const named = budgets.map(({ of }) => of);
    const needed = revisions.filter((name) => !baselines.includes(name) || named.includes(name));
    return needed.length === 0 ? asked : { ...asked, revisions: needed };
  }
  return {
    ...asked,
    ...(sequentialTest && { sequentialTest: { ...sequentialTest, beyond: true } }),
    ...(ifTwo && { ifTwo: { ...ifTwo, beyond: true } }),
  };
}

function baselinesOf({ budgets }: Config): string[] {
  return budgets.flatMap(({ budget: { limit } }) => (limit.kind === 'worse' ? [limit.against] : []));
}

function rateOf({ plan: { load } }: StoredRun): number | undefined {
  return load.mode === 'open' ? load.perSecond : undefined;
}

/** The result of a job: broken if a budget is broken or not measured, or a trial failed. */
function conclude(
  judged: readonly JudgedBudget[],
  reported: readonly Reported[],
  interrupted: boolean,
): { words: string; isBroken: boolean } {
  const rows = judged.flatMap((one) => one.rows);
  const checks = (verdict: JudgedRow['verdict']): string[] => {
    const found = rows.filter((row) => row.verdict === verdict);
    return found.length === 0 ? [] : [`${found.length} of ${rows.length} budget checks ${verdict}`];
  };
  const failed = reported.flatMap(({ run }) => run.trials.filter(({ status }) => status === 'failed'));
  const failures = [
    ...checks('broken'),
    ...(failed.length > 0 ? [countOf(failed.length, 'failed trial')] : []),
    ...checks('not measured'),
  ];
  const said = [...failures, ...checks('undecided')];
  const kept = rows.length === 0 ? 'no budget checked' : `all ${rows.length} budget checks kept`;
  const result = said.length > 0 ? said.join(', ') : kept;
  const words = interrupted ? `Bench, interrupted: so far ${result}` : `Bench: ${result}`;
  return { words, isBroken: failures.length > 0 };
}

/** Names the command that finds the lines behind a difference, on a machine that has both commits. */
function explain({ plan, typed = [] }: StoredRun): Closing {
  // In a pull request, HEAD is a commit of no branch, and main moves on.
  const revisions = plan.targets.flatMap(({ copy }) => (copy?.kind === 'revision' ? copy : []));
  const commitOf = (word: string) => revisions.find(({ name }) => name === word)?.commit?.slice(0, 7);
  const words = typed.flatMap((word) => (word.startsWith('--rounds=') ? [] : (commitOf(word) ?? word)));
  const command = commandLine(joinWords(['compare', ...words, '--why']));
  return { sentence: 'Which lines cost more? On your machine', command };
}

/** Logs a line. GitHub shows it beside the job; its runner takes some characters for its own. */
function annotate([kind, line]: Problem): void {
  const isGitHub = process.env['GITHUB_ACTIONS'] === 'true';
  const escaped = line.replaceAll(/[%\r\n]/g, encodeURIComponent);
  logLine(isGitHub ? `::${kind} title=Bench::${escaped}` : `${kind}: ${line}`);
}

function describeRun({ run, model }: Reported, { budgets }: Config): string {
  const metrics = budgets.flatMap(({ budget: { metric, rate, limit } }) =>
    limit.kind === 'worse' && rate === rateOf(run)
      ? [{ by: metric, threshold: limit.share, baseline: limit.against }]
      : [],
  );
  const tables = run.plan.targets.length < 2 ? [] : metrics.map((question) => compareWithin(run, question));
  const compared = tables
    .filter(({ rows }) => rows.length > 0)
    .map((table) => renderMarkdown(viewComparison(table, METRICS[table.by].label)));
  // The verdict of a job is that of its budgets.
  const { closing: _, ...view } = toView(model);
  return [`### Run ${run.plan.run}`, '', ...compared, renderMarkdown(view)].join('\n');
}

/** Writes the summary to the project, and to that of a GitHub job. Returns the path of the first. */
function writeSummary(summary: string): string {
  const file =
    HOME.kind === 'repository' ? join(HOME.results, 'summary.md') : join(HOME.root, '.bench', 'summary.md');
  if (HOME.kind === 'project')
    makeProjectFolder({ ...HOME, results: join(HOME.root, '.bench', basename(HOME.results)) });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, summary);
  const { GITHUB_STEP_SUMMARY: job = '' } = process.env;
  if (job !== '' && existsSync(dirname(job))) appendFileSync(job, summary);
  return file;
}
