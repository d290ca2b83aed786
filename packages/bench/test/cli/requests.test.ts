/** Requests of a user, from the command line to the record, compared with the counts of a planted shop. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ShopAccount } from '../../../bench-lab/planted/shop/server.ts';
import type { LoadResult } from 'bench-model/load';
import type { Trial } from 'bench-model/record';
import { start } from 'bench-machine/subprocess';
import { at, flags, hasProc, Place } from './cli.ts';

const SERVER = fileURLToPath(new URL('../../../bench-lab/planted/shop/server.ts', import.meta.url));
const FEW = { connections: 4, rounds: 1, warmup: 0 };
const IDS = ['a', 'b', 'c', 'd', 'e'];
const MIX = {
  rows: 'ids.csv',
  requests: [
    { request: 'GET /orders/{id}', weight: 7 },
    {
      request: 'POST /orders',
      weight: 2,
      headers: { 'x-id': '{id}' },
      body: { id: '{id}' },
      repeat: true,
      expect: { status: 201, schema: { type: 'object', required: ['number'] } },
    },
    'GET /health',
  ],
};
/**
 * Before the load: one until it answers, and each of 11 requests twice; after it, each twice again. Before the run, a server
 * is asked as often as before a load, to time its responses.
 */
const PROBES = { before: 1 + 2 * 11, after: 2 * 11 };

interface Shop extends AsyncDisposable {
  url: string;
  account(): Promise<ShopAccount>;
}

