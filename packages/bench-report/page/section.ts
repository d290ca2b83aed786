import { METRICS, type MetricId } from 'bench-model/metrics';
import { keyOfPlace } from 'bench-model/planned';
import { describeConnections } from '../src/format.ts';
import type { Page, PageRow } from '../src/html/data.ts';
import type { Content } from './elements.ts';
import type { Shown } from './frame.ts';
import type { Look } from './series.ts';

/** The state that a section is built from. */
export interface Context extends Shown<PageRow> {
  page: Page;
  looks: Map<string, Look>;
}

/** A part of the page. It is left out if `build` returns nothing. */
export interface Section {
  id: string;
  title: string;
  build: (context: Context) => Content;
}

/** `1,000 connections`. */
export function nameRung(connections: number): string {
  return describeConnections([connections]);
}

/** Groups rows by place, in ascending order of connections, each with its name: `10 connections`, `10 connections, GET /orders`. */
export function byPlace(rows: PageRow[]): [string, PageRow[]][] {
  const groups = [...Map.groupBy(rows, keyOfPlace).values()] as [PageRow, ...PageRow[]][];
  return groups
    .toSorted(([a], [b]) => a.connections - b.connections)
    .map((own) => {
      const [{ connections, route }] = own;
      return [`${nameRung(connections)}${route === undefined ? '' : `, ${route}`}`, own];
    });
}

/** Sorts rows by a metric, the best first and those without a figure last. */
export function sortRows<Row extends Pick<PageRow, 'figures'>>(rows: readonly Row[], id: MetricId): Row[] {
  const direction = METRICS[id].better === 'lower' ? 1 : -1;
  const last = direction * Infinity;
  return rows.toSorted((a, b) => {
    const [one, other] = [a, b].map(({ figures }) => figures[id]?.median ?? last) as [number, number];
    return one === other ? 0 : (one - other) * direction;
  });
}

/** More series in one chart cannot be distinguished. */
const MANY = 8;

/**
 * Returns the looks of the targets of these rows, in the order of the page. If they are many, only those that are best by
 * the chosen metric, at the least connections, are not faint.
 */
export function looksOf(rows: PageRow[], { looks, metric }: Context): Map<string, Look> {
  const targets = new Set(rows.map(({ target }) => target));
  const own = [...looks.values()].filter(({ name }) => targets.has(name));
  const [, first = []] = byPlace(rows)[0] ?? [];
  const best = new Set(
    sortRows(first, metric)
      .slice(0, MANY)
      .map(({ target }) => target),
  );
  return new Map(
    own.map((look) => [
      look.name,
      targets.size > MANY && !best.has(look.name) ? { ...look, isFaint: true } : look,
    ]),
  );
}

/** Says which lines of a chart with many series have a colour. */
export function explainFaint(rows: PageRow[], metric: MetricId): string {
  const targets = new Set(rows.map(({ target }) => target));
  const [place] = byPlace(rows)[0] ?? [];
  return targets.size > MANY && place !== undefined
    ? ` ${targets.size} targets are many for one chart: the ${MANY} best by ${METRICS[metric].label} at ${place} have colours, the others are grey. Filter to compare others.`
    : '';
}
