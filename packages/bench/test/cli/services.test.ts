/** The services and the setup of an app, from its manifest to its record, and their failures. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Trial } from 'bench-model/record';
import type { Ended } from '../../../bench-lab/testing/user.ts';
import { mysql, needs } from '../../../bench-lab/testing/needs.ts';
import { Place, hasProc } from './cli.ts';

const { resolve: locate } = createRequire(import.meta.url);
const PG = locate('pg');
const MYSQL = locate('mysql2/promise');

/** A store that counts how often it was seeded. */
const STORE = `
import { createServer } from 'node:http';
let seeded = 0;
createServer((request, response) => {
  if (request.method === 'PUT') seeded++;
  response.end(String(seeded));
}).listen(process.argv[2], '127.0.0.1', () => console.log('the store listens'));
`;

/** Answers with the text that APP_VALUE or the store gives. */
const SERVER = `
import { createServer } from 'node:http';
const { PORT, STORE_URL, APP_VALUE } = process.env;
const value = STORE_URL === undefined ? APP_VALUE : await (await fetch(STORE_URL)).text();
createServer((_request, response) => response.end(JSON.stringify({ value }))).listen(PORT, '127.0.0.1');
`;

const SEED = `await fetch(process.env.STORE_URL, { method: 'PUT' }); console.log('seeded');`;

/** Starts itself again in a separate session, and ends. */
const DAEMON = `
import { spawn } from 'node:child_process';
if (process.env.IS_DAEMON) setInterval(() => {}, 1000);
else spawn(process.execPath, process.argv.slice(1), { detached: true, stdio: 'ignore', env: { ...process.env, IS_DAEMON: '1' } }).unref();
`;

/** Prints a line, starts a child, and never ends. */
const HANGS = `
import { spawn } from 'node:child_process';
spawn('sleep', ['600'], { detached: true });
console.log('waiting for the lock');
setInterval(() => {}, 1000);
`;

const FILES = {
  'store.mjs': STORE,
  'server.mjs': SERVER,
  'seed.mjs': SEED,
  'daemon.mjs': DAEMON,
  'hangs.mjs': HANGS,
  'fails.mjs': `console.log('applying 0001'); console.error('Error: relation "orders" exists'); process.exit(3);`,
};

// A word of a command can be empty, as in redis-server --save "".
const store = { command: ['node', 'store.mjs', '{port}', ''], ready: { http: '/' } };
const FEW = ['--connections', '2', '--amount', '50', '--warmup', '0'];

/** Writes an app into the folder of a place, and measures it. */
function bench(place: Place, manifest: Record<string, unknown>, ...args: string[]): Promise<Ended> {
  return place.run('bench', ['--stack', write(place, manifest), ...FEW, ...args]);
}

function write(place: Place, { env, command, ...manifest }: Record<string, unknown>): string {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(place.folder, name), text);
  const file = join(place.folder, 'stack.json');
  const whole = {
    name: 'shop',
    language: 'javascript',
    framework: 'none',
    class: 'unknown',
    runtime: 'none',
    default: 'app',
    variants: { app: { command: command ?? ['node', 'server.mjs'], env: env ?? {} } },
    requests: ['GET /'],
    ...manifest,
  };
  writeFileSync(file, JSON.stringify(whole, null, 2));
  return file;
}

/** Measures two rounds, which must succeed. */
async function measureTwice(place: Place, manifest: string): Promise<void> {
  const { status, stdout, stderr } = await place.run('bench', ['--stack', manifest, ...FEW, '--rounds', '2']);
  expect([stdout, stderr, status]).toEqual([expect.any(String), expect.any(String), 0]);
}

function statusesOf(trials: Trial[]): string[] {
  return trials.map(({ status, reasons }) =>
    status === 'failed' ? reasons.map(({ text }) => text).join('; ') : 'measured',
  );
}

/**
 * Returns the differences from an error with these words and this exit code, after which nothing was recorded. Throws if something
 * goes on running.
 */
async function wrongWith(
  place: Place,
  { status, stderr }: Ended,
  expected: number,
  ...says: RegExp[]
): Promise<unknown[]> {
  await place.untilGone();
  return [
    ...says.filter((words) => !words.test(stderr)).map((words) => `no ${words} in: ${stderr}`),
    ...(status === expected ? [] : [`exit code ${status}: ${stderr}`]),
    ...place.trials(),
  ];
}

