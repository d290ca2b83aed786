import { canonicalise, checkJson, excerpt, type Params, type Row, type Workload } from './workload.ts';

/** The pool of the document: 5 connections, 10 more when those are taken, 30 s until one gives up. */
const POOL = {
  pool: { usual: 5, least: 1, most: 1000 },
  overflow: { usual: 10, least: 0, most: 1000 },
  pooltimeout: { usual: 30, least: 1, most: 3600 },
};

/** The timeout is longer than the pool's, so that its own error arrives. */
const COMMON = {
  rungs: [1, 12, 24, 48, 200],
  windowSeconds: 10,
  warmupSeconds: 2,
  timeoutSeconds: 40,
  stores: true as const,
};

/** `GET /users`: all rows of the table, read for each answer. With `rows=0`, the empty lists of the document. */
export const users: Workload = {
  ...COMMON,
  name: 'users',
  params: { rows: { usual: 100, least: 0, most: 10_000 }, ...POOL },
  draw(random, params) {
    const rows = Array.from({ length: params['rows'] ?? 0 }, () => drawUser(random));
    const expected = canonicalise(JSON.stringify(rows.map((row, index) => ({ id: index + 1, ...row }))));
    return {
      requests: [{ method: 'GET', path: '/users', headers: {} }],
      files: {},
      env: poolOf(params),
      table: { rows },
      check: (answer) => checkJson(answer, expected),
      fixedBody: true,
    };
  },
};

/** `POST /users`: one row more, and that row as the answer. What the table holds in the end has to be what was acknowledged. */
export const usersInsert: Workload = {
  ...COMMON,
  name: 'users-insert',
  params: POOL,
  draw(random, params) {
    const user = drawUser(random);
    return {
      requests: [
        {
          method: 'POST',
          path: '/users',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(user),
        },
      ],
      files: {},
      env: poolOf(params),
      table: { rows: [], inserts: user },
      check({ status, contentType, body }) {
        if (status !== 201) return `status ${status} instead of 201: ${excerpt(body)}`;
        const id = readId(body.toString());
        if (id === undefined) return `wrong body: no object with a whole number as its id: ${excerpt(body)}`;
        const expected = canonicalise(JSON.stringify({ id, ...user }));
        return checkJson({ status: 200, contentType, body }, expected);
      },
      // Each has an id of its own.
      fixedBody: false,
    };
  },
};

function poolOf({ pool, overflow, pooltimeout }: Params): Record<string, string> {
  return {
    BENCH_POOL_SIZE: String(pool),
    BENCH_POOL_OVERFLOW: String(overflow),
    BENCH_POOL_TIMEOUT: String(pooltimeout),
  };
}

// Every draw has the same length, so that the body's size is the stack's doing.
function drawUser(random: () => number): Row {
  const word = (length: number) =>
    Array.from({ length }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');
  const [first, last] = [word(6), word(8)];
  return { name: `${first} ${last}`, email: `${first}.${last}@example.org` };
}

/** The id that an answer tells. */
function readId(body: string): number | undefined {
  try {
    const told: unknown = JSON.parse(body);
    const id = told !== null && typeof told === 'object' && 'id' in told ? told.id : undefined;
    return Number.isInteger(id) ? (id as number) : undefined;
  } catch {
    return undefined;
  }
}
