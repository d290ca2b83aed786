/** The figures and words of a row, as tables show them. Pure: the page of the HTML report uses it in a browser. */
import type { Figure, Row } from 'bench-analysis/summary';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { describeBytes } from 'bench-model/units';
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { formatAtMost, FORMATS } from './format.ts';

/** Renders the cell of a row in the column of a metric. */
export function showMetric(id: MetricId, { figures }: Pick<Row, 'figures'>): string {
  const { unit, column, middle } = METRICS[id];
  const figure = figures[id];
  const marked = column.showsOneMark && figure?.atLeast === true ? { ...figure, valid: true } : figure;
  // The middle of such a metric has an interval, or no range.
  const hasRange = middle === undefined || figure?.interval !== undefined;
  return showFigure(marked, FORMATS[unit], column.spread && hasRange);
}

/**
 * Returns true if the limits of rows tell what saturated. Below its capacity, a server waits: a line of its own says what limits
 * it there. One that only starts has none.
 */
export function tellLimits(rows: readonly Pick<Row, 'figures'>[]): boolean {
  return rows.every(
    ({ figures: { capacity, goodput, startup } }) =>
      capacity === undefined && (goodput !== undefined || startup === undefined),
  );
}

/** The most frequent limit of a row. */
export function showLimit({ limits }: Row): string {
  return limits[0] ?? '—';
}

/** Renders a figure with its marks: `≥` lower bound, `±` half of its range (from three rounds on), `~` in doubt by this share, `?` invalid. */
export function showFigure(
  figure: Figure | undefined,
  format: (value: number) => string,
  spread?: boolean,
): string {
  if (figure === undefined) return '—';
  const half = figure.median > 0 ? (figure.most - figure.least) / 2 / figure.median : 0;
  const range = spread && figure.rounds >= FEWEST_WITH_SPREAD ? ` ±${showShare(half)}` : '';
  const doubt = figure.valid ? '' : figure.within === undefined ? ' ?' : ` ~${showShare(figure.within)}`;
  return `${figure.atLeast ? '≥ ' : ''}${format(figure.median)}${range}${doubt}`;
}

/** A share in per cent, to two or three digits. */
function showShare(share: number): string {
  return `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

/** `1.4 KB ±0.2 KB`: the memory that a server gained for each response, and half the range of its rounds. */
export function showGrowth({ growth }: Pick<Row, 'growth'>): string {
  if (growth === undefined) return '—';
  const { median, most, least, rounds, valid } = growth;
  const range = rounds >= FEWEST_WITH_SPREAD ? ` ±${describeBytes((most - least) / 2)}` : '';
  return `${describeBytes(median)}${range}${valid ? '' : ' ?'}`;
}

/** `ok`, `suspect`, or `1 suspect` if the others are ok. */
export function describeStatus({ statuses, rounds }: Pick<Row, 'statuses' | 'rounds'>): string {
  const seen = Object.entries(statuses).filter(([, count]) => count > 0);
  const shown = seen.length === 1 ? seen : seen.filter(([status]) => status !== 'ok');
  return shown.map(([status, count]) => (count === rounds ? status : `${count} ${status}`)).join(', ');
}

/** `99.93 %`; with ≤ if only some bodies were compared byte by byte. */
export function describeRight({ right, checked }: Row): string {
  if (right === undefined) return '—';
  return `${right < 1 && isSampled(checked) ? '≤ ' : ''}${formatAtMost(right)}`;
}

/** Returns true if only some bodies were compared byte by byte. */
export function isSampled(checked: Row['checked']): boolean {
  return checked !== undefined && checked.bodies < checked.answers;
}
