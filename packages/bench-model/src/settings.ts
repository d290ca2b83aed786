/** The settings of a plan that its records repeat: their definitions, and the types derived from them. */
import { Type, type Static } from 'typebox';
import { count, flag, mapOf, named, oneOf, ordinal, shape, text } from './definitions.ts';
import { UPSTREAMS } from './upstreams.ts';

/** A program that can be the upstream of a workload. */
export type UpstreamKind = (typeof UPSTREAMS)[number];

export const upstreamKind = oneOf(UPSTREAMS, 'The upstream that was asked for.');

export const params = named(
  'params',
  mapOf(
    count('count: the workload says what it counts'),
    'Parameters of the workload by name, all of them; absent if it has none.',
  ),
);

export const backgroundRequest = named(
  'backgroundRequest',
  shape(
    { method: text(), path: Type.String({ pattern: '^/' }) },
    { description: 'A request that is kept in flight beside the load, to the same server.' },
  ),
);

/** A request that is kept in flight beside the load, to the same server. */
export type BackgroundRequest = Static<typeof backgroundRequest>;

const connecting = {
  newConnections: flag('Every request opens a new connection (--new-connections).'),
};

export const loadMode = named(
  'loadMode',
  Type.Union(
    [
      shape({ mode: Type.Literal('closed'), ...connecting }),
      shape({
        mode: Type.Literal('open'),
        perSecond: ordinal('per second: starts over all generators'),
        ...connecting,
      }),
      shape({
        mode: Type.Literal('amount'),
        requests: ordinal('count: requests over all generators, instead of a window'),
        ...connecting,
      }),
    ],
    {
      description:
        'The load mode of the engine: each connection waits for its answer, at a rate, or an exact number of requests.',
    },
  ),
);

/** The load mode of an engine: each connection sends on its answer, at a rate whatever the server does, or an exact number of requests. */
export type LoadMode = Static<typeof loadMode>;
