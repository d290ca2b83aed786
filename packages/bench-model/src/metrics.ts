/** The metrics of trials. To add a metric, add an entry here: ids, schema, columns and reasons derive from it. */
import type { LoadResult } from './load.ts';
import type { Measured } from './measured.ts';
import type { Unit } from './units.ts';

/**
 * A side of a trial that a metric depends on. A reason names the sides that it affects, and so invalidates every metric
 * that depends on one of them.
 * - `pace`: the speed of requests and answers
 * - `latency`: the pairing of answers with requests
 * - `tail`: the slowest one per cent
 * - `cpu`, `memory`: the resources of the server under load
 * - `start`: the server before its first request
 * - `capacity`: the load at which promises break
 */
export type Side = 'pace' | 'latency' | 'tail' | 'cpu' | 'memory' | 'start' | 'capacity';

/** The declaration of a metric. */
interface Entry {
  /** The heading of its column. */
  label: string;
  /** Its name in a sentence. */
  name: string;
  unit: Unit;
  better: 'higher' | 'lower';
  /** Reads the figure from a trial; undefined if the trial did not measure it. */
  from: (measured: Measured) => number | undefined;
  /** The middle of its rounds: by default their median, which overlooks what happens in fewer than half of them. */
  middle?: 'hodges-lehmann';
  /** Returns true if that figure is a lower bound, whatever the reasons against the trial say. */
  isLowerBound?: (measured: Measured) => boolean;
  dependsOn: readonly Side[];
  column: {
    /** Shows half the range over the rounds after the figure. */
    spread?: true;
    /** Omits the mark for invalid figures from lower bounds: the same reason causes both. */
    showsOneMark?: true;
    /** A narrow page omits the columns with the lowest numbers first; one without a number always stays. */
    expendable?: number;
  };
}

/** The latencies that metrics read. */
type LatencyName = 'p50' | 'p99' | 'p99_9' | 'max';

/** The largest uncertainty of this latency in µs: beyond it, the generator read the responses too late. */
export function readUncertaintyUs(most: number): number {
  return Math.max(1000, 0.1 * most);
}

/** The largest part of this latency in µs that may come from requests that the generator sent too late. */
export function startUncertaintyUs(most: number): number {
  return 0.1 * most;
}

/**
 * Returns the lower bound of one of the slowest latencies that the generator may have made by more than is allowed; undefined
 * otherwise. A few late reads or starts are no reason against the trial. For the other latencies, a reason says so.
 */
function boundOf(load: LoadResult, name: LatencyName): number | undefined {
  const most = load.latencyUs?.[name];
  if (most === undefined || name === 'p50' || name === 'p99') return undefined;
  const bounds = [
    [load.latencyAtLeastUs?.[name], readUncertaintyUs(most)],
    [load.schedule?.sinceSentUs?.[name], startUncertaintyUs(most)],
  ] as const;
  const lower = bounds.flatMap(([least = most, allowed]) => (most - least > allowed ? [least] : []));
  return lower.length === 0 ? undefined : Math.min(...lower);
}

function latency(name: LatencyName): Pick<Entry, 'from' | 'isLowerBound'> {
  return {
    from: ({ load }) => boundOf(load, name) ?? load.latencyUs?.[name],
    isLowerBound: ({ load }) =>
      load.latencyUs?.atLeast?.includes(name) === true || boundOf(load, name) !== undefined,
  };
}

/** CPU of the database and the services of a server for each correct response. The upstream is none of them: it plays a service of others. */
function costOfServices({ cpuUsPerRequest, server, companions }: Measured): number | undefined {
  const own = [companions?.database?.resources, companions?.services?.resources].flatMap((one) => one ?? []);
  if (cpuUsPerRequest === undefined || server === undefined || own.length === 0) return undefined;
  const [ours = 0, ...others] = [server, ...own].map(
    (one) => (one.cpuUserUs + one.cpuSystemUs) / one.seconds,
  );
  return ours > 0 ? (cpuUsPerRequest / ours) * others.reduce((total, one) => total + one, 0) : undefined;
}

const ENTRIES = {
  capacity: {
    label: 'capacity/s',
    name: 'capacity',
    unit: 'per second',
    better: 'higher',
    from: ({ capacity }) => capacity?.perSecond,
    middle: 'hodges-lehmann',
    isLowerBound: ({ capacity }) => capacity?.bound === 'at least',
    dependsOn: ['capacity'],
    column: { spread: true },
  },
  goodput: {
    label: 'goodput/s',
    name: 'goodput',
    unit: 'per second',
    better: 'higher',
    from: ({ load }) => load.goodputPerSecond,
    dependsOn: ['pace'],
    column: { spread: true, showsOneMark: true },
  },
  p50: {
    label: 'p50',
    name: 'median latency',
    unit: 'µs',
    better: 'lower',
    ...latency('p50'),
    dependsOn: ['pace', 'latency'],
    column: { expendable: 3 },
  },
  p99: {
    label: 'p99',
    name: 'p99 latency',
    unit: 'µs',
    better: 'lower',
    ...latency('p99'),
    dependsOn: ['pace', 'latency', 'tail'],
    // Before a name is cut.
    column: { expendable: 7 },
  },
  'p99.9': {
    label: 'p99.9',
    name: 'p99.9 latency',
    unit: 'µs',
    better: 'lower',
    ...latency('p99_9'),
    dependsOn: ['pace', 'latency', 'tail'],
    column: { expendable: 0 },
  },
  max: {
    label: 'max',
    name: 'maximum latency',
    unit: 'µs',
    better: 'lower',
    ...latency('max'),
    dependsOn: ['pace', 'latency', 'tail'],
    column: { expendable: 3.5 },
  },
  cpu: {
    label: 'CPU µs/req',
    name: 'CPU per request',
    unit: 'µs per request',
    better: 'lower',
    from: ({ cpuUsPerRequest }) => cpuUsPerRequest,
    dependsOn: ['cpu'],
    column: { spread: true },
  },
  services: {
    label: 'services µs/req',
    name: 'CPU per request of database and services',
    unit: 'µs per request',
    better: 'lower',
    from: costOfServices,
    dependsOn: ['cpu'],
    column: {},
  },
  memory: {
    label: 'memory',
    name: 'memory',
    unit: 'bytes',
    better: 'lower',
    from: ({ server }) => server?.peakBytes,
    dependsOn: ['memory'],
    column: { expendable: 5 },
  },
  startup: {
    label: 'start-up',
    name: 'start-up time',
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