async function openShop(...args: string[]): Promise<Shop> {
  const argv = [process.execPath, SERVER, ...args];
  const child = start({ stdio: ['ignore', 'pipe', 'inherit'] })`exec ${argv}`;
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${/\d+/.exec(String(line))?.[0]}`;
  return {
    url,
    account: async () => (await (await fetch(`${url}/account`)).json()) as ShopAccount,
    async [Symbol.asyncDispose]() {
      // It keeps what was compiled of it for the next one.
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function writeRequests(place: Place, requests: object, csv = `id\n${IDS.join('\n')}\n`): string {
  writeFileSync(join(place.folder, 'ids.csv'), csv);
  const file = join(place.folder, 'requests.json');
  writeFileSync(file, JSON.stringify(requests, null, 2));
  return file;
}

function loadOf(trial: Trial | undefined): LoadResult {
  const load = trial?.status === 'failed' ? trial.partial?.load : trial?.measured.load;
  if (load === undefined) throw new Error(`no load: ${JSON.stringify(trial?.reasons)}`);
  return load;
}

/** The lifetime of each route, held against the shop's own count without the requests of the checks. */
function expectAgreement(load: LoadResult, account: ShopAccount, checks: number): void {
  const [get, post, health] = load.routes?.map(({ lifetime }) => lifetime) ?? [];
  const passes = Math.floor(checks / 11);
  // The first request alone finds out that the server answers.
  expect(account.routes['GET /orders']).toBe((get?.sent ?? 0) + passes * 5 + (checks % 11));
  expect(account.routes['POST /orders']).toBe((post?.sent ?? 0) + passes * 5);
  expect(account.routes['GET /health']).toBe((health?.sent ?? 0) + passes);
  expect(account.crossed).toBe(0);
  for (const { counts, lifetime } of load.routes ?? []) {
    for (const { sent, ...parts } of [counts, lifetime])
      expect(Object.values(parts).reduce((sum, part) => sum + part)).toBe(sent);
  }
}

describe('requests by weight, with rows', () => {
  it('are sent exactly by weight, each row equally often, by the server’s own count', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const requests = writeRequests(place, MIX);
    const args = at(shop.url, { 'requests-file': requests, ...FEW, amount: 1000 });
    const { status, stdout } = await place.run('bench', [...args, '--detail']);
    expect(status).toBe(0);
    const [trial] = place.trials();
    const load = loadOf(trial);
    expect(load.routes?.map(({ counts }) => [counts.sent, counts.ok])).toEqual([
      [700, 700],
      [200, 200],
      [100, 100],
    ]);
    const account = await shop.account();
    expectAgreement(load, account, 2 * PROBES.before + PROBES.after);
    // Each was asked by the checks 6 times, one of them twice more, and equally often in the window.
    const often = IDS.map((id) => account.rows[id] ?? 0);
    const besides = (load.routes?.[0]?.lifetime.sent ?? 0) - 700;
    expect(Math.max(...often) - Math.min(...often)).toBeLessThanOrEqual(2 + besides);
    expect(trial?.requests).toMatchObject({
      requests: [
        { path: '/orders/{id}', weight: 7, check: 'bytes' },
        { path: '/orders', weight: 2, headers: ['x-id'], check: 'schema' },
        { path: '/health', weight: 1, check: 'bytes' },
      ],
      rows: { count: 5, used: 5, checked: 5 },
    });
    expect(stdout).toMatch(/^GET \/orders\/\{id\} × 7, POST \/orders × 2, GET \/health × 1, 1 round/m);
    expect(stdout).toContain('GET /orders/{id}: 700 sent, 700 right');
  });

  it('are judged by route: a planted share of wrong responses is found in the right one', async () => {
    await using place = new Place();
    const sound = ['--sound-first', String(2 * PROBES.before)];
    await using shop = await openShop(...sound, '--wrong-every', '20', '--fail-every', '10');
    const requests = writeRequests(place, MIX);
    const args = at(shop.url, { 'requests-file': requests, ...FEW, amount: 1000 });
    const { status } = await place.run('bench', args);
    expect(status).toBe(1);
    const load = loadOf(place.trials()[0]);
    const account = await shop.account();
    const wrong = load.routes?.map(({ lifetime: { mismatch, non2xx } }) => [mismatch, non2xx]);
    expect(wrong).toEqual([
      [35, 0],
      [0, 20],
      [0, 0],
    ]);
    expect(account.wrong['GET /orders']).toBe(35);
    // The checks after the load end at the first wrong response.
    expect([20, 21]).toContain(account.wrong['POST /orders']);
    expect(place.trials()[0]?.reasons.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['wrong-answers', 'errors']),
    );
  });

  it('are checked by status alone if the response differs from one time to the next', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const args = [...at(shop.url, { ...FEW, amount: 40 }), '--get', '/now', '--get', '/health'];
    const { status, stdout } = await place.run('bench', args);
    expect(status).toBe(0);
    const checks = place
      .trials()
      .map(({ route, requests }) => [route, requests?.requests.map(({ check }) => check)]);
    expect(Object.fromEntries(checks)).toEqual({ 'GET /now': ['status'], 'GET /health': ['bytes'] });
    expect(stdout).toContain('responses: GET /now: only the status is checked');
  });

  it('are refused with file and line before anything is measured', async () => {
    await using place = new Place();
    const requests = writeRequests(place, MIX, 'id,qty\na,1\nb\n');
    const { status, stderr } = await place.run(
      'bench',
      at('http://127.0.0.1:1', { 'requests-file': requests }),
    );
    expect(status).toBe(2);
    expect(stderr).toMatch(/ids\.csv:3: the row has 1 column, but the header has 2\n/);
    writeRequests(place, { requests: ['GET /a', { request: 'POST /b', weigth: 2 }] });
    const wrong = await place.run('bench', at('http://127.0.0.1:1', { 'requests-file': requests }));
    expect(wrong.stderr).toMatch(
      /requests\.json:\d: "requests\.1" has no field "weigth"\n +did you mean weight\?/,
    );
  });
});

const manyRows = (count: number): string =>
  `id\n${Array.from({ length: count }, (_, row) => `o${row}`).join('\n')}\n`;

describe('requests that a server takes once', () => {
  const ORDER = { request: 'POST /orders', expect: { status: 201 } };

  it('use each row once over all trials of a server that keeps its data, the checks included', async () => {
    await using place = new Place();
    await using shop = await openShop('--unique');
    const order = { ...ORDER, headers: { 'x-id': '{id}' }, body: { id: '{id}' }, weight: 3 };
    const mix = { rows: 'ids.csv', requests: [order, 'GET /orders/{id}'] };
    const requests = writeRequests(place, mix, manyRows(4000));
    const args = at(shop.url, { 'requests-file': requests, ...FEW, rounds: 2, amount: 400 });
    const { status, stdout } = await place.run('bench', args);
    expect(status).toBe(0);
    const trials = place.trials();
    expect(trials.map((trial) => loadOf(trial).routes?.map(({ counts }) => counts.ok))).toEqual([
      [300, 100],
      [300, 100],
    ]);
    const account = await shop.account();
    expect(account.repeated).toBe(0);
    const loads = trials.map((trial) => loadOf(trial).routes?.[0]?.lifetime.sent ?? 0);
    // Before the run and before each load: one until it answers, and five; after each load five.
    expect(account.ids).toBe(loads.reduce((sum, sent) => sum + sent) + 3 * 6 + 2 * 5);
    expect(trials[0]?.requests?.requests.map((one) => one.once)).toEqual([true, undefined]);
    expect(stdout).toContain('shuffled; POST /orders sends each once, the other takes them in turn');
  });

  it('stop the run when the rows are used up, and say how many it would take', async () => {
    await using place = new Place();
    await using shop = await openShop('--unique');
    const order = { ...ORDER, headers: { 'x-id': '{id}' }, body: { id: '{id}' } };
    const requests = writeRequests(place, { rows: 'ids.csv', requests: [order] }, manyRows(120));
    const args = at(shop.url, { 'requests-file': requests, ...FEW, rounds: 2, duration: 1 });
    const { status, stderr } = await place.run('bench', args);
    expect(status).toBe(1);
    expect(place.trials()).toHaveLength(1);
    expect(stderr).toMatch(
      /error: .*: each row of .*ids\.csv is sent once, and the 40 rows of one of 3 loads were used up after \d\.\d s of load: it takes about [\d,]+\n/,
    );
    expect((await shop.account()).repeated).toBe(0);
  });

  it('have values of their own from {uuid} and {seq}, over all trials', async () => {
    await using place = new Place();
    await using shop = await openShop('--unique');
    const requests = writeRequests(place, {
      requests: [
        { ...ORDER, headers: { 'x-id': '{uuid}/{seq}' }, body: { id: '{uuid}/{seq}' } },
        { ...ORDER, headers: { 'x-id': '{seq}' }, body: { id: '{seq}' } },
      ],
    });
    const args = at(shop.url, { 'requests-file': requests, ...FEW, rounds: 2, amount: 200 });
    expect((await place.run('bench', args)).status).toBe(0);
    const { repeated, routes, ids } = await shop.account();
    expect([repeated, ids]).toEqual([0, routes['POST /orders']]);
  });

  it('are named, with what makes them unique, if they are sent again', async () => {
    await using place = new Place();
    await using shop = await openShop('--unique');
    const args = ['--request', 'POST /orders', '--body', '{"id":"a"}', ...at(shop.url, { ...FEW })];
    const { status, stderr } = await place.run('bench', [...args, '--amount', '40']);
    expect(status).toBe(1);
    expect(stderr).toContain('hint: make each request unique: {uuid} or {seq} in its path or body');
  });
});

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${name}: ${readFileSync(join(parentPath, name), 'utf8')}`);
}

