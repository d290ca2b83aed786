/** The requests of a user one by one: how they ended, and how long their correct responses took. */
import { seenOf } from 'bench-model/trial';
import { METRICS } from 'bench-model/metrics';
import type { Counts } from 'bench-model/figures';
import { present } from 'bench-model/options';
import { medianOf, sumByKey } from 'bench-statistics/numbers';
import { redactUrl } from 'bench-machine/redact';
import type { Trial } from 'bench-model/record';
import { figureOf } from './metrics.ts';

/** One request over the trials of a target at a rung. */
export interface Route {
  /** `GET /orders`. */
  request: string;
  /** The sums over the windows. */
  counts: Counts;
  /** Medians over the trials in which the percentile of all requests is valid, in µs; absent if there is none. */
  p50?: number;
  p99?: number;
}

/** Summarises the requests of trials that sent the same ones; empty if they sent only one. */
export function summariseRoutes(trials: readonly Trial[]): Route[] {
  const told = trials.flatMap((trial) => {
    const { routes } = seenOf(trial)?.load ?? {};
    return routes === undefined ? [] : [{ trial, routes }];
  });
  const [first] = told;
  return (first?.routes ?? []).map((_, index): Route => {
    const own = told.flatMap(({ trial, routes }) => {
      const route = routes[index];
      return route === undefined ? [] : [{ trial, route }];
    });
    const middle = (id: 'p50' | 'p99'): number | undefined =>
      medianOf(
        own.map(({ trial, route }) =>
          figureOf(trial, METRICS[id])?.valid ? route.latencyUs?.[id] : undefined,
        ),
      );
    const { method, path } = first?.trial.requests?.requests[index] ?? {
      method: 'request',
      path: String(index + 1),
    };
    return {
      request: redactUrl(`${method} ${path}`),
      counts: sumByKey(own.map(({ route }) => route.counts)),
      ...present({ p50: middle('p50'), p99: middle('p99') }),
    };
  });
}
