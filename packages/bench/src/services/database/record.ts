/** The database's part of a record. */
import { Type, type Static } from 'typebox';
import { count, oneOf, shape, text } from '../../definitions.ts';
import { companionHost, resources } from '../../model.ts';

const insertAccount = shape(
  {
    acknowledged: count('count: answered with a status from 200 to 299'),
    stored: count('count: rows in the end'),
    unanswered: count('count: sent and never answered, each stored or not'),
  },
  {
    description:
      "The outcome of inserts, if requests insert: from the first of them to the server's end, including those of the harness.",
  },
);

/** The outcome of inserts. */
export type InsertAccount = Static<typeof insertAccount>;

const use = shape(
  { inserts: Type.Optional(insertAccount), resources: Type.Optional(resources) },
  { description: "The database's share of the trial." },
);

/** The database's share of a trial. */
export type DatabaseUse = Static<typeof use>;

export const databaseRecord = {
  canBeLimit: true as const,
  head: shape(
    {
      kind: oneOf(['embedded', 'external'] as const),
      version: text(),
      maxConnections: count('count: connections that it accepts, its own setting'),
      host: Type.Optional(companionHost),
    },
    { description: 'The database that the server asked: the embedded PostgreSQL, or an external one.' },
  ),
  use,
};
