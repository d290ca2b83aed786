import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Place, flags } from './cli.ts';

const BASIC = `Basic ${Buffer.from('me:open sesame').toString('base64')}`;
/** Must not be stored or shown. */
const SECRETS = ['open sesame', 'open%20sesame', BASIC.slice(6), 'query-token-1', 'header-key-1'];
const FEW = { connections: 1, rounds: 1, warmup: 0, amount: 5 };

/** A server that answers with the request, escape sequences included, and an error status. */
interface Echo extends AsyncDisposable {
  port: number;
  /** The distinct requests so far. */
  asked: Set<string>;
}

async function openEcho(status: number): Promise<Echo> {
  const asked = new Set<string>();
  const server = createServer(({ url, headers }, response) => {
    const words = `${url} ${headers.authorization} ${String(headers['x-api-key'])}`;
    asked.add(words);
    response.statusCode = status;
    response.end(`\u001B]0;owned\u0007${words}\u009B2J`);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    asked,
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

describe('the secrets of a request', () => {
  it.each(['--json', '--detail'])('are sent, and neither stored nor shown, with %s', async (show) => {
    await using place = new Place();
    await using echo = await openEcho(403);
    const url = `http://me:open%20sesame@127.0.0.1:${echo.port}/orders?page=2&token=query-token-1`;
    const args = flags({ url, header: 'x-api-key: header-key-1', ...FEW });
    const { status, stdout, stderr } = await place.run('bench', [...args, show]);
    expect([...echo.asked]).toEqual([`/orders?page=2&token=query-token-1 ${BASIC} header-key-1`]);
    expect(status).toBe(1);
    expect(`${stdout}${stderr}`).toContain(`127.0.0.1:${echo.port}/orders?page=2&token=(not-kept)`);
    expectClean([stdout, stderr, ...filesOf(place)]);
    expect(place.runFile().plan.asked?.requests[0]).toMatchObject({
      headers: { authorization: '(not kept)', 'x-api-key': '(not kept)' },
    });
  });

  it('must be repeated with --again and --resume', async () => {
    await using place = new Place();
    await using echo = await openEcho(200);
    const url = `http://me:open%20sesame@127.0.0.1:${echo.port}/orders?token=query-token-1`;
    await place.run('bench', flags({ url, header: 'x-api-key: header-key-1', ...FEW }));
    const sent = [...echo.asked];
    expect(sent).toEqual([`/orders?token=query-token-1 ${BASIC} header-key-1`]);
    echo.asked.clear();
    const { run } = place.runFile().plan;

    for (const flag of ['--again', '--resume']) {
      const { status, stderr } = await place.run('bench', [flag, run]);
      const orders = `--url 'http://127.0.0.1:${echo.port}/orders?token=(not-kept)'`;
      const headers = "--header 'authorization: …' --header 'x-api-key: …'";
      expect(stderr).toContain(`pnpm bench ${flag} ${run} ${orders} ${headers}\n`);
      expect(status).toBe(2);
    }
    const kept = ['--again', run, '--header', 'accept: text/plain'];
    expect((await place.run('bench', kept)).stderr).toContain('--header accept');
    const other = ['--again', run, '--url', `http://127.0.0.1:${echo.port}/others?token=x`];
    expect((await place.run('bench', other)).stderr).toContain(`run ${run} measured http://127.0.0.1:`);
    expect([...echo.asked]).toEqual([]);

    const again = ['--again', run, '--url', url, '--header', 'x-api-key: header-key-1'];
    const { status, stdout, stderr } = await place.run('bench', again);
    expect(status).toBe(0);
    expect([...echo.asked]).toEqual(sent);
    expectClean([stdout, stderr, ...filesOf(place)]);
  });
});
