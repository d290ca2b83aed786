/** A stored pool of sequential tests: `pool.json`, and one line of `pool.jsonl` for each entry. */
import { Type, type Static } from 'typebox';
import { amount, count, oneOf, ordinal, shape, text } from '../../definitions.ts';
import { POOL_SCHEMA } from '../../versions.ts';
import { host } from '../host.ts';

const twins = shape(
  {
    unitNs: amount('ns: CPU of one unit of work'),
    bareUs: amount('µs: CPU of a request without work'),
    units: shape(
      {
        base: count('units: work of the base'),
        0: count('units: work of the twin without a difference'),
        0.015: Type.Optional(
          count('units: work of the twin that uses 1.5 % more CPU; absent from pools of schema 1 and 2'),
        ),
        0.03: count('units: work of the twin that uses 3 % more CPU'),
        0.06: Type.Optional(
          count('units: work of the twin that uses 6 % more CPU; only in pools of schema 1 and 2'),
        ),
      },
      { description: 'The work in each request.' },
    ),
  },
  { description: 'The parameters of the twins, determined once per pool.' },
);

/** The parameters of the twins. */
export type Twins = Static<typeof twins>;

/** The facts that all entries of a pool share. */
export const poolFile = shape({
  schema: Type.Unsafe<number>({
    description: 'version: of this schema. A pool of an older version stays one when entries are added.',
    type: 'integer',
    minimum: 1,
    maximum: POOL_SCHEMA,
  }),
  host,
  twins,
});

/** `pool.json`. */
export type PoolFile = Static<typeof poolFile>;

export const POOL_HEAD = {
  title: "The machine and the twins of a pool of sequential tests: a pool's pool.json",
  description:
    'Written before the first entry and never changed. History: 1 (2026-11-21) first version; 2 (2026-11-22) a sequential test has its kind by that name, no longer sitting; 3 (2026-11-22) twins differ by 1.5 or 3 %, no longer by 6 %, and a test has its threshold.',
};

const difference = Type.Union([
  Type.Number({ description: 'ln: of the ratio candidate ÷ baseline of CPU per request' }),
  Type.Null({ description: 'A trial failed.' }),
]);

export const pooledTest = shape({
  kind: Type.Literal('sequential-test'),
  startedAt: text('ISO 8601.'),
  effect: amount('share: how much more CPU the candidate uses, as planted'),
  threshold: Type.Optional(
    amount(
      'share: the smallest difference that mattered; absent from pools of schema 1 and 2, where it was 0.02',
    ),
  ),
  copied: Type.Boolean({ description: 'True if the candidate is the same program in another folder.' }),
  seconds: amount('s: length of the test'),
  rounds: count('count: rounds of the test, failed ones included'),
  verdict: oneOf(['faster', 'slower', 'same', 'undecided'] as const),
  byMoreThanThreshold: Type.Boolean(),
  ratio: Type.Optional(amount('ratio: candidate ÷ baseline of CPU per request')),
  differences: Type.Array(difference, { description: 'One for each round.' }),
  stock: Type.Optional(
    shape(
      {
        baseline: amount('per second: average Req/Sec'),
        candidate: amount('per second: average Req/Sec'),
      },
      { description: 'The average that one run of stock autocannon printed for each.' },
    ),
  ),
});

/** One sequential test of twins, from its first round to its verdict. */
export type PooledTest = Static<typeof pooledTest>;

export const TEST_HEAD = {
  title: "One sequential test of twins: a line of a pool's pool.jsonl",
  description: 'Its version is that of pool.json. History: 1 (2026-11-21) first version.',
};

export const pooledNoise = shape({
  kind: Type.Literal('noise'),
  startedAt: text('ISO 8601.'),
  target: text(),
  method: oneOf(['separate', 'duel'] as const),
  connections: ordinal('count: connections'),
  windowSeconds: amount('s: length of a window'),
  difference,
});

/** One A/A round of a target, as separate trials or as a duel. */
export type PooledNoise = Static<typeof pooledNoise>;

export const NOISE_HEAD = {
  title: "One A/A round of a target: a line of a pool's pool.jsonl",
  description: 'Its version is that of pool.json. History: 1 (2026-11-21) first version.',
};

export type Pooled = PooledTest | PooledNoise;
