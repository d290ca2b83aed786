/** A stored pool of sequential tests: `pool.json`, and one line of `pool.jsonl` for each entry. */
import { VERDICTS } from './options.ts';
import { Type, type Static } from 'typebox';
import { amount, count, oneOf, shape, text } from './definitions.ts';
import { POOL_SCHEMA } from './versions.ts';
import { host } from './host.ts';

const twins = shape(
  {
    unitNs: amount('ns: CPU of one unit of work'),
    bareUs: amount('µs: CPU of a request without work'),
    units: shape({ base: count('units: work in each request of the base') }),
  },
  { description: 'The parameters of the twins, determined once per pool.' },
);

/** The parameters of the twins. */
export type Twins = Static<typeof twins>;

/** The facts that all entries of a pool share. */
export const poolFile = shape({
  schema: Type.Literal(POOL_SCHEMA, { description: 'version: of this schema' }),
  host,
  twins,
});

/** `pool.json`. */
export type PoolFile = Static<typeof poolFile>;

export const POOL_HEAD = {
  title: "The machine and the twins of a pool of sequential tests: a pool's pool.json",
  description: 'Written before the first entry and never changed.',
};

const difference = Type.Union([
  Type.Number({ description: 'ln: of the ratio candidate ÷ baseline of CPU per request' }),
  Type.Null({ description: 'A trial failed.' }),
]);

export const pooledTest = shape({
  kind: Type.Literal('sequential-test'),
  startedAt: text('ISO 8601.'),
  effect: amount('share: how much more CPU the candidate uses, as planted'),
  threshold: amount('share: the smallest difference that mattered'),
  copied: Type.Boolean({ description: 'True if the candidate is the same program in another folder.' }),
  seconds: amount('s: length of the test'),
  rounds: count('count: rounds of the test, failed ones included'),
  verdict: oneOf(VERDICTS),
  byMoreThanThreshold: Type.Boolean(),
  ratio: Type.Optional(amount('ratio: candidate ÷ baseline of CPU per request')),
  differences: Type.Array(difference, { description: 'One for each round.' }),
});

/** One sequential test of twins, from its first round to its verdict. */
export type PooledTest = Static<typeof pooledTest>;

export const TEST_HEAD = {
  title: "One sequential test of twins: a line of a pool's pool.jsonl",
  description: 'Its version is that of pool.json.',
};

const matrixRow = shape({
  effect: amount('share: how much more CPU the candidate uses, as planted'),
  rounds: count('count: rounds of this row, failed ones included'),
  verdict: oneOf(VERDICTS),
  byMoreThanThreshold: Type.Boolean(),
  ratio: Type.Optional(amount('ratio: candidate ÷ baseline of CPU per request')),
  differences: Type.Array(difference, { description: 'One for each round.' }),
});

/** One row of a matrix: a twin against the baseline of all. */
export type PooledRow = Static<typeof matrixRow>;

export const pooledMatrix = shape({
  kind: Type.Literal('matrix'),
  startedAt: text('ISO 8601.'),
  threshold: amount('share: the smallest difference that mattered'),
  budgetSeconds: amount('s: the longest time of the comparison'),
  seconds: amount('s: length of the comparison'),
  rows: Type.Array(matrixRow, { description: 'One for each twin besides the baseline.' }),
});

/** One comparison of several twins with a common baseline, from its first round to its last verdict. */
export type PooledMatrix = Static<typeof pooledMatrix>;

export const MATRIX_HEAD = {
  title: "One comparison of several twins with a common baseline: a line of a pool's pool.jsonl",
  description: 'Its version is that of pool.json.',
};

export type Pooled = PooledTest | PooledMatrix;
