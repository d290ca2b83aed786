/** The budgets of a job in words, as a text and as Markdown. */
import { type Budget, type JudgedBudget, type JudgedRow, lacksAnswers } from 'bench-analysis/budgets';
import { answersFor } from 'bench-statistics/histogram';
import { commandLine } from 'bench-machine/home';
import { METRICS } from 'bench-model/metrics';
import { meaningOf } from 'bench-model/reasons';
import { countOf, formatChange, formatShare, formatWhole, nameTarget } from './format.ts';
import type { Closing } from './content.ts';
import { closingInMarkdown, tableInMarkdown } from './markdown.ts';
import { renderRows } from './terminal.ts';
import { showValue } from './words.ts';

const HEADS = ['budget', 'target', 'connections', 'measured (95 % interval)', 'verdict'];

/** Describes a budget: `p99 at 500/s at most 20.0 ms`, `CPU µs/req at most 3 % worse than main`. */
export function describeBudget({ metric, rate, route, limit }: Budget): string {
  const { better } = METRICS[metric];
  const label = `${METRICS[metric].label}${route === undefined ? '' : ` of ${route}`}`;
  const at = rate === undefined ? label : `${label} at ${formatWhole(rate)}/s`;
  return limit.kind === 'figure'
    ? `${at} at ${better === 'lower' ? 'most' : 'least'} ${showValue(metric, limit.value)}`
    : `${at} at most ${formatShare(limit.share)} worse than ${limit.against}`;
}

/** A line on a budget that is not kept. An error fails the job. */
export type Problem = [kind: 'error' | 'warning', line: string];

/** Lists the budgets that are not kept, with what would change that. */
export function listProblems(judged: readonly JudgedBudget[]): Problem[] {
  return judged.flatMap(({ budget, rows }): Problem[] => {
    const said = describeBudget(budget);
    if (rows.length === 0) return [['warning', `${said}: not compared. The run has no other target`]];
    return rows.flatMap((row): Problem[] => {
      const place = `${nameTarget(row)} at ${formatWhole(row.connections)} connections`;
      const line = `${said}, ${place}: ${describeMeasured(row, budget)}, ${describeVerdict(row, budget)}`;
      if (row.verdict === 'kept') return [];
      if (row.verdict !== 'undecided') return [['error', line]];
      return [['warning', `${line}. ${describeWhy(row).cure}`]];
    });
  });
}

/** Renders the budgets as plain rows. */
export function renderBudgets(judged: readonly JudgedBudget[]): string {
  return renderRows(HEADS, judged.flatMap(rowsOf));
}

/** Renders the summary of a job: its verdict, its budgets, the command that comes next and the tables of its runs to unfold. */
export function renderSummary(
  verdict: string,
  judged: readonly JudgedBudget[],
  { next, runs }: { next: Closing | undefined; runs: readonly string[] },
): string {
  const table = tableInMarkdown(HEADS, judged.flatMap(rowsOf));
  const folded = ['<details><summary>All figures</summary>', '', ...runs, '</details>'];
  return [`## ${verdict}`, '', ...table, '', ...closingInMarkdown(next), ...folded, ''].join('\n');
}

function rowsOf({ budget, rows }: JudgedBudget): string[][] {
  const said = describeBudget(budget);
  if (rows.length === 0) return [[said, '—', '—', 'no other target to compare', 'not compared']];
  return rows.map((row) => [
    said,
    nameTarget(row),
    formatWhole(row.connections),
    describeMeasured(row, budget),
    describeVerdict(row, budget),
  ]);
}

function describeMeasured({ comparison: { ratio }, interval }: JudgedRow, { metric, limit }: Budget): string {
  if (ratio === undefined) return '—';
  const show = (factor: number): string =>
    limit.kind === 'figure' ? showValue(metric, factor * limit.value) : formatChange(factor);
  const { low, high } = interval ?? ANYWHERE;
  const estimate = show(ratio.estimate);
  if (low > 0 && high < Infinity) return `${estimate} (${show(low)} to ${show(high)})`;
  if (high < Infinity) return `${estimate} (at most ${show(high)})`;
  if (low > 0) return `${estimate} (at least ${show(low)})`;
  return `observed ${show(ratio.range.low)} to ${show(ratio.range.high)}`;
}

function describeVerdict(row: JudgedRow, budget: Budget): string {
  if (row.verdict === 'undecided') return `undecided: ${describeWhy(row).why}`;
  return row.verdict === 'not measured' ? `NOT MEASURED: ${describeMissing(row, budget)}` : row.verdict;
}

/** Says in how many rounds the metric is missing, and for a percentile, which duration has enough responses. */
function describeMissing(row: JudgedRow, budget: Budget): string {
  const { rounds, of, answers = 0, goodputPerSecond = 0 } = row.missing;
  const found = `${METRICS[budget.metric].label} is missing in ${rounds} of ${of} rounds`;
  if (!lacksAnswers(row, budget)) return found;
  const needed = answersFor(budget.metric) ?? 0;
  const seconds = goodputPerSecond > 0 ? Math.ceil((1.1 * needed) / goodputPerSecond) : undefined;
  const cure = seconds === undefined ? '' : `; "duration": ${seconds} has enough`;
  return `${found}: it needs ${formatWhole(needed)} responses, and a round had ${formatWhole(answers)}${cure}`;
}

/** Says why a row is undecided, and what would change that. */
export function describeWhy({ comparison, interval, open }: JudgedRow): { why: string; cure: string } {
  const cure = 'More rounds narrow the interval';
  const { low, high } = interval ?? ANYWHERE;
  if (low > 0 && high < Infinity) return { why: 'the interval contains the limit', cure };
  const isShort = comparison.verdict === 'undecided' && comparison.why === 'too-few-rounds';
  if (isShort) return { why: 'too few rounds', cure };
  const [first] = open;
  // No reason makes a percentile a lower bound among requests without a response.
  const rounds = first?.rounds ?? comparison.unbounded;
  const { summary, cure: own } = first ? meaningOf(first.reason) : { summary: 'only a lower bound is known' };
  return {
    why: `${summary} in ${rounds} of ${countOf(comparison.rounds, 'round')}`,
    cure: own ?? `${commandLine('report latest --detail')} says more`,
  };
}

const ANYWHERE = { low: 0, high: Infinity };
