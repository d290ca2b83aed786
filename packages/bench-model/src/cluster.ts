/** `bench.cluster.json`, the hosts that take part in a run: its definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import { fraction, list, mapOf, optional, ordinal, shape, span, text, when } from './definitions.ts';

const ROLES = 'The names of the resources that say which host does what.';

const fields = {
  address: text('The head of the Ray cluster: host:port.', { pattern: '^[^\\s:/]+:\\d{1,5}$' }),
  roles: shape(ROLES, {
    server: text("The Ray resource of the host that the servers run on. By default 'server'."),
    generator: text("The Ray resource of the hosts that send the load. By default 'generator'."),
  }),
  generators: ordinal('count: hosts that send the load'),
  processes: ordinal('count: generator processes on each of them; 1 by default'),
  leadMs: span('ms: from the choice of the start until the start; 500 by default'),
  skewMs: span('ms: the most by which a window may open off the plan; 100 by default'),
  deadlineSeconds: span('s: the longest wait for a response that is due; 10 by default'),
  connectSeconds: span('s: the longest wait until all connections are established; 30 by default'),
  server: text('The address that the servers listen on; by default that of their host in the cluster.'),
  checkout: text('The folder of this repository on the other hosts; by default the same as here.'),
  addresses: mapOf(
    Type.Array(text(), { minItems: 1, uniqueItems: true }),
    'The source addresses of each host, by its name.',
  ),
};

const spreading = {
  hosts: ordinal('count: hosts with the role of a server, each of which runs whole rounds'),
  threshold: fraction('share: a host that differs by more from the others is left out; 0.05 by default'),
};

const { address, generators, roles, deadlineSeconds, server, checkout, addresses, ...pace } = fields;
const given = {
  $schema: Type.Optional(Type.String()),
  address,
  connections: Type.Optional(
    list('The numbers of connections, unless --connections names others.', ordinal('count: connections'), {
      minItems: 1,
      uniqueItems: true,
    }),
  ),
  ...optional({ deadlineSeconds, checkout }),
};

const loadingFile = shape({
  ...given,
  generators,
  roles: Type.Optional(shape(ROLES, optional(roles.properties))),
  ...optional({ ...pace, server, addresses }),
});

const spreadingFile = shape({
  ...given,
  spread: shape('Spreads the rounds over identical hosts. Excludes `generators`.', {
    hosts: spreading.hosts,
    threshold: Type.Optional(spreading.threshold),
  }),
  roles: Type.Optional(shape(ROLES, { server: Type.Optional(roles.properties.server) })),
});

/** The file as a user writes it: hosts that send the load, or hosts that the rounds are spread over. */
export const clusterFile = Type.Unsafe<Static<typeof loadingFile> | Static<typeof spreadingFile>>({
  type: 'object',
  ...when({ required: ['spread'] }, spreadingFile, loadingFile),
});

export type ClusterFile = Static<typeof clusterFile>;

/** The part of a plan: complete, without what the command line overrides. */
export const cluster = shape('The hosts that send the load; absent if this machine sends it.', {
  address,
  roles,
  generators,
  deadlineSeconds,
  ...pace,
  ...optional({ server, checkout, addresses }),
});

export type Cluster = Static<typeof cluster>;

/** The part of a plan whose rounds run on several hosts. */
export const spread = shape('The identical hosts that run the rounds, each round on one host.', {
  address,
  role: text('The Ray resource of those hosts.'),
  ...spreading,
  deadlineSeconds,
  checkout: Type.Optional(checkout),
});

export type Spread = Static<typeof spread>;
