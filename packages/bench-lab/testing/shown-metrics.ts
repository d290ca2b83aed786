/** The metrics that the golden files show, so that adding a metric changes none of them. */
const SHOWN = ['goodput', 'p50', 'p99', 'cpu', 'memory', 'startup'] as const;

type Metrics = typeof import('bench-model/metrics');

/**
 * Returns the table of metrics with those of the golden files alone, for `vi.mock`. `metrics.test.ts` checks that every other
 * metric has a column and a value of `--by`.
 */
export function limitMetrics(metrics: Metrics): Metrics {
  const isShown = (id: string): boolean => SHOWN.some((shown) => shown === id);
  return {
    ...metrics,
    METRIC_IDS: SHOWN,
    metricsOf: (...sides) => metrics.metricsOf(...sides).filter(isShown),
  };
}
