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
import { HOME, makeProjectFolder } from 'bench-machine/home';
import { answersFor } from 'bench-statistics/histogram';
import { METRICS } from 'bench-model/metrics';
import type { Plan } from 'bench-model/plan';
import { present } from 'bench-model/options';
import type { BenchRequest } from '../plan/request.ts';
import {
  describeBudget,
  describeMissing,
  describeWhy,
  renderBudgets,
  renderSummary,
} from 'bench-report/budgets';
import { viewComparison } from 'bench-report/compare';
import { describeEnding } from 'bench-report/ending';
import { renderMarkdown } from 'bench-report/markdown';
import { toOutput } from 'bench-report/printable';
import { toModel, type Model } from 'bench-report/model/model';
import { describePlan } from 'bench-report/plan';
import { toView } from 'bench-report/view';
import type { Trial } from 'bench-model/record';
import { type StoredRun } from 'bench-analysis/results/store';
import { countOf, nameTarget } from 'bench-report/format';
import type { MeasuredRun } from '../conduct/job.ts';
import { measureRequest } from '../conduct/measure-request.ts';
import bench from './bench.ts';
import { resolveRequest, type ResolvedRequest } from '../conduct/resolve.ts';
import { logLine, print, terminal } from '../terminal/shell.ts';

interface JobRun {
  rate: number | undefined;
  request: ResolvedRequest;
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
    const runs = await resolveRuns(config, wait);
    if (dryRun) return print(`${runs.map(({ request }) => describePlan(request.outline)).join('\n\n')}\n`);
    const measured: (MeasuredRun & Pick<JobRun, 'rate'>)[] = [];
    for (const { rate, request } of runs) {
      const ended = await measureRequest(request, terminal);
      measured.push({ rate, ...ended });
      if (ended.interrupted) break;
      if (request.goesOn?.(ended.run.plan, ended.run.trials) === false) {
        // A longer duration changes all runs of the job.
        logLine('the job stops: its windows have too few responses for the percentile of a budget');
        break;
      }
    }
    if (measured.every(({ run }) => run.trials.length === 0)) return 130;
    const interrupted = measured.some((one) => one.interrupted);
    const judged = config.budgets.flatMap(({ budget }): JudgedBudget[] => {
      const found = measured.find(({ rate }) => rate === budget.rate);
      return found === undefined ? [] : [judgeBudget(found.run, budget, baselinesOf(config))];
    });
    const reported = measured.map((one) => ({
      run: one.run,
      model: toModel({ ...one.run, interrupted: one.interrupted }),
    }));
    const verdict = conclude(judged, reported, interrupted);
    const tables = reported.map((one) => describeRun(one, config));
    const summary = renderSummary(verdict.words, judged, tables);
    print(`${renderBudgets(judged)}\n`);
    for (const { run, model } of reported) {
      const lines = [...describeEnding(model.ending, run.plan), model.outcome?.text ?? ''];
      for (const line of lines.filter(Boolean)) logLine(`${run.plan.run}: ${line}`);
    }
    for (const line of verdict.warnings) logLine(`warning: ${line}`);
    const saved = writeSummary(toOutput(summary));
    logLine(`${verdict.words}; the summary is in ${showPath(saved)}`);
    if (interrupted) return 130;
    return verdict.isBroken ? 1 : 0;
  },
});

/** Makes the plans of all runs before the first is measured. Throws a usage error if a budget does not fit its run. */
async function resolveRuns(config: Config, wait: boolean): Promise<JobRun[]> {
  const runs: JobRun[] = [];
  for (const { rate, request: read } of config.runs) {
    const own = config.budgets.filter(({ budget }) => budget.rate === rate);
    const budgets = own.map(({ budget }) => budget);
    const asked = { ...untilBeyond(read(), budgets), ...present({ suffix: rate?.toString() }) };
    const request = await resolveRequest({ ...asked, wait, mayRepeatRevisions: true });
    for (const one of own) refuseUnmeasured(one, request.outline);
    const goesOn = whileInReach(budgets, baselinesOf(config));
    runs.push({ rate, request: { ...request, goesOn } });
  }
  return runs;
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

/** Returns a request whose sequential test ends only when a difference is beyond the threshold, if a budget asks for that. */
function untilBeyond(request: BenchRequest, budgets: readonly Budget[]): BenchRequest {
  if (budgets.every(({ limit }) => limit.kind !== 'worse')) return request;
  const { sequentialTest, ifTwo } = request;
  return {
    ...request,
    ...(sequentialTest && { sequentialTest: { ...sequentialTest, beyond: true } }),
    ...(ifTwo && { ifTwo: { ...ifTwo, beyond: true } }),
  };
}

function baselinesOf({ budgets }: Config): string[] {
  return budgets.flatMap(({ budget: { limit } }) => (limit.kind === 'worse' ? [limit.against] : []));
}

interface Reported {
  run: StoredRun;
  model: Model;
}

/** The result of a job: broken if a budget is broken or not measured, or a trial failed. Anything undecided is a warning. */
function conclude(
  judged: readonly JudgedBudget[],
  reported: readonly Reported[],
  interrupted: boolean,
): { words: string; isBroken: boolean; warnings: string[] } {
  const rows = judged.flatMap(({ budget, rows: all }) =>
    all.map((row) => {
      const place = `${describeBudget(budget)}, ${nameTarget(row)} at ${row.connections} connections`;
      return { row, budget, place };
    }),
  );
  const having = (verdict: JudgedRow['verdict']) => rows.filter(({ row }) => row.verdict === verdict);
  const checks = (found: readonly unknown[], verdict: string): string[] =>
    found.length === 0 ? [] : [`${found.length} of ${rows.length} budget checks ${verdict}`];
  const [broken, unmeasured, undecided] = [having('broken'), having('not measured'), having('undecided')];
  const failed = reported.flatMap(({ run }) => run.trials.filter(({ status }) => status === 'failed'));
  const uncompared = judged.filter((one) => one.rows.length === 0);
  const said = [
    ...checks(broken, 'broken'),
    ...(failed.length > 0 ? [countOf(failed.length, 'failed trial')] : []),
    ...checks(unmeasured, 'not measured'),
    ...checks(undecided, 'undecided'),
  ];
  const kept = rows.length === 0 ? 'no budget checked' : `all ${rows.length} budget checks kept`;
  const result = said.length > 0 ? said.join(', ') : kept;
  return {
    words: interrupted ? `Bench, interrupted: so far ${result}` : `Bench: ${result}`,
    isBroken: broken.length + failed.length + unmeasured.length > 0,
    warnings: [
      ...unmeasured.map(
        ({ place, row, budget }) => `not measured: ${place}: ${describeMissing(row, budget)}`,
      ),
      ...undecided.map(({ place, row }) => {
        const { why, cure } = describeWhy(row);
        return `undecided: ${place}: ${why}. ${cure}`;
      }),
      ...uncompared.map(
        ({ budget }) => `not compared: ${describeBudget(budget)}. The run has no other target`,
      ),
    ],
  };
}

function describeRun({ run, model }: Reported, { budgets }: Config): string {
  const { load } = run.plan;
  const own = load.mode === 'open' ? load.perSecond : undefined;
  const metrics = budgets.flatMap(({ budget: { metric, rate, limit } }) =>
    limit.kind === 'worse' && rate === own
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
