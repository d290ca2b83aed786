/** The metrics of trials. To add a metric, add an entry here: ids, schema, columns and reasons derive from it. */
import type { Measured } from './results/record.ts';
import type { Unit } from './units.ts';

/**
 * A side of a trial that a metric depends on. A reason names the sides that it affects, and so invalidates every metric
 * that depends on one of them.
 * - `pace`: the speed of requests and answers
 * - `latency`: the pairing of answers with requests
 * - `tail`: the slowest one per cent
 * - `cpu`, `memory`: the resources of the server under load
 * - `start`: the server before its first request
 */
export type Side = 'pace' | 'latency' | 'tail' | 'cpu' | 'memory' | 'start';

/** The declaration of a metric. */
interface Entry {
  /** The heading of its column. */
  label: string;
  /** Its name in a sentence. */
  name: string;
  /** Introduces the target with the best figure. */
  superlative: string;
  unit: Unit;
  better: 'higher' | 'lower';
  /** Reads the figure from a trial; undefined if the trial did not measure it. */
  from: (measured: Measured) => number | undefined;
  dependsOn: readonly Side[];
  column: {
    /** Shows half the range over the rounds after the figure. */
    spread?: true;
    /** Omits the mark for invalid figures from lower bounds: the same reason causes both. */
    showsOneMark?: true;
    /** Omits the column if no row has a figure. */
    isOptional?: true;
    /** A narrow page omits the columns with the lowest numbers first; one without a number always stays. */
    expendable?: number;
  };
}

const ENTRIES = {
  goodput: {
    label: 'goodput/s',
    name: 'goodput',
    superlative: 'Highest goodput',
    unit: 'per second',
    better: 'higher',
    from: ({ load }) => load.goodputPerSecond,
    dependsOn: ['pace'],
    column: { spread: true, showsOneMark: true },
  },
  p50: {
    label: 'p50',
    name: 'median latency',
    superlative: 'Lowest median latency',
    unit: 'µs',
    better: 'lower',
    from: ({ load }) => load.latencyUs?.p50,
    dependsOn: ['pace', 'latency'],
    column: { expendable: 3 },
  },
  p99: {
    label: 'p99',
    name: 'p99 latency',
    superlative: 'Lowest p99 latency',
    unit: 'µs',
    better: 'lower',
    from: ({ load }) => load.latencyUs?.p99,
    dependsOn: ['pace', 'latency', 'tail'],
    column: {},
  },
  cpu: {
    label: 'CPU µs/req',
    name: 'CPU per request',
    superlative: 'Least CPU per request',
    unit: 'µs per request',
    better: 'lower',
    from: ({ cpuUsPerRequest }) => cpuUsPerRequest,
    dependsOn: ['cpu'],
    column: { spread: true },
  },
  memory: {
    label: 'memory',
    name: 'memory',
    superlative: 'Least memory',
    unit: 'bytes',
    better: 'lower',
    from: ({ server }) => server?.peakBytes,
    dependsOn: ['memory'],
    column: { expendable: 5 },
  },
  startup: {
    label: 'start-up',
    name: 'start-up time',
    superlative: 'Fastest start',
    unit: 's',
    better: 'lower',
    from: ({ startupSeconds }) => startupSeconds,
    dependsOn: ['start'],
    column: { expendable: 1 },
  },
} satisfies Record<string, Entry>;

export type MetricId = keyof typeof ENTRIES;

/** A metric by which trials are compared. */
export interface Metric extends Entry {
  id: MetricId;
}

/** The ids of all metrics, in the order of their columns. */
export const METRIC_IDS = Object.keys(ENTRIES) as readonly MetricId[];

/** Every metric, by its id. */
export const METRICS = Object.fromEntries(
  METRIC_IDS.map((id): [string, Metric] => [id, { ...ENTRIES[id], id }]),
) as Record<MetricId, Metric>;

/** Returns the metrics that depend on one of these sides, in the order of the table. */
export function metricsOf(...sides: readonly Side[]): MetricId[] {
  return METRIC_IDS.filter((id) => METRICS[id].dependsOn.some((side) => sides.includes(side)));
}
