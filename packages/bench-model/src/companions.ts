/**
 * The parts of the companions in a record. A new companion is one more entry in `HEADS` and in `USES`, and in `COMPANION_LIMITS`
 * if it can be saturated: a report then names it as the limit.
 */
import { Type, type Static, type TProperties } from 'typebox';
import { amount, command, count, mapOf, oneOf, optional, shape, span, text } from './definitions.ts';
import { latency, resources } from './figures.ts';
import { backgroundRequest } from './settings.ts';
import { DATABASE_NAMES } from './manifest.ts';

const upstreamUse = shape("The upstream's share of the trial.", {
  requests: count('count: of the server, from the first connect to the end of the drain'),
  fetchUs: amount('µs: for one fixture without load, the longer of before and after'),
  resources: Type.Optional(resources),
});

export type UpstreamUse = Static<typeof upstreamUse>;

const insertAccount = shape("The outcome of all inserts, from the first of them to the server's end.", {
  acknowledged: count('count: answered with a status from 200 to 299'),
  stored: count('count: rows in the end'),
  unanswered: count('count: sent without a response, each stored or not'),
});

export type InsertAccount = Static<typeof insertAccount>;

const databaseUse = shape("The database's share of the trial.", {
  inserts: Type.Optional(insertAccount),
  resources: Type.Optional(resources),
});

export type DatabaseUse = Static<typeof databaseUse>;

const service = shape('A service of the manifest.', {
  name: text(),
  kind: oneOf(['program', ...DATABASE_NAMES] as const),
  per: oneOf(['trial', 'run'] as const, 'Its lifetime. A database lives as long as a trial.'),
  command: Type.Optional(command('As in the manifest.')),
  version: Type.Optional(text('The version of the database: `embedded 18.4`, `mariadb 10.11.19`.')),
});

const declared = shape('The services and the setup command of the server, by its manifest.', {
  services: Type.Array(service),
  setup: Type.Optional(command('The command that ran before the server started, as in the manifest.')),
});

export type DeclaredServices = Static<typeof declared>;

const servicesUse = shape('The share of the services in the trial; resources if there is one.', {
  startSeconds: span('s: until all services were ready'),
  resources: Type.Optional(resources),
});

export type ServicesUse = Static<typeof servicesUse>;

const backgroundUse = shape(
  'The outcome of the request that was kept in flight, which the load does not count.',
  {
    seconds: span('s: warm-up and window'),
    sent: count('count: requests that were begun'),
    statusCodes: mapOf(count('count: responses'), 'Responses by their status.'),
    lost: count('count: requests without a whole response'),
    cancelled: count('count: unfinished at the end of the window, 1 or 0'),
    durationUs: Type.Optional(latency),
  },
);

export type BackgroundUse = Static<typeof backgroundUse>;

/** What each companion was, in the order in which these begin. */
const HEADS = {
  upstream: shape('The server of the fixtures.', { kind: text(), version: text() }),
  database: shape('The database that the server asked.', {
    kind: oneOf(['embedded', 'external'] as const),
    version: text(),
    maxConnections: count('count: connections that it accepts, its own setting'),
  }),
  services: declared,
  background: backgroundRequest,
};

/** What each companion did in a trial. */
const USES = {
  upstream: upstreamUse,
  database: databaseUse,
  services: servicesUse,
  background: backgroundUse,
} satisfies Record<keyof typeof HEADS, unknown>;

/** The companions that can be saturated. */
export const COMPANION_LIMITS = ['upstream', 'database', 'services'] as const;

/** The name of a possible companion of a server during a trial. */
export type CompanionName = keyof typeof HEADS;

/** The name of a companion that can be saturated. */
export type CompanionLimit = (typeof COMPANION_LIMITS)[number];

const someCompanions = <Parts extends TProperties>(description: string, parts: Parts) =>
  shape(description, optional(parts), { minProperties: 1 });

export const companionHeads = someCompanions('The companions of the server, by name.', HEADS);
export const companionUses = someCompanions('The parts of the companions of the trial, by name.', USES);

/** The part of each companion in a record's head. */
export type CompanionHeads = Required<Static<typeof companionHeads>>;

/** The part of each companion in the measurements. */
export type CompanionRecords = Required<Static<typeof companionUses>>;

/** Returns a definition with the same optional field for each companion. */
export function forEachCompanion<Part extends TProperties[string]>(description: string, part: Part) {
  const parts = Object.fromEntries(Object.keys(HEADS).map((name) => [name, part]));
  return someCompanions(description, parts as Record<CompanionName, Part>);
}
