/** The upstream's part of a record. */
import { Type, type Static } from 'typebox';
import { amount, count, shape, text } from '../../definitions.ts';
import { companionHost, resources } from '../../model.ts';

const use = shape(
  {
    requests: count('count: of the server, from the first connect to the end of the drain'),
    fetchUs: amount('µs: for one fixture without load, the longer of before and after'),
    resources: Type.Optional(resources),
  },
  { description: "The upstream's share of the trial." },
);

/** The upstream's share of a trial. */
export type UpstreamUse = Static<typeof use>;

export const upstreamRecord = {
  canBeLimit: true as const,
  head: shape(
    { kind: text(), version: text(), host: Type.Optional(companionHost) },
    { description: 'The server of the fixtures.' },
  ),
  use,
};
