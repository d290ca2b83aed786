/** The part that the formats for other programs share: plain names, and only figures that a program may compare. */
import type { Better } from 'bench-analysis/verdict';
import { toJson } from './json.ts';
import { describeLoad, isUsualLoad } from 'bench-model/engines';
import { BenchError } from 'bench-model/errors';
import { METRIC_IDS, METRICS, type MetricId } from 'bench-model/metrics';
import { UNITS } from 'bench-model/units';
import { describeConnections, nameTarget } from './format.ts';
import type { Model, ModelFigure, ModelRow } from './model/model.ts';
import { describeWorkload } from './plan.ts';

/** A valid figure of a run, with names that stay the same from run to run. */
interface Exported {
  /** The workload, the target and the rung: `devices: fastify at 100 connections`. */
  name: string;
  metric: MetricId;
  unit: string;
  row: ModelRow;
  figure: ModelFigure;
}

/** Names the unit of a metric in ASCII: `us per request`. */
function unitOf(metric: MetricId): string {
  return UNITS[METRICS[metric].unit].ascii;
}

/** Names a metric together with its unit, the words joined by `separator`: `cpu_us_per_request`. */
export function nameWithUnit(metric: MetricId, separator: '_' | '-'): string {
  return `${metric} ${unitOf(metric)}`.replaceAll(' ', separator);
}

/**
 * Lists the figures that another program may keep and compare: those that are valid and no lower bounds. Throws a usage
 * error for a quick run.
 */
export function exportFigures(model: Model): Exported[] {
  if (model.quick) {
    throw new BenchError(
      'usage',
      `run ${model.run} is a first impression (--quick): too short to compare`,
      'measure without --quick',
    );
  }
  return model.rows.flatMap((row) =>
    METRIC_IDS.flatMap((metric): Exported[] => {
      const figure = row.figures[metric];
      if (figure === undefined || !figure.valid || figure.atLeast) return [];
      return [{ name: nameOf(model, row), metric, unit: unitOf(metric), row, figure }];
    }),
  );
}

/** Says how many figures `exportFigures` leaves out; undefined if it leaves out none. */
export function describeUnfit({ rows }: Model): string | undefined {
  const figures = rows.flatMap(({ figures: all }) => Object.values(all));
  const unfit = figures.filter(({ valid, atLeast }) => !valid || atLeast).length;
  return unfit === 0
    ? undefined
    : `${unfit} of ${figures.length} figures are left out: they are invalid or lower bounds`;
}

function nameOf({ plan }: Model, row: ModelRow): string {
  const load = isUsualLoad(plan.load) ? '' : `, ${describeLoad(plan.load)}`;
  const place = `${nameTarget(row)} at ${describeConnections([row.connections])}`;
  return `${describeWorkload(plan)}: ${place}${load}`;
}

/**
 * Renders the figures of a run as Bencher Metric Format: a benchmark for each target and rung, and a measure for each
 * metric. The bounds of a value are the least and the most of its rounds.
 */
export function renderBmf(model: Model): string {
  const benchmarks: Record<string, Record<string, object>> = {};
  for (const { name, metric, figure } of exportFigures(model)) {
    const measures = (benchmarks[name] ??= {});
    const { median, least, most } = figure;
    measures[nameWithUnit(metric, '-')] = { value: median, lower_value: least, upper_value: most };
  }
  return toJson(benchmarks);
}

/**
 * Renders the metrics of a run whose lower or higher values are better, as github-action-benchmark reads them with the
 * tool `customSmallerIsBetter` or `customBiggerIsBetter`. The range is half that of the rounds.
 */
export function renderActionBenchmark(model: Model, better: Better): string {
  return toJson(
    exportFigures(model)
      .filter(({ metric }) => METRICS[metric].better === better)
      .map(({ name, metric, unit, row, figure: { median, least, most, rounds } }) => ({
        name: `${name}, ${metric}`,
        unit,
        value: median,
        range: `± ${(most - least) / 2}`,
        extra: [
          `run: ${model.run}`,
          `rounds: ${rounds}`,
          `class: ${row.class}`,
          `limit: ${row.limits[0] ?? 'unknown'}`,
        ].join('\n'),
      })),
  );
}
