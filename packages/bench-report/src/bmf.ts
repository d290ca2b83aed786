import { exportFigures, nameWithUnit } from './export.ts';
import { toJson } from './json.ts';
import type { Model } from './model/model.ts';

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
