import type { MetricId } from 'bench-model/metrics';
import { METRIC_IDS } from 'bench-model/metrics';
import type { Model } from './model/definition.ts';

/** Returns the metric that answers come from: that of a sequential test, else CPU per request, else the first measured one. */
export function decidingMetric({ plan, rows }: Pick<Model, 'plan' | 'rows'>): MetricId {
  const isMeasured = (id: MetricId): boolean => rows.some(({ figures }) => figures[id]?.valid === true);
  const wanted: MetricId[] = [plan.sequentialTest?.by ?? 'cpu', ...METRIC_IDS];
  return wanted.find(isMeasured) ?? 'goodput';
}
