/** Two runs of different times, side by side. */
import { FEWEST_PAIRS, type RunsRow, type RunsTable } from 'bench-analysis/runs';
import { METRICS } from 'bench-model/metrics';
import { showMetric } from './cells.ts';
import { viewTable, type View } from './content.ts';
import { countOf, formatChangeWithin, formatShare, formatWhole } from './format.ts';

/** Builds the view of the figures of two runs and their ratios. */
export function viewRuns(
  { by, threshold, rows, repeats }: RunsTable,
  title: string,
  marks: readonly string[],
): View {
  const { label, better } = METRICS[by];
  const show = (figure: RunsRow['old']): string =>
    showMetric(by, { figures: figure === undefined ? {} : { [by]: figure } });
  const hasRoutes = rows.some(({ route }) => route !== undefined);
  const isJudged = rows.some(({ repeated }) => repeated !== undefined);
  return viewTable(
    {
      title,
      columns: [
        'connections',
        ...(hasRoutes ? ['request'] : []),
        'target',
        'old',
        'new',
        'new ÷ old',
        ...(isJudged ? ['all repeats: difference (95 % interval)', 'pairs'] : []),
      ],
      rows: rows.map(({ connections, route = '', candidate, old, new: now, ratio, repeated }) => [
        formatWhole(connections),
        ...(hasRoutes ? [route] : []),
        candidate,
        show(old),
        show(now),
        ratio === undefined ? '—' : `× ${ratio.toFixed(3)}`,
        ...(isJudged ? describeRepeated(repeated) : []),
      ]),
      notes: [
        `${label}, ${better} is better${isJudged ? `; the smallest difference that matters is ${formatShare(threshold)}` : ''}`,
        describeGround(isJudged, repeats),
        ...marks,
      ],
    },
    ['connections', 'old', 'new'],
  );
}

function describeRepeated(repeated: RunsRow['repeated']): string[] {
  if (repeated === undefined) return ['too few pairs', '—'];
  const { verdict, ratio, pairs } = repeated;
  return [`${verdict}: ${formatChangeWithin(ratio.estimate, ratio.interval)}`, String(pairs)];
}

/** Says what the intervals rest on, or why there are none. */
function describeGround(isJudged: boolean, repeats: RunsTable['repeats']): string {
  const counts =
    repeats && `${countOf(repeats.old, 'stored run')} of the old plan and ${repeats.new} of the new one`;
  if (isJudged)
    return `the intervals are those of Student's t over pairs of neighbours in time, from ${counts}; they hold simultaneously with 95 % confidence`;
  const reason =
    'no interval and no verdict: the runs were measured at different times, so a ratio includes every other change between them, also that of the machine';
  return counts === undefined
    ? reason
    : `${reason}. There are ${counts}, and fewer than ${FEWEST_PAIRS} pairs of neighbours in time: repeat them in turns with bench --again`;
}
