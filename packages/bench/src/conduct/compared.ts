/** The comparisons of a run in the terminal, after its table, and their explanation. */
import { FEWEST_ROUNDS } from 'bench-analysis/verdict';
import type { MetricId } from 'bench-model/metrics';
import type { Plan } from 'bench-model/plan';
import { viewComparison } from 'bench-report/compare';
import type { View } from 'bench-report/content';
import type { Model } from 'bench-report/model/model';
import { renderTerminal } from 'bench-report/terminal';
import { describeMissing, viewWhy } from 'bench-report/why';
import type { WhyFile } from 'bench-model/why';
import { layoutFor, logLine, print, printStyled } from '../terminal/shell.ts';
import { type ComparedTable, questionOf } from 'bench-analysis/compare';

/**
 * Selects the comparisons of a run that is meant to compare, or that a job depends on. Otherwise none: the ranks of a table of
 * few rounds say the same.
 */
export function compareTargets({ plan, comparisons }: Model, isAsked = false): ComparedTable[] {
  // The cost of a background request is the purpose of the run, however many rounds it has.
  const isDisturbed = plan.background !== undefined;
  const isSequential = plan.sequentialTest !== undefined;
  if (!isDisturbed && !isSequential && !isAsked && plan.rounds < FEWEST_ROUNDS) return [];
  const metrics: MetricId[] = isDisturbed && !isSequential ? ['goodput', 'p99'] : [questionOf(plan).by];
  return comparisons.filter(({ by }) => metrics.includes(by));
}

/** Returns the text of comparisons of a run, below its report. */
export function showComparisons({ run }: Pick<Plan, 'run'>, tables: readonly ComparedTable[]): string {
  return tables.map((table) => showView(viewComparison(table, `run ${run}`, [], false))).join('');
}

/** Returns a view as the terminal shows it in full. */
export function showView(view: View): string {
  return renderTerminal(view, layoutFor({ isBrief: false }));
}

/** Prints for each pair sentences about its difference, the table of places and packages that changed, and what a request takes. */
export function showWhy(why: WhyFile): void {
  for (const line of describeMissing(why)) logLine(line);
  for (const view of viewWhy(why)) {
    print(`${[view.heading, ...view.sentences.map((one) => `  ${one}`)].join('\n')}\n`);
    for (const one of [view.table, view.use])
      if (one.groups.some(({ rows }) => rows.length > 0)) printStyled(showView(one));
  }
}
