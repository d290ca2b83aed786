/** Servers that speak TLS or HTTP/2, from the command line. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, flags, Place } from './cli.ts';
import { CERTIFICATE, KEY } from '../../../bench-lab/testing/certificate.ts';

const SIGNED = `{ key: ${JSON.stringify(KEY)}, cert: ${JSON.stringify(CERTIFICATE)} }`;
const serve = (create: string) =>
  `${create}(request, response) => response.end('tea')).listen(process.env.PORT, '127.0.0.1');`;
const TLS = serve(`require('node:https').createServer(${SIGNED}, `);
const PLAIN = serve(`require('node:http').createServer(`);
const HTTP2 = serve(`require('node:http2').createServer(`);

/** The manifest of a server that speaks TLS. */
const SECURE = {
  name: 'shop',
  language: 'javascript',
  framework: 'none',
  class: 'raw',
  runtime: 'none',
  scheme: 'https',
  default: 'app',
  variants: { app: { command: ['node', 'server.cjs'] } },
  requests: ['GET /'],
};

const REFUSALS: [what: string, server: string, https: boolean, words: string, cure: string][] = [
  [
    'TLS, asked without',
    TLS,
    false,
    'shop does not speak HTTP/1.1 without TLS: GET http://127.0.0.1:PORT/: the server speaks TLS, but the request did not\n',
    'write its stack.json with init',
  ],
  [
    'plain HTTP, asked with TLS',
    PLAIN,
    true,
    'shop does not speak TLS: GET https://127.0.0.1:PORT/: the server responds without TLS\n',
    'remove "scheme" from ',
  ],
  [
    'HTTP/2 without TLS',
    HTTP2,
    false,
    'shop does not speak HTTP/1.1: GET http://127.0.0.1:PORT/: the server speaks HTTP/2 without TLS\n',
    'let the server accept it beside HTTP/2',
  ],
];

function makeShop({ folder }: Place, server: string): string {
  const app = join(folder, 'shop');
  mkdirSync(app);
  writeFileSync(join(app, 'server.cjs'), server);
  return app;
}

describe('a server', () => {
  it.each(REFUSALS)('of %s is recognised', async (_what, server, https, words, cure) => {
    await using place = new Place();
    const app = makeShop(place, server);
    const stack = join(app, 'stack.json');
    writeFileSync(stack, JSON.stringify(SECURE));
    const start = https ? flags({ stack }) : at(app, { run: 'node server.cjs', get: '/' });
    const { status, stderr } = await place.run('bench', [...start, ...flags({ connections: 1, rounds: 1 })]);
    expect(stderr.replaceAll(/(127\.0\.0\.1):\d+/g, '$1:PORT')).toContain(`error: ${words}`);
    expect(stderr).toContain(cure);
    expect(status).toBe(1);
  });

  it('of HTTP/2 is recognised by init', async () => {
    await using place = new Place();
    const { status, stderr } = await place.run('init', [makeShop(place, HTTP2), '--run', 'node server.cjs']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('speaks HTTP/2 without TLS')]);
  });
});

describe('TLS', () => {
  it('measures a server that speaks TLS, and init writes it into the manifest', async () => {
    await using place = new Place();
    const app = makeShop(place, TLS);
    const written = await place.run('init', [app, '--run', 'node server.cjs']);
    expect(written.stdout).toContain('it speaks TLS');
    const load = { connections: 2, rounds: 1, warmup: 0, amount: 40, stack: join(app, 'stack.json') };
    const { status, stdout } = await place.run('bench', [...flags(load), '--new-connections', '--detail']);
    expect(stdout).toMatch(/TLSv1\.3, TLS_\w+/);
    expect(status).toBe(0);
    const [trial] = place.trials();
    expect(trial).toMatchObject({
      measured: {
        load: {
          counts: { sent: 40, ok: 40 },
          opened: { count: 40 },
          tls: { protocol: 'TLSv1.3' },
        },
      },
    });
  });
});