describe('a service and a setup', () => {
  it('let every trial begin alike, but for a service of the whole run', async () => {
    await using place = new Place();
    const { status, stderr } = await bench(
      place,
      {
        env: { STORE_URL: '{store.url}' },
        services: { store, kept: { ...store, per: 'run' } },
        setup: { command: ['node', 'seed.mjs'], env: { STORE_URL: '{store.url}' } },
        requests: [{ request: 'GET /', expect: { body: { value: '1' } } }],
      },
      '--rounds',
      '2',
    );
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    const trials = place.trials();
    expect(statusesOf(trials)).toEqual(['measured', 'measured']);
    expect(trials[0]?.companions?.services).toEqual({
      services: [
        { name: 'store', kind: 'program', per: 'trial', command: store.command },
        { name: 'kept', kind: 'program', per: 'run', command: store.command },
      ],
      setup: ['node', 'seed.mjs'],
    });
    const logs = join(place.runFolder(), 'logs');
    expect(readdirSync(logs).filter((name) => !/^\d+-/.test(name))).toEqual([
      '001s0-store.log',
      '001setup-shop.log',
      '002s0-store.log',
      '002setup-shop.log',
      'run0s0-kept.log',
    ]);
    expect(readFileSync(join(logs, '002setup-shop.log'), 'utf8')).toBe('seeded\n');
    await place.untilGone();
  });

  it('give each trial an empty PostgreSQL database, whose password is kept nowhere', async () => {
    await using place = new Place({ hasTemporary: true });
    const migrate = `
      import pg from ${JSON.stringify(PG)};
      const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
      await client.connect();
      await client.query('create table orders (id int)');
      console.log('migrated ' + process.env.DATABASE_URL);
      await client.end();
    `;
    const manifest = write(place, {
      env: { DATABASE_URL: '{db.url}', APP_VALUE: 'x' },
      services: { db: { use: 'postgres' } },
      setup: { command: ['node', 'migrate.mjs'] },
    });
    writeFileSync(join(place.folder, 'migrate.mjs'), migrate);
    await measureTwice(place, manifest);
    const trials = place.trials();
    expect(statusesOf(trials)).toEqual(['measured', 'measured']);
    expect(trials[1]?.companions?.services?.services[0]).toMatchObject({ name: 'db', kind: 'postgres' });
    const log = readFileSync(join(place.runFolder(), 'logs', '002setup-shop.log'), 'utf8');
    expect(log).toMatch(/^migrated postgresql:\/\/\(not-kept\)@127\.0\.0\.1:\d+\/bench_\w+_2\n$/);
  });
});

describe('MySQL', () => {
  needs(mysql);

  it('gives each trial an empty database by the parts of its address, and keeps no password', async () => {
    await using place = new Place({ hasTemporary: true });
    const migrate = `
      import mysql from ${JSON.stringify(MYSQL)};
      const { DB_HOST: host, DB_PORT: port, DB_USER: user, DB_PASSWORD: password, DB_NAME: database, DATABASE_URL: uri } = process.env;
      const byParts = await mysql.createConnection({ host, port: Number(port), user, password, database });
      await byParts.query('create table orders (id int)');
      await byParts.end();
      const byUrl = await mysql.createConnection({ uri });
      const [tables] = await byUrl.query('show tables');
      await byUrl.end();
      console.log(tables.length + ' table in ' + uri + ' by ' + password);
    `;
    const parts = ['host', 'port', 'user', 'password', 'name'].map((part) => [
      `DB_${part.toUpperCase()}`,
      `{db.${part}}`,
    ]);
    const manifest = write(place, {
      env: { ...Object.fromEntries(parts), DATABASE_URL: '{db.url}', APP_VALUE: 'x' },
      services: { db: { use: 'mysql' } },
      setup: { command: ['node', 'migrate.mjs'] },
    });
    writeFileSync(join(place.folder, 'migrate.mjs'), migrate);
    await measureTwice(place, manifest);
    expect(statusesOf(place.trials())).toEqual(['measured', 'measured']);
    expect(place.trials()[1]?.companions?.services?.services).toEqual([
      { name: 'db', kind: 'mysql', per: 'trial', version: expect.stringMatching(/^(mysql|mariadb) \d+\./) },
    ]);
    const log = readFileSync(join(place.runFolder(), 'logs', '002setup-shop.log'), 'utf8');
    expect(log).toMatch(
      /^1 table in mysql:\/\/\(not-kept\)@127\.0\.0\.1:\d+\/bench_\w+_2 by \(not kept\)\n$/,
    );
    await place.untilGone();
    expect(readdirSync(place.temporary)).toEqual([]);
  });
});

