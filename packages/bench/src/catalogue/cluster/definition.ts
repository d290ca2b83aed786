/** `bench.cluster.json`, the hosts that send the load: its definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import { mapOf, ordinal, shape, span, text } from '../../definitions.ts';

const fields = {
  address: Type.String({
    description: 'The head of the Ray cluster: host:port.',
    pattern: '^[^\\s:/]+:\\d{1,5}$',
  }),
  roles: shape(
    {
      server: text("The Ray resource of the host that the servers run on. By default 'server'."),
      generator: text("The Ray resource of the hosts that send the load. By default 'generator'."),
    },
    { description: 'The names of the resources that say which host does what.' },
  ),
  generators: ordinal('count: hosts that send the load'),
  processes: ordinal('count: generator processes on each of them; 1 by default'),
  leadMs: span('ms: from the choice of the start until the start; 500 by default'),
  skewMs: span('ms: the most by which a window may open off the plan; 100 by default'),
  deadlineSeconds: span('s: the longest wait for an answer that is due; 10 by default'),
  connectSeconds: span('s: the longest wait until all connections are established; 30 by default'),
  server: text('The address that the servers listen on; by default that of their host in the cluster.'),
  checkout: text('The folder of this repository on the other hosts; by default the same as here.'),
  addresses: mapOf(
    Type.Array(text(), { minItems: 1, uniqueItems: true }),
    "The source addresses of each host, by its name. By default the system's choice.",
  ),
};

const { address, generators, ...others } = fields;

/** The file as a user writes it. */
export const clusterFile = shape({
  $schema: Type.Optional(Type.String()),
  address,
  generators,
  connections: Type.Optional(
    Type.Array(ordinal('count: connections'), {
      description: 'The numbers of connections, unless --connections names others.',
      minItems: 1,
      uniqueItems: true,
    }),
  ),
  ...Type.Partial(Type.Object(others)).properties,
});

export type ClusterFile = Static<typeof clusterFile>;

const { server, checkout, addresses, ...needed } = fields;

/** The part of a plan: complete, without what the command line overrides. */
export const cluster = shape(
  {
    ...needed,
    ...Type.Partial(Type.Object({ server, checkout, addresses })).properties,
  },
  { description: 'The hosts that send the load; absent if this machine sends it.' },
);

/** The hosts that send the load of a plan. */
export type Cluster = Static<typeof cluster>;

export const CLUSTER_HEAD = {
  title: 'bench.cluster.json: the hosts that send the load',
  description: 'Read by --cluster. docs/cluster.md describes it.',
};
