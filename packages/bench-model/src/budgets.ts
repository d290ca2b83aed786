/** The budgets of `bench.config.json`, as users write them: their definition, and the type derived from it. */
import { Type, type Static } from 'typebox';
import { oneOf, ordinal, shape, text } from './definitions.ts';
import { METRIC_IDS } from './metrics.ts';

export const writtenBudget = shape({
  metric: oneOf(METRIC_IDS),
  rate: Type.Optional(ordinal('Requests per second of an open loop.')),
  connections: Type.Optional(ordinal('The number of connections to which it applies; all by default.')),
  request: Type.Optional(
    text('The request to which it applies, e.g. GET /orders, of several measured alone; all by default.'),
  ),
  of: Type.Optional(
    text('The target or the revision to which it applies; all but the baselines by default.'),
  ),
  atMost: Type.Optional(text('The limit with its unit, e.g. 20ms; for latency, CPU, memory and start-up.')),
  atLeast: Type.Optional(text('The limit of goodput, e.g. 1000/s.')),
  against: Type.Optional(text('The baseline: a target, or a revision such as main.')),
  worseByAtMost: Type.Optional(text('The share by which it may be worse than the baseline, e.g. 3%.')),
});

/** A budget as it is written. */
export type WrittenBudget = Static<typeof writtenBudget>;
