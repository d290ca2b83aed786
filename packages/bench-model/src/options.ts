/** The options of a plan as typed values. Every caller that makes a plan fills them in. */
import type { Cluster, Spread } from './cluster.ts';
import type { EngineName } from './engines.ts';
import type { BackgroundRequest, LoadMode } from './settings.ts';
import type { Copy } from './target.ts';
import type { Draft } from './requests.ts';
import type { MetricId } from './metrics.ts';
import type { SequentialTest } from './plan.ts';

/** The default threshold: the smallest difference that matters, as a share. */
export const DEFAULT_THRESHOLD = 0.02;
/** The same for a capacity: each is known within about 5 %, and half a minute of search tells little. */
const CAPACITY_THRESHOLD = 0.05;

/** Returns the smallest difference in a metric that matters by default, as a share. */
export function thresholdFor(by: MetricId): number {
  return by === 'capacity' ? CAPACITY_THRESHOLD : DEFAULT_THRESHOLD;
}

/** The verdicts on a candidate, for any metric: `slower` is worse, `faster` is better. */
export const VERDICTS = ['faster', 'slower', 'same', 'undecided'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The longest time to the first correct response of a server, by default. */
export const START_SECONDS = 30;

/** The options of a plan; absent fields take the workload's defaults. */
export interface BenchOptions {
  targets: string[];
  stacks: string[];
  /** Server programs of the user, measured without a manifest. */
  apps?: AppOptions[];
  /** Copies of the project: every target is measured in each of them. */
  copies?: Copy[];
  matrix: Matrix;
  workload: string;
  /** Parameters of the workload by name. */
  params?: Record<string, number>;
  connections?: number[];
  rounds?: number;
  windowSeconds?: number;
  warmupSeconds?: number;
  timeoutSeconds?: number;
  /** Measures every target a second time, with this request in flight beside the load. */
  background?: BackgroundRequest;
  load: LoadMode;
  /** False for one server at a time, true for servers that take turns; if absent, the plan decides. */
  interleave?: boolean;
  /** Absent if this machine does not read CPU precisely enough for servers that take turns. */
  capacity?: Capacity;
  /** False if no known cost is planted into a run until decided. */
  control?: boolean;
  /** Measures the first target twice, as a noise floor. */
  noise: boolean;
  /** Without looks, the plan chooses them. */
  sequentialTest?: Omit<SequentialTest, 'looks'> & Partial<Pick<SequentialTest, 'looks'>>;
  /** True if newer runtimes or packages are compared with those of now. */
  isUpgrade?: true;
  /** Numbers of cores: measures every target with that many workers and threads, against one of each. */
  scale?: number[];
  /** The cores of this machine, which limit `scale`. */
  machineCores?: number;
  workers: number;
  /** Threads of each worker; if absent, the stack decides. */
  threads?: number;
  /** Cores of each server; if absent, as many as workers. */
  cores?: number;
  /** Load processes of a run that is not scaled; 1 by default. */
  generators?: number;
  /** The hosts that send the load; this machine if absent. */
  cluster?: Cluster;
  /** The identical hosts that the rounds are spread over; all run on this machine if absent. */
  spread?: Spread;
  /** The load engine; autocannon by default. */
  engine?: EngineName;
  seed?: number;
  quick: boolean;
  /** Servers that are already running, instead of targets that Bench starts. */
  servers?: ServerOptions[];
  /** The requests to send, instead of those of a workload of Bench. */
  userRequests?: UserRequestOptions;
}

/** An app as a user describes it. */
export interface AppOptions {
  /** The folder of the project. */
  folder: string;
  /** The command line that starts the server. `{port}` and `{host}` are replaced, and PORT and HOST are set too. */
  run: string;
  /** The name of its target; by default that of the folder. */
  name?: string;
}

/** The alternatives that every target of their kind is measured with. */
export interface Matrix {
  python: string[];
  node: string[];
  /** Each package adds one alternative of every target in its language. */
  packages: string[];
  /** Measures each target without these packages too, as it is locked. */
  asLocked?: boolean;
}

/** The requests that are written as options. */
export interface UserRequestOptions {
  requests: { method: string; path: string }[];
  /** Headers of every request. */
  headers: Record<string, string>;
  /** The body of every request that has one by its method: the text itself, or `@file`. */
  body?: string;
  rows?: string;
  /** The requests of a file, a manifest or an OpenAPI document, to which those above are added. */
  draft?: Draft;
}

/** The most that this machine holds at the same time. */
export interface Capacity {
  servers: number;
  connections: number;
}

/** A server that is already running. */
export interface ServerOptions {
  /** The name of its target; by default the request and the address. */
  name?: string;
  url: URL;
}

/** Completes the given options with the defaults of all others. */
export function benchOptions(given: Partial<BenchOptions> = {}): BenchOptions {
  return {
    targets: [],
    stacks: [],
    matrix: { python: [], node: [], packages: [] },
    workload: 'devices',
    load: { mode: 'closed' },
    noise: false,
    workers: 1,
    quick: false,
    ...given,
  };
}

/** Returns the fields that are not undefined. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
