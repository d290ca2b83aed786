/** The scaling of servers in words: a table with a group for each target at each rung. */
import { isSamePlace, nameSize, placeOf } from 'bench-model/planned';
import { METRICS } from 'bench-model/metrics';
import { showFigure, showLimit, showMetric } from './cells.ts';
import { countOf, describeConnections, describePlace, formatDigits } from './format.ts';
import type { Scaling } from 'bench-analysis/scaling';
import type { Model } from './model/definition.ts';
import { listGiven, nameSome } from './words.ts';

/** Builds the table; undefined if nothing was scaled. */
export function toScalingView({ scalings, rows }: Pick<Model, 'scalings' | 'rows'>) {
  if (scalings === undefined) return undefined;
  return {
    title: 'How the servers scale',
    columns: [
      'server',
      'cores',
      METRICS.goodput.label,
      'speed-up',
      'efficiency',
      METRICS.cpu.label,
      METRICS.memory.label,
      'cores used',
      'processes',
      'limit',
    ],
    words: ['server', 'limit'],
    expendable: ['processes', 'cores used', 'efficiency', METRICS.goodput.label, 'limit'],
    groups: scalings.map(({ of, rows: scaled, ...place }) => ({
      of,
      ...place,
      heading: `${nameBase(of)}, ${describePlace(place)}`,
      rows: scaled.map(({ target, scale, isShared, speedUp, efficiency, coresUsed, processes }) => {
        const row = rows.find((one) => one.target === target && isSamePlace(one, place));
        return [
          nameSize(scale),
          isShared ? `${scale.cores} shared` : String(scale.cores),
          row === undefined ? '—' : showMetric('goodput', row),
          // One worker has no range: it is compared with itself.
          target === of ? '1' : showFigure(speedUp, formatDigits, true),
          showFigure(efficiency, (share) => `${Math.round(share * 100)} %`),
          ...(row === undefined ? ['—', '—'] : [showMetric('cpu', row), showMetric('memory', row)]),
          coresUsed === undefined ? '—' : formatDigits(coresUsed),
          processes === undefined ? '—' : String(processes),
          row === undefined ? '—' : showLimit(row),
        ];
      }),
    })),
    notes: explainScaling({ scalings, rows }),
  };
}

/** The name of a target without its size. */
function nameBase(of: string): string {
  return of.replace(/ \([^()]*\)$/, '');
}

/** Says what the columns mean, and what limits the speed-ups. */
function explainScaling({ scalings, rows }: Required<Pick<Model, 'scalings' | 'rows'>>): string[] {
  const scaled = scalings.flatMap((scaling) => scaling.rows.map((row) => ({ ...row, ...placeOf(scaling) })));
  const isLimited = scaled.some((one) =>
    rows.some(
      (row) => row.target === one.target && isSamePlace(row, one) && row.limits.includes('generator'),
    ),
  );
  return listGiven([
    'speed-up: goodput ÷ that of 1 worker on 1 core in the same round. efficiency: speed-up ÷ cores. threads: those of one worker; several workers have one each, if the stack lets you choose.',
    scaled.some(({ isShared }) => isShared) &&
      'shared: this machine has no core left for the load, so it ran on the cores of the server too. Speed-ups are lower bounds; CPU per request is not affected as much.',
    isLimited &&
      'The load generator was saturated in some rows, so their speed-ups are bounds: the server may serve more.',
  ]);
}

/**
 * Describes the largest servers at the most connections: `Speed-up on 4 cores at 100 connections: fastapi 1.02 with 4 threads
 * and 3.60 with 4 workers`; undefined without a speed-up.
 */
export function describeScalings(scalings: readonly Scaling[]): string | undefined {
  const connections = Math.max(...scalings.map((scaling) => scaling.connections));
  const cores = Math.max(...scalings.flatMap(({ rows }) => rows.map(({ scale }) => scale.cores)));
  const parts = scalings
    .filter((scaling) => scaling.connections === connections)
    .flatMap(({ of, rows }) => {
      const own = rows.flatMap(({ target, scale, speedUp }) =>
        target === of || scale.cores < cores || speedUp?.valid !== true
          ? []
          : [`${showFigure(speedUp, formatDigits)} with ${nameSize(scale)}`],
      );
      return own.length === 0 ? [] : [`${nameBase(of)} ${own.join(' and ')}`];
    });
  if (parts.length === 0) return undefined;
  return `Speed-up on ${countOf(cores, 'core')} at ${describeConnections([connections])}: ${nameSome(parts, 3).join(', ')}`;
}
