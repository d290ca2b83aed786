/**
 * The part of each companion in a record: `head` says what it was, `use` what it did in the trial. `canBeLimit` marks those
 * that can be saturated: a report then names them as the limit. A new companion is one more entry in `COMPANION_PARTS`.
 */
import { Type, type Static, type TObject, type TOptional } from 'typebox';
import { amount, command, count, mapOf, oneOf, shape, span, text } from './definitions.ts';
import { latency, resources } from './figures.ts';
import { backgroundRequest } from './settings.ts';
import { DATABASE_NAMES } from './manifest.ts';

const upstreamUse = shape("The upstream's share of the trial.", {
  requests: count('count: of the server, from the first connect to the end of the drain'),
  fetchUs: amount('µs: for one fixture without load, the longer of before and after'),
  resources: Type.Optional(resources),
});

export type UpstreamUse = Static<typeof upstreamUse>;

const upstream = {
  canBeLimit: true as const,
  head: shape('The server of the fixtures.', { kind: text(), version: text() }),
  use: upstreamUse,
};

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

const database = {
  canBeLimit: true as const,
  head: shape('The database that the server asked.', {
    kind: oneOf(['embedded', 'external'] as const),
    version: text(),
    maxConnections: count('count: connections that it accepts, its own setting'),
  }),
  use: databaseUse,
};

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

const services = { head: declared, use: servicesUse, canBeLimit: true as const };

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

const background = { head: backgroundRequest, use: backgroundUse };

/** The parts of all companions, in the order in which these begin. */
export const COMPANION_PARTS = { upstream, database, services, background };

type Parts = typeof COMPANION_PARTS;

/** The name of a possible companion of a server during a trial. */
export type CompanionName = keyof Parts;

/** The definition of a companion's part of a record. */
export type PartOf<Name extends CompanionName, Part extends 'head' | 'use'> = Parts[Name][Part];

/** The part of each companion in a record's head. */
export type CompanionHeads = { [Name in CompanionName]: Static<PartOf<Name, 'head'>> };

/** The part of each companion in the measurements. */
export type CompanionRecords = { [Name in CompanionName]: Static<PartOf<Name, 'use'>> };

/** The name of a companion that can be saturated. */
export type CompanionLimit = {
  [Name in CompanionName]: Parts[Name] extends { canBeLimit: true } ? Name : never;
}[CompanionName];

const COMPANION_NAMES = Object.keys(COMPANION_PARTS) as CompanionName[];

/** The companions that can be saturated. */
export const COMPANION_LIMITS = COMPANION_NAMES.filter(
  (name): name is CompanionLimit => 'canBeLimit' in COMPANION_PARTS[name],
);

/** Returns a definition with one optional field for each companion. */
export function forEachCompanion<Fields extends Record<CompanionName, unknown>>(
  make: (name: CompanionName) => object,
  description: string,
): TObject<{ [Name in CompanionName]: TOptional<Extract<Fields[Name], object>> }> {
  const fields = Object.fromEntries(COMPANION_NAMES.map((name) => [name, Type.Optional(make(name))]));
  return shape(description, fields, { minProperties: 1 }) as never;
}

export const companionHeads = forEachCompanion<{ [Name in CompanionName]: PartOf<Name, 'head'> }>(
  (name) => COMPANION_PARTS[name].head,
  'The companions of the server, by name.',
);
