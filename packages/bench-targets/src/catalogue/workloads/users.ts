import { isPart, parseJson } from '../json-file.ts';
import {
  canonicalise,
  describeStatus,
  checkJson,
  drawGet,
  excerpt,
  post,
  type Params,
  type Row,
  type Workload,
} from './workload.ts';

/** SQLAlchemy's default pool: 5 connections, an overflow of 10, and 30 s until a waiting request fails. */
const POOL = {
  pool: { usual: 5, least: 1, most: 1000 },
  overflow: { usual: 10, least: 0, most: 1000 },
  pooltimeout: { usual: 30, least: 1, most: 3600 },
};

/** Longer than the timeout of the pool, so that the error of the pool arrives first. */
const COMMON = {
  rungs: [1, 12, 24, 48, 200],
  windowSeconds: 10,
  warmupSeconds: 2,
  timeoutSeconds: 40,
  stores: true as const,
};

/** `GET /users`: all rows of the table, read for each response. With `rows=0`, an empty list. */
export const users: Workload = {
  ...COMMON,
  name: 'users',
  params: { rows: { usual: 100, least: 0, most: 10_000 }, ...POOL },
  draw(random, params) {
    const rows = Array.from({ length: params['rows'] ?? 0 }, () => drawUser(random));
    const expected = canonicalise(JSON.stringify(rows.map((row, index) => ({ id: index + 1, ...row }))));
    return { ...drawGet('/users', expected), env: poolOf(params), table: { rows } };
  },
};

/** `POST /users`: inserts one row and answers with it. In the end the table must hold exactly the acknowledged rows. */
export const usersInsert: Workload = {
  ...COMMON,
  name: 'users-insert',
  params: POOL,
  draw(random, params) {
    const user = drawUser(random);
    return {
      requests: [post('/users', user)],
      files: {},
      env: poolOf(params),
      table: { rows: [], inserts: user },
      check(answer) {
        const { status, contentType, body } = answer;
        if (status !== 201) return describeStatus(answer, ' instead of 201');
        const id = readId(body.toString());
        if (id === undefined) return `wrong body: no object with a whole number as its id: ${excerpt(body)}`;
        const expected = canonicalise(JSON.stringify({ id, ...user }));
        return checkJson({ status: 200, contentType, body }, expected);
      },
      // Every row has its own id.
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

// Every draw has the same length, so that differences in body size come from the stack.
function drawUser(random: () => number): Row {
  const word = (length: number) =>
    Array.from({ length }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');
  const [first, last] = [word(6), word(8)];
  return { name: `${first} ${last}`, email: `${first}.${last}@example.org` };
}

function readId(body: string): number | undefined {
  const told = parseJson(body);
  const id = isPart(told) ? told['id'] : undefined;
  return Number.isInteger(id) ? (id as number) : undefined;
}