describe('a build', () => {
  it('goes to the cache, so that the project stays as it is', async () => {
    await using place = new Place();
    const file = write(place, {
      build: [['cp', 'serve', '{build}/server']],
      command: ['{build}/server'],
      env: { APP_VALUE: 'built' },
      requests: [{ request: 'GET /', expect: { body: { value: 'built' } } }],
    });
    const script = '#!/usr/bin/env node\nimport(process.cwd() + "/server.mjs");\n';
    writeFileSync(join(place.folder, 'serve'), script, { mode: 0o755 });
    const before = readdirSync(place.folder);
    const cache = join(place.folder, 'state', 'cache');
    const { status, stderr } = await place.run('bench', ['--stack', file, ...FEW, '--rounds', '1'], {
      BENCH_CACHE: cache,
    });
    expect([status, stderr]).toEqual([0, expect.stringContaining('trying shop: {build}/server')]);
    expect(statusesOf(place.trials())).toEqual(['measured']);
    expect(readdirSync(place.folder).filter((name) => !before.includes(name))).toEqual(['results']);
    expect(readdirSync(join(cache, 'builds'))[0]).toMatch(/^shop-/);
  });
});

describe.runIf(hasProc)('a manifest that is wrong ends with a message, and leaves nothing running', () => {
  it('if the setup fails', async () => {
    await using place = new Place();
    const ended = await bench(place, { services: { store }, setup: { command: ['node', 'fails.mjs'] } });
    expect(
      await wrongWith(
        place,
        ended,
        1,
        /error: shop cannot be measured: setup failed: exit status 3: Error: relation "orders" exists/,
        /command: node fails\.mjs\n/,
        /\| applying 0001\n/,
      ),
    ).toEqual([]);
  });

  it('if the setup hangs, with all that it started', async () => {
    await using place = new Place();
    const setup = { command: ['node', 'hangs.mjs'], timeoutSeconds: 1 };
    const ended = await bench(place, { services: { store }, setup });
    const says = [/setup did not end within 1 s\n/, /\| waiting for the lock\n/];
    expect(await wrongWith(place, ended, 1, ...says)).toEqual([]);
  });

  it('if a service never becomes ready', async () => {
    await using place = new Place();
    const services = { queue: { command: ['node', 'hangs.mjs'], timeoutSeconds: 1 } };
    expect(
      await wrongWith(
        place,
        await bench(place, { services }),
        1,
        /service queue is not ready after 1 s: nothing listens on port \d+\n/,
        /asked: {3}tcp 127\.0\.0\.1:\d+\n/,
        /\| waiting for the lock\n/,
      ),
    ).toEqual([]);
  });

  it('if a service for the whole run ends at once', async () => {
    await using place = new Place();
    const services = { queue: { command: ['node', 'fails.mjs'], per: 'run' } };
    expect(
      await wrongWith(
        place,
        await bench(place, { services }),
        1,
        /service queue ended before it was ready \(exit status 3: Error: relation/,
      ),
    ).toEqual([]);
  });

  it('if the check of a service keeps failing', async () => {
    await using place = new Place();
    const ready = { command: ['node', 'fails.mjs'] };
    const services = { store: { ...store, ready, timeoutSeconds: 1 } };
    expect(
      await wrongWith(
        place,
        await bench(place, { services }),
        1,
        /service store is not ready after 1 s: node failed with exit status 3: Error: relation/,
      ),
    ).toEqual([]);
  });

  it.each([
    ['a service', { services: { queue: { command: ['node', 'daemon.mjs'] } } }],
    ['the server', { command: ['node', 'daemon.mjs'] }],
  ])('if %s goes to the background', async (_who, manifest) => {
    await using place = new Place();
    expect(
      await wrongWith(
        place,
        await bench(place, manifest),
        1,
        /exit status 0, but its process \d+ \(.+\) still runs: it must stay in the foreground/,
      ),
    ).toEqual([]);
  });

  it('if a fixed port is taken', async () => {
    await using place = new Place();
    await using holder = createServer();
    await new Promise<void>((done) => {
      holder.listen({ host: '127.0.0.1', port: 0 }, done);
    });
    const { port } = holder.address() as AddressInfo;
    const ended = await bench(place, { services: { store: { ...store, port } } });
    expect(
      await wrongWith(place, ended, 2, new RegExp(`service store: port ${port} is taken by process \\d+`)),
    ).toEqual([]);
  });

  it('if the program of a service is missing', async () => {
    await using place = new Place();
    const ended = await bench(place, { services: { cache: { command: ['no-such-cache', '{port}'] } } });
    expect(await wrongWith(place, ended, 3, /service cache: no-such-cache is not on PATH/)).toEqual([]);
  });

  it('after a Ctrl-C while the setup runs', async () => {
    await using place = new Place();
    const file = write(place, { services: { store }, setup: { command: ['node', 'hangs.mjs'] } });
    const running = place.start('bench', ['--stack', file, ...FEW]);
    await running.until(() => place.pidsOf('hangs.mjs').length > 0, 'the setup');
    running.signal('SIGINT');
    const { status } = await running.ended;
    expect(status).toBe(130);
    await place.untilGone();
    expect(place.trials()).toEqual([]);
  });
});