describe('an OpenAPI document of the server', () => {
  const LEFT_OUT = [
    'left out: GET /users/{id} (no example for the parameter "id")',
    'left out: POST /orders (not a GET request)',
  ];

  it('is asked for, before the run', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const args = at(new URL(shop.url).origin, { openapi: '/openapi.json', ...FEW, amount: 40 });
    const { status, stderr } = await place.run('bench', args);
    expect(status).toBe(0);
    for (const line of LEFT_OUT) expect(stderr).toContain(line);
    const { userRequests } = place.runFile().plan;
    expect(userRequests?.requests.map(({ path }) => path)).toEqual(['/health', '/orders/a']);
    expect(userRequests?.leftOut).toHaveLength(2);
    const right = place.trials().map((trial) => [trial.route, loadOf(trial).counts.ok]);
    expect(Object.fromEntries(right)).toEqual({ 'GET /health': 40, 'GET /orders/a': 40 });
  });
});

describe('a login', () => {
  const TOKEN = 'tok-8f3a.secret/part';
  const PASSWORD = 'correct-horse-battery';
  const LOGIN = {
    request: 'POST /login',
    body: { user: 'ada', password: '{env:SHOP_PASSWORD}' },
    token: { json: '/token' },
  };

  /** Writes a stack of the user's: a shop behind a login, and the requests to it. */
  function writeStack(place: Place): string {
    const folder = join(place.folder, 'shop');
    mkdirSync(folder);
    writeFileSync(join(folder, 'ids.csv'), `id\n${IDS.join('\n')}\n`);
    const stack = {
      name: 'shop',
      language: 'typescript',
      framework: 'none',
      class: 'raw',
      runtime: 'node',
      default: 'node',
      variants: { node: { command: ['{runtime}', SERVER, '--port', '{port}'], env: { SHOP_TOKEN: TOKEN } } },
      login: LOGIN,
      ...MIX,
    };
    writeFileSync(join(folder, 'stack.json'), JSON.stringify(stack, null, 2));
    return join(folder, 'stack.json');
  }

  it('comes before the load of a server that Bench starts, and again with --again', async () => {
    await using place = new Place();
    const env = { SHOP_PASSWORD: PASSWORD };
    const stack = writeStack(place);
    const first = await place.run('bench', [...flags({ stack, ...FEW, amount: 200 }), '--json'], env);
    expect(first.stderr).not.toContain('error:');
    expect(first.status).toBe(0);
    const [trial] = place.trials();
    expect(trial?.requests?.login).toBe('POST /login');
    expect(loadOf(trial).routes?.map(({ counts }) => counts.ok)).toEqual([140, 40, 20]);
    const { run, userRequests } = place.runFile().plan;
    expect(userRequests?.login?.body).toBe('(not kept)');

    const again = await place.run('bench', ['--again', run], env);
    expect(again.status).toBe(0);
    const unset = await place.run('bench', ['--again', run]);
    expect(unset.stderr).toContain('the variable SHOP_PASSWORD is not set');
    expect(unset.status).toBe(2);

    const outputs = [first, again, unset].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    const left = [...outputs, ...filesOf(place.results), ...filesOf(place.state)];
    // The shop printed its token, so the log must be there for this to prove anything.
    expect(left.some((text) => text.includes('GET /orders with Bearer (not kept)'))).toBe(true);
    for (const text of left) {
      expect(text).not.toContain(PASSWORD);
      expect(text).not.toContain(TOKEN);
    }
  });

  it('is sent again between windows before its token expires', async () => {
    await using place = new Place();
    await using shop = await openShop('--token', TOKEN, '--expires', '3');
    const requests = writeRequests(place, { requests: ['GET /health'], login: { ...LOGIN, every: 1 } });
    const times = flags({ connections: 4, rounds: 1, rate: 200, warmup: 1.2, duration: 3 });
    const args = [...at(shop.url, { 'requests-file': requests }), ...times];
    const { status, stdout, stderr } = await place.run('bench', args, { SHOP_PASSWORD: PASSWORD });
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('error:')]);
    const [trial] = place.trials();
    expect(loadOf(trial).lifetime).toMatchObject({ non2xx: 0 });
    expect(loadOf(trial).windowSeconds).toBeGreaterThan(2.9);
    const { logins, loginsUnderLoad, refused } = await shop.account();
    // One before the run, and one in each second.
    expect(logins).toBeGreaterThanOrEqual(1 + 5);
    expect([loginsUnderLoad, refused]).toEqual([0, 0]);
    expect(stdout).toContain('login: POST /login before each load, and again every 1 s, between windows');
    for (const text of [stderr, stdout, ...filesOf(place.results)]) expect(text).not.toContain(TOKEN);
  });

  it('that fails says so, and quotes no secret', async () => {
    await using place = new Place();
    await using shop = await openShop('--token', TOKEN);
    const login = { ...LOGIN, token: { json: '/access_token' } };
    const requests = writeRequests(place, { ...MIX, login });
    const args = at(shop.url, { 'requests-file': requests, ...FEW, amount: 40 });
    const { status, stderr, stdout } = await place.run('bench', args, { SHOP_PASSWORD: PASSWORD });
    expect(status).toBe(1);
    expect(stderr).toContain('the login failed: the body has no /access_token; its fields are token, length');
    expect(stderr).toContain('correct the body of "login", or the variables in it. To try it by hand: POST ');
    for (const text of [stderr, stdout, ...filesOf(place.results)]) {
      expect(text).not.toContain(PASSWORD);
      expect(text).not.toContain(TOKEN);
    }
  });
});

