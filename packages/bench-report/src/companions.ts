/** The parts of companions in words. To print words for a new companion instead of JSON, add a row to a table here. */
import { joinWords } from 'bench-targets/catalogue/projects/words';
import type { CompanionHeads, CompanionName, CompanionRecords } from 'bench-model/companions';
import { formatUs, formatWhole } from './format.ts';
import { listGiven } from './words.ts';

type Words<Parts> = { readonly [Name in keyof Parts]?: (part: Parts[Name]) => string | undefined };

/** The heads of a record; undefined for one that has a separate line. */
const HEADS: Words<CompanionHeads> = {
  upstream: ({ kind, version }) => `${kind} ${version}`,
  database: ({ version, kind, maxConnections }) =>
    `PostgreSQL ${version}, ${kind}, max_connections ${maxConnections}`,
  services: describeServices,
  background: () => undefined,
};

/** The measurements of a record. */
const USES: Words<CompanionRecords> = {
  upstream: ({ requests, fetchUs, resources }) =>
    listGiven([
      `${formatWhole(requests)} requests`,
      describeCores(resources),
      `${formatUs(fetchUs)} per fixture without load`,
    ]).join(', '),
  database: ({ inserts, resources }) =>
    listGiven([describeCores(resources), inserts && describeInserts(inserts)]).join(', '),
};

/** Describes what ran as a companion; undefined if a report says so elsewhere. */
export function describeHead<Name extends CompanionName>(
  name: Name,
  head: CompanionHeads[Name],
): string | undefined {
  return (HEADS[name] ?? JSON.stringify)(head);
}

/** Describes what was measured of a companion. */
export function describeUse<Name extends CompanionName>(
  name: Name,
  use: CompanionRecords[Name],
): string | undefined {
  return (USES[name] ?? JSON.stringify)(use);
}

function describeCores(resources: { coresUsed: number } | undefined): string | undefined {
  return resources && `${resources.coresUsed.toFixed(2)} cores`;
}

type Inserts = NonNullable<CompanionRecords['database']['inserts']>;

function describeInserts({ acknowledged, stored, unanswered }: Inserts): string {
  const open = unanswered === 0 ? '' : `, ${formatWhole(unanswered)} without a response`;
  return `${formatWhole(acknowledged)} inserts acknowledged${open}, ${formatWhole(stored)} stored`;
}

/** The services of the manifest and how long each lives, and the setup. */
function describeServices({ services, setup }: CompanionHeads['services']): string {
  const told = services.map(({ name, kind, per, version = '' }) =>
    kind === 'postgres'
      ? `${name}: PostgreSQL ${version}, a new database per trial`
      : `${name}: ${per === 'run' ? 'one for the run' : 'a new one per trial'}`,
  );
  return listGiven([...told, setup && `setup before each trial: ${joinWords(setup)}`]).join('; ');
}
