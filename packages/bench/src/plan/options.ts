/** The options that a plan is made of, as typed values: whoever wants a plan fills them in. */
import { DEFAULT_CONNECT_RATE, type EngineName } from '../catalogue/engines.ts';
import type { Matrix } from '../catalogue/stacks.ts';
import type { MetricId } from '../metrics.ts';
import type { BackgroundRequest, LoadMode, UpstreamKind } from '../model.ts';

/** The difference that matters, as a share. */
export const DEFAULT_THRESHOLD = 0.02;

/** When a sequential test may stop; fixed before its first round. */
export interface Sitting {
  /** The name of a schedule of looks. */
  looks: string;
  by: MetricId;
  /** The difference that matters, as a share. */
  threshold: number;
  /** After so long it stops undecided, in seconds. */
  budgetSeconds?: number;
}

/** The options of a plan; absent fields take the workload's defaults. */
export interface BenchOptions {
  targets: string[];
  all: boolean;
  stacks: string[];
  matrix: Matrix;
  workload: string;
  /** Parameters of the workload, by name. */
  params?: Record<string, number>;
  /** Nginx if it is on PATH, else the embedded server. */
  upstream?: UpstreamKind;
  connections?: number[];
  rounds?: number;
  windowSeconds?: number;
  warmupSeconds?: number;
  timeoutSeconds?: number;
  /** Every target is measured once more with this request in flight beside the load. */
  background?: BackgroundRequest;
  load: LoadMode;
  /** Two servers at once or one after the other; the plan decides if absent. */
  duel?: boolean;
  /** CPU can be read finely enough for a duel here: it is then the usual way to decide between two. */
  mayDuel: boolean;
  /** The first target once more, as a noise floor. */
  aa: boolean;
  sitting?: Sitting;
  workers: number;
  /** Threads of each worker; the stack decides if absent. */
  threads?: number;
  /** Cores of each server; as many as workers if absent. */
  cores?: number;
  generators: number;
  /** The engine that sends the load; autocannon if absent. */
  engine?: EngineName;
  /** A second engine for every target, to check the first by; `any`: the first that is on PATH. */
  crossCheck?: EngineName | 'any';
  connectsPerSecond: number;
  seed?: number;
  quick: boolean;
  proveLimit: boolean;
  /** Python targets take the newest version with a wheel if the locked version has none for their interpreter. */
  resolve: boolean;
  url?: UrlOptions;
}

/** A server that is already running, and the request to send to it. */
export interface UrlOptions {
  url: URL;
  method: string;
  headers: Record<string, string>;
  /** The text itself, or `@file`. */
  body?: string;
  expect?: string;
  pid?: number;
}

/** Every option at its default, with the given ones put in. */
export function benchOptions(given: Partial<BenchOptions> = {}): BenchOptions {
  return {
    targets: [],
    all: false,
    stacks: [],
    matrix: { python: [], node: [], packages: [] },
    workload: 'devices',
    load: { mode: 'closed' },
    mayDuel: false,
    aa: false,
    workers: 1,
    generators: 1,
    connectsPerSecond: DEFAULT_CONNECT_RATE,
    quick: false,
    proveLimit: false,
    resolve: false,
    ...given,
  };
}

/** The fields that are not undefined, as `exactOptionalPropertyTypes` requires. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
