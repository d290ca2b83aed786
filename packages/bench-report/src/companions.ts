/** The parts of companions in words. To print words for a new companion instead of JSON, add a row to a table here. */
import { joinWords } from 'bench-targets/catalogue/projects/words';
import type { CompanionHeads, CompanionName, CompanionRecords, InsertAccount } from 'bench-model/companions';
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

/** Describes what ran as this companion; undefined if a report says so elsewhere. */
export function describeHead(name: string, head: unknown): string | undefined {
  return (HEADS[name as CompanionName] ?? JSON.stringify)(head);
}

/** Describes what was measured of this companion. */
export function describeUse(name: string, use: unknown): string | undefined {
  return (USES[name as CompanionName] ?? JSON.stringify)(use);
}

function describeCores(resources: { coresUsed: number } | undefined): string | undefined {
  return resources && `${resources.coresUsed.toFixed(2)} cores`;
}

function describeInserts({ acknowledged, stored, unanswered }: InsertAccount): string {
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
