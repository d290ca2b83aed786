import { UNDISTURBED, type ComparedRow, type ComparedTable } from '../analyse/compare.ts';
import type { Comparison } from '../analyse/comparison.ts';
import { formatShare } from './format.ts';
import { renderRows } from './terminal.ts';
import { METRICS } from '../metrics.ts';

/** The comparisons as text: ratio, interval and verdict of each. */
export function renderComparison(table: ComparedTable, title: string, marks: string[]): string {
  const { label, better } = METRICS[table.by];
  const heads = [
    'connections',
    'target',
    describeBaseline(table),
    '95 % interval',
    'verdict',
    'rounds',
    ...(table.paired ? ['rank'] : []),
  ];
  const rows = table.rows.map((row) => [
    row.connections.toLocaleString('en-US'),
    row.candidate,
    ...describe(row.comparison),
    describeVerdict(row, table.threshold),
    String(row.comparison.rounds),
    ...(table.paired ? [row.rank === undefined ? '—' : String(row.rank)] : []),
  ]);
  const notes = [
    `ratios of ${label}, ${better === 'lower' ? 'less' : 'more'} is better; the difference that matters is ${formatShare(table.threshold)}`,
    table.paired
      ? 'paired by round; all rows share one error budget of 5 % (Holm)'
      : 'unpaired: the runs are of different times, and whatever else changed between them is in the ratio',
    ...marks,
  ];
  return `${title}\n${renderRows(heads, rows)}\n${notes.map((note) => `  ${note}\n`).join('')}`;
}

function describeBaseline({ paired, baseline = '' }: ComparedTable): string {
  if (!paired) return 'now against then';
  if (baseline === UNDISTURBED) return 'against itself undisturbed';
  return baseline.startsWith('@') ? `against itself on ${baseline.slice(1)}` : `against ${baseline}`;
}

function describe({ ratio }: Comparison): [string, string] {
  if (ratio === undefined) return ['—', '—'];
  const { estimate, interval, range } = ratio;
  const figure = `× ${estimate.toFixed(3)}`;
  return interval === undefined
    ? [figure, `seen ${range.low.toFixed(3)} to ${range.high.toFixed(3)}`]
    : [figure, `${interval.low.toFixed(3)} to ${interval.high.toFixed(3)}`];
}

function describeVerdict({ comparison }: ComparedRow, threshold: number): string {
  if (comparison.verdict !== 'undecided') {
    return comparison.byMoreThanThreshold
      ? `${comparison.verdict} by more than ${formatShare(threshold)}`
      : comparison.verdict;
  }
  const why = {
    'too-few-rounds': 'too few rounds',
    'blocks-dropped': 'too many rounds spoilt',
    wide: 'the interval is too wide',
  };
  const needed =
    comparison.neededRounds === undefined ? '' : `; some ${comparison.neededRounds} rounds would show 6 %`;
  return `undecided: ${why[comparison.why]}${needed}`;
}
