/**
 * A shop that counts its requests by route and by row, gives wrong answers if its options ask for them, and with `--token`
 * answers only clients that have logged in. It prints its requests, the token too, as a careless server does.
 */
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

const { createServer } = process.getBuiltinModule('node:http');
const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    /** Of the answers to GET /orders/{id}, one in this many has another length. */
    'wrong-every': { type: 'string', default: '0' },
    /** Of the answers to POST /orders, one in this many has status 500. */
    'fail-every': { type: 'string', default: '0' },
    /** The first of these requests are answered rightly. */
    'sound-first': { type: 'string', default: '0' },
    /** An order whose id it has had is refused with 409. */
    unique: { type: 'boolean', default: false },
    /** Each login gives another token, which expires after this many seconds; by default there is one for ever. */
    expires: { type: 'string', default: '0' },
    token: { type: 'string', default: process.env['SHOP_TOKEN'] ?? '' },
  },
});
const every = Number(values['wrong-every']);
const failing = Number(values['fail-every']);
const sound = Number(values['sound-first']);
const expiresMs = Number(values.expires) * 1000;
/** The requests that are not answered yet. */
let open = 0;
let token = values.token;
let loggedInAtMs = 0;

const OPENAPI = {
  openapi: '3.1.0',
  paths: {
    '/health': { get: {} },
    '/orders/{id}': { get: { parameters: [{ name: 'id', in: 'path', required: true, example: 'a' }] } },
    '/users/{id}': { get: { parameters: [{ name: 'id', in: 'path', required: true }] } },
    '/orders': { post: {} },
  },
};

/** The requests to the shop, by its own count. */
export interface ShopAccount {
  /** By method and first part of the path. */
  routes: Record<string, number>;
  rows: Record<string, number>;
  wrong: Record<string, number>;
  /** Requests whose header, path and body do not name the same row. */
  crossed: number;
  logins: number;
  /** Those that came while another request was open. */
  loginsUnderLoad: number;
  refused: number;
  /** The ids of orders, and the orders of an id that was known. */
  ids: number;
  repeated: number;
}
const account: ShopAccount = {
  routes: {},
  rows: {},
  wrong: {},
  crossed: 0,
  logins: 0,
  loginsUnderLoad: 0,
  refused: 0,
  ids: 0,
  repeated: 0,
};
const ids = new Set<string>();
let unsound = -sound;
let orders = 0;

function count(map: Record<string, number>, key: string): number {
  map[key] = (map[key] ?? 0) + 1;
  return map[key];
}

/** True for one in `n` of the answers to a route, after the sound ones. */
function isSpoilt(route: string, n: number): boolean {
  if (n === 0 || unsound <= 0) return false;
  const number = count(spoilable, route);
  if (number % n !== 0) return false;
  count(account.wrong, route);
  return true;
}
const spoilable: Record<string, number> = {};

function answer(
  { method = '', url = '/', headers }: import('node:http').IncomingMessage,
  body: string,
): [status: number, body: string] {
  const [, first = '', id] = url.split('?')[0]?.split('/') ?? [];
  const route = `${method} /${first}`;
  if (route === 'GET /account') return [200, JSON.stringify(account)];
  if (route === 'GET /openapi.json') return [200, JSON.stringify(OPENAPI)];
  if (route === 'POST /login') {
    account.logins++;
    if (open > 1) account.loginsUnderLoad++;
    if (expiresMs > 0) token = `${values.token}-${account.logins}`;
    loggedInAtMs = performance.now();
    const { password } = JSON.parse(body) as { password?: string };
    return [200, JSON.stringify({ token, length: password?.length })];
  }
  unsound++;
  if (values.token !== '') {
    if (account.routes[route] === undefined)
      console.log(`${route} with ${headers.authorization ?? 'no token'}`);
    const hasExpired = expiresMs > 0 && performance.now() - loggedInAtMs > expiresMs;
    if (headers.authorization !== `Bearer ${token}` || hasExpired) {
      account.refused++;
      return [401, `no entrance with ${headers.authorization}`];
    }
  }
  count(account.routes, route);
  if (route === 'GET /orders' && id !== undefined) {
    count(account.rows, id);
    return [200, isSpoilt(route, every) ? '{"wrong":true}' : `{"order":"${id}"}`];
  }
  if (route === 'POST /orders') {
    const sent = JSON.parse(body) as { id: string };
    if (sent.id !== headers['x-id']) account.crossed++;
    if (ids.has(sent.id)) account.repeated++;
    ids.add(sent.id);
    account.ids = ids.size;
    if (values.unique && account.repeated > 0) return [409, '{"error":"exists"}'];
    return isSpoilt(route, failing) ? [500, 'out of tea'] : [201, `{"number":${++orders}}`];
  }
  if (route === 'GET /now') return [200, `{"now":${++orders}}`];
  return route === 'GET /health' ? [200, '{"ok":true}'] : [404, 'no such page'];
}

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  open++;
  response.once('close', () => open--);
  void text(request).then((body) => {
    const [status, reply] = answer(request, body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(reply);
  });
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 }, () => {
  console.log(`listening on ${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => {
  console.log(`planted-account ${JSON.stringify(account)}`);
  process.exit(0);
});
