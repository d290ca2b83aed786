import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, Place } from './cli.ts';

const BASIC = `Basic ${Buffer.from('me:open sesame').toString('base64')}`;
/** Must not be stored or shown. */
const SECRETS = ['open sesame', 'open%20sesame', BASIC.slice(6), 'query-token-1', 'header-key-1'];
const FEW = { connections: 1, rounds: 1, warmup: 0, amount: 5 };

/** A server that answers with the request, escape sequences included, and an error status. */
interface Echo extends AsyncDisposable {
  port: number;
  /** The distinct requests so far. */
  received: Set<string>;
}

async function openEcho(status: number): Promise<Echo> {
  const received = new Set<string>();
  const server = createServer(({ url, headers }, response) => {
    const words = `${url} ${headers.authorization} ${String(headers['x-api-key'])}`;
    received.add(words);
    response.statusCode = status;
    response.end(`\u001B]0;owned\u0007${words}\u009B2J`);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function filesOf(place: Place): string[] {
  return readdirSync(place.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${name}: ${readFileSync(join(parentPath, name), 'utf8')}`);
}

/** Expects that no text contains a secret or a control character. */
function expectClean(texts: string[]): void {
  for (const text of texts) {
    for (const secret of SECRETS) expect(text).not.toContain(secret);
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F]/);
  }
}

/** Prints its command line and its environment, as a server may that cannot start. */
const TELLTALE = `
const { PORT, HOST, SHOP_TOKEN, SHOP_DB } = process.env;
console.log(process.argv.join(' '), SHOP_TOKEN, SHOP_DB);
require('node:http').createServer((request, response) => response.end('ok')).listen(PORT, HOST);
`;

describe('the secrets of an app', () => {
  it('in its command and its environment are passed on, and neither stored nor shown', async () => {
    await using place = new Place();
    const app = join(place.folder, 'shop');
    mkdirSync(app);
    writeFileSync(join(app, 'server.cjs'), TELLTALE);
    const run = 'node server.cjs --api-key flag-key-1';
    const env = { SHOP_TOKEN: 'env-token-1', SHOP_DB: 'postgres://me:env-password-1@db/shop' };
    const args = at(app, { run, get: '/', ...FEW });
    const { status, stdout, stderr } = await place.run('bench', [...args, '--json'], env);
    const texts = [stdout, stderr, ...filesOf(place)];
    for (const secret of ['flag-key-1', ...Object.values(env), 'env-password-1'])
      for (const text of texts) expect(text).not.toContain(secret);
    expect(status).toBe(0);
    expect(texts.join('\n')).toContain('--api-key (not kept) (not kept) postgres://(not-kept)@db/shop');
    const again = await place.run('bench', ['--again', place.runFile().plan.run]);
    expect([again.status, again.stderr]).toEqual([
      2,
      expect.stringMatching(/the command of shop .*holds a secret/),
    ]);
  });
});

/** Prints what its `.env` holds. */
const CONFIDING = `
process.loadEnvFile();
const { PORT, HOST, SHOP_TOKEN, SHOP_DB, SHOP_NAME } = process.env;
console.log(SHOP_NAME, SHOP_TOKEN, SHOP_DB);
require('node:http').createServer((request, response) => response.end('ok')).listen(PORT, HOST);
`;

describe('the secrets in the .env of a project', () => {
  it('are neither stored nor shown, and .env is not copied', async () => {
    await using place = new Place();
    const app = join(place.folder, 'shop');
    mkdirSync(app);
    writeFileSync(join(app, 'server.cjs'), CONFIDING);
    const [token, password] = ['file-token-1', 'file-password-1'];
    const settings = [`SHOP_TOKEN="${token}"`, `SHOP_DB=postgres://me:${password}@db/shop`, 'SHOP_NAME=Shop'];
    writeFileSync(join(app, '.env'), `${settings.join('\n')}\n`);
    const args = at(app, { run: 'node server.cjs', get: '/', ...FEW });
    const { status, stdout, stderr } = await place.run('bench', [...args, '--json']);
    const texts = [stdout, stderr, ...filesOf(place).filter((text) => !text.startsWith('.env: '))];
    for (const text of texts) {
      expect(text).not.toContain(token);
      expect(text).not.toContain(password);
    }
    expect(status).toBe(0);
    expect(texts.join('\n')).toContain('Shop (not kept) postgres://(not-kept)@db/shop');
  });
});

describe('the secrets of a request', () => {
  it('are sent, and neither stored nor shown, in JSON and in detail', async () => {
    await using place = new Place();
    await using echo = await openEcho(403);
    const url = `http://me:open%20sesame@127.0.0.1:${echo.port}/orders?page=2&token=query-token-1`;
    const args = at(url, { header: 'x-api-key: header-key-1', ...FEW });
    const { status, stdout, stderr } = await place.run('bench', [...args, '--json']);
    expect([...echo.received]).toEqual([`/orders?page=2&token=query-token-1 ${BASIC} header-key-1`]);
    expect(status).toBe(1);
    expect(`${stdout}${stderr}`).toContain(`127.0.0.1:${echo.port}/orders?page=2&token=(not-kept)`);
    const detail = await place.run('report', [place.runFile().plan.run, '--detail']);
    expect(detail.stdout).toContain('/orders?page=2&token=(not-kept)');
    expectClean([stdout, stderr, detail.stdout, ...filesOf(place)]);
    expect(place.runFile().plan.userRequests?.requests[0]).toMatchObject({
      headers: { authorization: '(not kept)', 'x-api-key': '(not kept)' },
    });
  });

  it('must be repeated with --again and --resume', async () => {
    await using place = new Place();
    await using echo = await openEcho(200);
    const url = `http://me:open%20sesame@127.0.0.1:${echo.port}/orders?token=query-token-1`;
    await place.run('bench', at(url, { header: 'x-api-key: header-key-1', ...FEW }));
    const sent = [...echo.received];
    expect(sent).toEqual([`/orders?token=query-token-1 ${BASIC} header-key-1`]);
    echo.received.clear();
    const { run } = place.runFile().plan;

    for (const flag of ['--again', '--resume']) {
      const { status, stderr } = await place.run('bench', [flag, run]);
      const orders = `'http://127.0.0.1:${echo.port}/orders?token=(not-kept)'`;
      const headers = "--header 'authorization: …' --header 'x-api-key: …'";
      expect(stderr).toContain(`pnpm bench ${flag} ${run} ${orders} ${headers}\n`);
      expect(status).toBe(2);
    }
    const kept = ['--again', run, '--header', 'accept: text/plain'];
    expect((await place.run('bench', kept)).stderr).toContain('--header accept');
    const other = ['--again', run, `http://127.0.0.1:${echo.port}/others?token=x`];
    expect((await place.run('bench', other)).stderr).toContain(`run ${run} measured http://127.0.0.1:`);
    expect([...echo.received]).toEqual([]);

    const again = ['--again', run, url, '--header', 'x-api-key: header-key-1'];
    const { status, stdout, stderr } = await place.run('bench', again);
    expect(status).toBe(0);
    expect([...echo.received]).toEqual(sent);
    expectClean([stdout, stderr, ...filesOf(place)]);
  });
});