describe.runIf(hasProc)('several running servers', () => {
  it('are compared by turns, each with its own process', async () => {
    await using place = new Place();
    await using old = await openShop();
    await using now = await openShop();
    const words = [`old=${old.url}`, `new=${now.url}`, '--get', '/health'];
    const { status, stdout } = await place.run('bench', [
      ...words,
      ...flags({ connections: 2, rounds: 6, warmup: 0, duration: 0.2 }),
      '--detail',
    ]);
    expect(status).toBe(0);
    const trials = place.trials();
    expect(trials.map(({ target }) => target.id).toSorted()).toEqual([
      ...Array(6).fill('new'),
      ...Array(6).fill('old'),
    ]);
    expect(new Set(trials.map(({ duel }) => duel)).size).toBe(6);
    const pids = new Map(trials.map(({ target, process }) => [target.id, process?.pid]));
    expect(new Set(pids.values()).size).toBe(2);
    for (const [name, shop] of Object.entries({ old, new: now })) {
      const sent = trials
        .filter(({ target }) => target.id === name)
        .reduce((sum, trial) => sum + (loadOf(trial).lifetime?.sent ?? 0), 0);
      // One until it answers, two before and two after each load; and three before the run, to time its responses.
      expect((await shop.account()).routes).toEqual({ 'GET /health': sent + 6 * 5 + 3 });
    }
    expect(stdout).toMatch(/old: already running, process \d+/);
  });

  it('are refused if they are one process, or if one name is used twice', async () => {
    await using place = new Place();
    await using shop = await openShop();
    const same = await place.run('bench', [`a=${shop.url}`, `b=${shop.url}`, ...flags(FEW)]);
    expect([same.status, same.stderr]).toEqual([2, expect.stringContaining('a and b are the same server')]);
    const twice = await place.run('bench', [`a=${shop.url}`, 'a=http://127.0.0.1:1']);
    expect([twice.status, twice.stderr]).toEqual([2, expect.stringContaining('two servers are named a')]);
  });
});
