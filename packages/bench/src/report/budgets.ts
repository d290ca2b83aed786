/** The budgets of a job in words, as a text and as Markdown. */
import type { Budget, JudgedBudget, JudgedRow } from '../analyse/budgets.ts';
import { answersFor } from '../histogram.ts';
import { METRICS } from '../metrics.ts';
import { formatChange, formatShare, formatWhole } from './format.ts';
import { tableInMarkdown } from './markdown.ts';
import { renderRows } from './terminal.ts';
import { showValue } from './words.ts';

const HEADS = ['budget', 'target', 'connections', 'measured (95 % interval)', 'verdict'];

/** Describes a budget: `p99 at 500/s at most 20.0 ms`, `CPU µs/req at most 3 % worse than main`. */
export function describeBudget({ metric, rate, limit }: Budget): string {
  const { label, better } = METRICS[metric];
  const at = rate === undefined ? label : `${label} at ${formatWhole(rate)}/s`;
  return limit.kind === 'figure'
    ? `${at} at ${better === 'lower' ? 'most' : 'least'} ${showValue(metric, limit.value)}`
    : `${at} at most ${formatShare(limit.share)} worse than ${limit.against}`;
}

/** Renders the budgets as plain rows. */
export function renderBudgets(judged: readonly JudgedBudget[]): string {
  return renderRows(HEADS, judged.flatMap(rowsOf));
}

/** Renders the summary of a job: its verdict, its budgets and the tables of its runs. */
export function renderSummary(
  verdict: string,
  judged: readonly JudgedBudget[],
  runs: readonly string[],
): string {
  return [`## ${verdict}`, '', ...tableInMarkdown(HEADS, judged.flatMap(rowsOf)), '', ...runs, ''].join('\n');
}

function rowsOf({ budget, rows }: JudgedBudget): string[][] {
  const said = describeBudget(budget);
  if (rows.length === 0) return [[said, '—', '—', 'no other target to compare', 'not compared']];
  return rows.map((row) => [
    said,
    row.target,
    formatWhole(row.connections),
    describeMeasured(row, budget),
    describeVerdict(row, budget),
  ]);
}

function describeMeasured({ comparison: { ratio } }: JudgedRow, { metric, limit }: Budget): string {
  if (ratio === undefined) return '—';
  const show = (factor: number): string =>
    limit.kind === 'figure' ? showValue(metric, factor * limit.value) : formatChange(factor);
  const { interval } = ratio;
  const range = interval ?? ratio.range;
  const words = `${show(range.low)} to ${show(range.high)}`;
  return interval === undefined ? `observed ${words}` : `${show(ratio.estimate)} (${words})`;
}

function describeVerdict(row: JudgedRow, budget: Budget): string {
  if (row.verdict === 'undecided') return `undecided: ${describeWhy(row)}`;
  return row.verdict === 'not measured' ? `NOT MEASURED: ${describeMissing(row, budget)}` : row.verdict;
}

/** Says in how many rounds the metric is missing, and for a percentile, which duration has enough answers. */
export function describeMissing({ missing }: JudgedRow, { metric }: Budget): string {
  const { rounds, of, answers = 0, goodputPerSecond = 0 } = missing;
  const found = `${METRICS[metric].label} is missing in ${rounds} of ${of} rounds`;
  const needed = answersFor(metric);
  if (needed === undefined || answers >= needed) return found;
  const seconds = goodputPerSecond > 0 ? Math.ceil((1.1 * needed) / goodputPerSecond) : undefined;
  const cure = seconds === undefined ? '' : `; "duration": ${seconds} has enough`;
  return `${found}: it needs ${formatWhole(needed)} answers, and a round had ${formatWhole(answers)}${cure}`;
}

function describeWhy({ comparison }: JudgedRow): string {
  if (comparison.rounds === 0) return 'no valid figures';
  if (comparison.verdict !== 'undecided' || comparison.why === 'wide')
    return 'the interval contains the limit';
  return comparison.why === 'too-few-rounds' ? 'too few rounds' : 'too many invalid rounds';
}
