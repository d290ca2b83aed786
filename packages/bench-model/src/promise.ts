/** Promises on latency and errors (--slo): how they are written and read, and what keeps them. */
import { UsageError } from './errors.ts';
import { describeTime, UNITS } from './units.ts';

/** The share of requests above the limit that each promise on a latency allows. */
const ALLOWED = { p50: 0.5, p90: 0.1, p99: 0.01, 'p99.9': 0.001 } as const;

/** The words that begin a promise. */
export const PROMISED = [...(Object.keys(ALLOWED) as (keyof typeof ALLOWED)[]), 'max', 'errors'] as const;

/** A promise: a percentile of the latency, or the share of failed requests, below a limit. */
export interface Promised {
  of: (typeof PROMISED)[number];
  /** Absent for errors. */
  belowUs?: number;
  /** Absent for a latency. */
  belowShare?: number;
}

/** Reads promises such as `p99<50ms,errors<0.1%`. Throws a usage error for any other text. */
export function readPromises(typed: string, name: string): Promised[] {
  const promises = typed.split(',').map((text) => readPromise(text.trim()) ?? refuse(name, text.trim()));
  const twice = promises.find(({ of }, index) => promises.findIndex((one) => one.of === of) !== index);
  if (twice === undefined) return promises;
  throw new UsageError(`--${name} ${typed}: ${twice.of} has two limits`, 'omit one of them');
}

function readPromise(text: string): Promised | undefined {
  const [, word, figure, unit = ''] = /^([\w.]+)\s*<\s*(\d+(?:\.\d+)?)\s*(%|[µ\w]+)?$/.exec(text) ?? [];
  const of = PROMISED.find((one) => one === word);
  const value = Number(figure);
  if (of === undefined || !(value > 0)) return undefined;
  if (of === 'errors') return unit === '%' && value < 100 ? { of, belowShare: value / 100 } : undefined;
  const factor = UNITS.µs.written[unit];
  return factor === undefined ? undefined : { of, belowUs: value * factor };
}

function refuse(name: string, text: string): never {
  throw new UsageError(
    `--${name} ${text === '' ? '""' : text}: expected ${PROMISED.join(', ')}, a < and a limit with its unit`,
    `e.g. --${name} 'p99<50ms' or --${name} 'p99.9<200ms,errors<0.1%'`,
  );
}

/** `p99 < 50 ms`, `errors < 0.1 %`. */
export function describePromises(promises: readonly Promised[]): string {
  return promises.map(describePromise).join(', ');
}

function describePromise({ of, belowUs = 0, belowShare }: Promised): string {
  if (belowShare !== undefined) return `${of} < ${Number((belowShare * 100).toPrecision(4))} %`;
  return `${of} < ${describeTime(belowUs, 4)}`;
}

/**
 * Returns the share of requests that may break a promise at the capacity, of `answers` requests in a step. A maximum is kept
 * if half of the steps have no request above it (Poisson: an expectation of ln 2).
 */
export function allowedShare({ of, belowShare }: Promised, answers: number): number {
  if (belowShare !== undefined) return belowShare;
  return of === 'max' ? Math.LN2 / Math.max(1, answers) : ALLOWED[of as keyof typeof ALLOWED];
}
