import { canonicalise, checkJson, ID, post, type Workload } from './workload.ts';

const USUAL_MS = 2000;

/**
 * `POST /customers`, `/products` and `/orders` in turn. The server validates the JSON body and passes a callback to
 * a shared method; the callback calls a repository, which logs the call and waits. The response repeats the request
 * with its id, so state shared between requests shows as a crossed answer.
 */
export const repository: Workload = {
  name: 'repository',
  rungs: [100, 500],
  // Five waits of the default length; plans stretch the window to whole waits of any other length.
  windowSeconds: 10,
  warmupSeconds: 2,
  // With a shorter timeout, clients that give up would leave the server working on requests that nobody awaits.
  timeoutSeconds: 60,
  barrierSeconds: 10,
  waitSeconds: ({ ms = USUAL_MS }) => ms / 1000,
  params: { ms: { usual: USUAL_MS, least: 1, most: 5000 } },
  draw(random, { ms = USUAL_MS }) {
    const integer = (low: number, high: number) => low + Math.floor(random() * (high - low));
    const word = () => integer(36 ** 7, 36 ** 8).toString(36);
    const calls: Call[] = [
      { path: '/customers', saved: 'customer', fields: { name: word(), email: `${word()}@example.org` } },
      { path: '/products', saved: 'product', fields: { title: word(), cents: integer(1000, 10_000) } },
      {
        path: '/orders',
        saved: 'order',
        fields: { customer: integer(1000, 10_000), product: integer(1000, 10_000), quantity: integer(1, 10) },
      },
    ];
    const expected = calls.map(({ saved, fields }) =>
      canonicalise(JSON.stringify({ saved, data: { id: ID, ...fields } })),
    );
    return {
      requests: calls.map(({ path, fields }) => post(path, { id: ID, ...fields })),
      // Invalid JSON, a body without an id, and a body whose first field has the wrong type.
      refused: calls.flatMap(({ path, fields }) => [
        { ...post(path, {}), body: '{"id":' },
        post(path, fields),
        post(path, { id: ID, ...fields, [Object.keys(fields)[0] ?? '']: ['no'] }),
      ]),
      files: {},
      env: { BENCH_REPOSITORY_MS: String(ms) },
      check: (answer, index) => checkJson(answer, expected[index] ?? ''),
      fixedBody: true,
    };
  },
};

/** One endpoint, and the fields that are sent beside the id. */
interface Call {
  path: string;
  saved: string;
  fields: Record<string, string | number>;
}
