/** The load driver against a server that speaks TLS. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { OWN_TLS } from 'bench-machine/tls';
import type { LoadResult } from 'bench-model/load';
import { createFleetEngine } from '../src/fleet.ts';
import { CERTIFICATE, KEY } from '../../bench-lab/testing/certificate.ts';

const GENERATOR = fileURLToPath(new URL('../src/generator.ts', import.meta.url));
const AMOUNT = 60;
/** More than one record of TLS holds. */
const BODY = 'x'.repeat(40_000);

/** Loads a TLS server with this many requests on two connections. Returns the account of both sides. */
async function load(headers: Record<string, string>): Promise<{ seen: LoadResult; accepted: number }> {
  let accepted = 0;
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (_, response) => response.end(BODY))
    .on('secureConnection', () => accepted++)
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const engine = createFleetEngine({ name: 'autocannon', argv: [process.execPath, GENERATOR] });
  const sha256 = createHash('sha256').update(BODY).digest('hex');
  await using session = engine.open(
    {
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      tls: OWN_TLS,
      requests: [{ method: 'GET', path: '/', headers }],
      connections: 2,
      timeoutSeconds: 10,
      barrierSeconds: 10,
      expected: [{ bytes: BODY.length, sha256 }],
      hashEvery: 1,
    },
    1,
  );
  await session.arm();
  const amount = { mode: 'amount', requests: AMOUNT } as const;
  const seen = await session.fire({ warmupSeconds: 0, windowSeconds: 30, load: amount }, () => {});
  server.close();
  return { seen, accepted };
}

describe('a load over TLS', () => {
  it('accounts for every request, and tells protocol, cipher and handshakes', async () => {
    const { seen, accepted } = await load({});
    expect(seen.counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT });
    expect(seen.bodiesHashed).toBe(seen.lifetime?.ok);
    expect(seen.opened).toEqual({ count: 0 });
    expect(seen.tls).toEqual({
      protocol: 'TLSv1.3',
      cipher: expect.stringMatching(/^TLS_/) as string,
    });
    expect(accepted).toBe(2);
  });

  it('makes a handshake for each request if connections are not kept', async () => {
    const { seen, accepted } = await load({ connection: 'close' });
    expect(seen.counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT });
    expect(seen.opened).toMatchObject({ count: AMOUNT });
    expect(accepted).toBe(seen.lifetime?.sent);
  });
});
