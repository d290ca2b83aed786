import { compareRuns, compareWithin } from '../analyse/compare.ts';
import { describeUnknown, unlikeRuns } from '../analyse/unlike.ts';
import { FEWEST_ROUNDS } from '../analyse/verdict.ts';
import { BENCH, type BenchRequest } from '../cli/bench.ts';
import { commandLine } from '../home.ts';
import type { Plan } from '../plan/definition.ts';
import { DEFAULT_THRESHOLD } from '../plan/options.ts';
import { enginesOf } from '../plan/plan.ts';
import { describeChanges } from '../report/changes.ts';
import { renderComparison } from '../report/compare.ts';
import { describeDetail } from '../report/detail.ts';
import { renderJson } from '../report/json.ts';
import { renderTerminal } from '../report/terminal.ts';
import { describeEnding } from '../report/stopping.ts';
import { describePlan, toView } from '../report/view.ts';
import { readRun, shown, type StoredRun } from '../results/store.ts';
import { foresee, measureForeseen, planFrom, probing } from './request.ts';
import { createRunner, logLine, print, printJson, terminal, widthFor } from './shell.ts';

export const runBench = createRunner(BENCH, async (asked) => {
  const foreseen = await foresee(asked);
  const { options, old } = foreseen;
  if (options.dryRun) return print(describeDry(foreseen.plan, options));
  const measured = await measureForeseen(foreseen, terminal);
  if (measured === undefined) return 130;
  const { plan, source, folder, interrupted } = measured;

  if (options.json) printJson(renderJson(source));
  else if (source.trials.length > 0) print(renderTerminal(toView(source), widthFor(options)));
  if (options.detail && !options.json) print(describeDetail(source.trials));
  if (!options.json) print(describeComparison(readRun(folder), old));
  for (const line of describeEnding(plan, source.trials, interrupted)) logLine(line);
  logLine(`saved in ${shown(folder)}; to show it again: ${commandLine(`report ${plan.run}`)}`);
  if (interrupted) logLine(`to continue: ${commandLine(`bench --resume ${plan.run}`)}`);
  if (interrupted) return 130;
  return source.trials.some(({ status }) => status === 'failed') ? 1 : 0;
});

/** Describes a plan. If its rate is measured first, the description includes the run that measures it. */
function describeDry(plan: Plan, options: BenchRequest): string {
  if (!options.autoRate) return `${describePlan(plan)}\n`;
  const probe = planFrom(`${plan.run}-probe`, probing(options), undefined);
  const first = `first, to find the rate: ${describePlan(probe).split('\n\n')[0]}`;
  return `${first}\n\nthen: ${describePlan(plan, 'open loop at half of the slowest goodput')}\n`;
}

/**
 * Returns the verdicts on the targets, or on the run and the old one that it repeats; empty if the run is not meant
 * to compare.
 */
function describeComparison(run: StoredRun, old: StoredRun | undefined): string {
  const { plan } = run;
  // A second engine only checks the goodput of the first.
  const usual = enginesOf(plan).length > 1 ? 'goodput' : 'cpu';
  const { by = usual, threshold = DEFAULT_THRESHOLD } = plan.sequentialTest ?? {};
  const title = `run ${plan.run}`;
  if (plan.quick) return '';
  if (old !== undefined) {
    const table = compareRuns(old, run, { by, threshold });
    return renderComparison(table, `${old.plan.run} → ${plan.run}`, [
      ...unlikeRuns(old, run, undefined).map((difference) => `UNLIKE: ${difference}`),
      ...describeUnknown(old, run),
      ...describeChanges(old, run),
    ]);
  }
  // The cost of a background request is the purpose of the run, however many rounds it has.
  if (plan.background !== undefined) {
    const metrics = plan.sequentialTest === undefined ? (['goodput', 'p99'] as const) : [by];
    return metrics
      .map((metric) => renderComparison(compareWithin(run, { by: metric, threshold }), title, []))
      .join('');
  }
  const targets = new Set(run.trials.map(({ target }) => target.id));
  if (targets.size < 2 || (plan.rounds < FEWEST_ROUNDS && plan.sequentialTest === undefined)) return '';
  return renderComparison(compareWithin(run, { by, threshold }), title, []);
}
