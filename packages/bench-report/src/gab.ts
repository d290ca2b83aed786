import type { Better } from 'bench-analysis/verdict';
import { METRICS } from 'bench-model/metrics';
import { exportFigures } from './export.ts';
import { toJson } from './json.ts';
import type { Model } from './model/model.ts';

/**
 * Renders the metrics of a run whose lower or higher values are better, as github-action-benchmark reads them with the
 * tool `customSmallerIsBetter` or `customBiggerIsBetter`. The range is half that of the rounds.
 */
export function renderGab(model: Model, better: Better): string {
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
