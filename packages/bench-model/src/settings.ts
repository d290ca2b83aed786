/** The settings of a plan that its records repeat: their definitions, and the types derived from them. */
import { Type, type Static } from 'typebox';
import {
  count,
  flag,
  list,
  mapOf,
  named,
  namedShape,
  oneOf,
  ordinal,
  shape,
  span,
  text,
} from './definitions.ts';
import { PROMISED, type Promised } from './promise.ts';

export const params = named(
  'params',
  mapOf(count('count: the workload says what it counts'), 'All parameters of the workload, by name.'),
);

export const backgroundRequest = namedShape(
  'backgroundRequest',
  'A request that is kept in flight beside the load, to the same server.',
  { method: text(), path: Type.String({ pattern: '^/' }), body: Type.Optional(Type.String()) },
);

export type BackgroundRequest = Static<typeof backgroundRequest>;

const connecting = {
  newConnections: flag('Every request opens a new connection (--new-connections).'),
};

export const promise = named(
  'promise',
  Type.Unsafe<Promised>(
    shape(
      'A service level objective (SLO): a percentile of the latency, or the share of failed requests, below a limit.',
      {
        of: oneOf(PROMISED),
        belowUs: Type.Optional(span('µs: the latency stays below it; absent for errors')),
        belowShare: Type.Optional(span('share: of the requests that fail; absent for a latency')),
      },
    ),
  ),
);

const curved = {
  curve: Type.Optional(
    named(
      'loads',
      list(
        'Loads that are measured after the window (several of --rate).',
        Type.Union([
          shape({ perSecond: span('per second: requests that are due') }),
          shape({ share: span('share: of the capacity that the search found') }),
        ]),
        { minItems: 1 },
      ),
    ),
  ),
};

export const loadMode = named(
  'loadMode',
  Type.Union(
    [
      shape({ mode: Type.Literal('closed'), ...connecting }),
      shape({
        mode: Type.Literal('open'),
        perSecond: ordinal('per second: starts over all generators'),
        ...curved,
        ...connecting,
      }),
      shape({
        mode: Type.Literal('amount'),
        requests: ordinal('count: requests over all generators, instead of a window'),
        ...connecting,
      }),
      shape({
        mode: Type.Literal('promise'),
        promises: Type.Array(promise, { minItems: 1 }),
        ...curved,
        ...connecting,
      }),
    ],
    {
      description: 'The load mode: closed, at a rate, an amount, or the highest rate that meets SLOs.',
    },
  ),
);

/** The load mode of an engine: each connection sends on its response, at a rate whatever the server does, an exact number of requests, or a search of the highest rate that keeps promises. */
export type LoadMode = Static<typeof loadMode>;

/** A load of a curve: a rate, or a share of the capacity. */
export type CurveLoad = NonNullable<Extract<LoadMode, { mode: 'open' }>['curve']>[number];
