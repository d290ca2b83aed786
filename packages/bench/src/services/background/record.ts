/** The background request's part of a record. */
import { Type, type Static } from 'typebox';
import { count, mapOf, shape, span } from '../../definitions.ts';
import { backgroundRequest, latency } from '../../model.ts';

const use = shape(
  {
    seconds: span('s: warm-up and window'),
    sent: count('count: requests that were begun'),
    statusCodes: mapOf(count('count: answers'), 'Answers by their status.'),
    lost: count('count: requests without a whole answer'),
    cancelled: count(
      'count: unfinished at the end of the window, 1 or 0; the server may have gone on with it',
    ),
    durationUs: Type.Optional(latency),
  },
  {
    description:
      "The outcome of the request that was kept in flight, from the start of the warm-up to the end of the window. The load's counts do not include it. `sent` is the sum of the answered, lost and cancelled requests.",
  },
);

/** The outcome of the request that was kept in flight; the load's counts do not include it. */
export type BackgroundUse = Static<typeof use>;

export const backgroundRecord = { head: backgroundRequest, use };
