import type { Measured, MetricId, Trial } from '../model.ts';

/** One figure that trials are compared by. */
export interface Metric {
  id: MetricId;
  label: string;
  unit: 'per second' | 'µs' | 'bytes' | 's';
  better: 'higher' | 'lower';
  from: (measured: Measured) => number | undefined;
}

/** Every metric there is: to add one is to add an entry here. */
export const METRICS: Record<MetricId, Metric> = {
  goodput: {
    id: 'goodput',
    label: 'goodput/s',
    unit: 'per second',
    better: 'higher',
    from: ({ load }) => load.goodputPerSecond,
  },
  p50: { id: 'p50', label: 'p50', unit: 'µs', better: 'lower', from: ({ load }) => load.latencyUs?.p50 },
  p99: { id: 'p99', label: 'p99', unit: 'µs', better: 'lower', from: ({ load }) => load.latencyUs?.p99 },
  cpu: {
    id: 'cpu',
    label: 'CPU µs/req',
    unit: 'µs',
    better: 'lower',
    from: ({ cpuUsPerRequest }) => cpuUsPerRequest,
  },
  memory: {
    id: 'memory',
    label: 'memory',
    unit: 'bytes',
    better: 'lower',
    from: ({ server }) => server?.peakBytes,
  },
  startup: {
    id: 'startup',
    label: 'start-up',
    unit: 's',
    better: 'lower',
    from: ({ startupSeconds }) => startupSeconds,
  },
};

/** What one trial gives for a metric. */
export interface TrialFigure {
  value: number;
  /** False when a reason spoils it. */
  valid: boolean;
  /** Whether the value is a lower bound: goodput that generator, upstream or database held back, a percentile among the timeouts. */
  atLeast: boolean;
}

/** What held goodput back when it was not the server. */
const LOWER_BOUNDS = ['generator-bound', 'upstream-bound', 'database-bound'];

/** What a trial gives for a metric; undefined when it failed or did not measure it. */
export function figureOf(trial: Trial, { id, from }: Metric): TrialFigure | undefined {
  if (trial.status === 'failed') return undefined;
  const value = from(trial.measured);
  if (value === undefined) return undefined;
  return {
    value,
    valid: !trial.reasons.some(({ invalidates }) => invalidates.includes(id)),
    atLeast:
      id === 'goodput'
        ? trial.reasons.some(({ code }) => LOWER_BOUNDS.includes(code))
        : (trial.measured.load.latencyUs?.atLeast?.includes(id) ?? false),
  };
}
