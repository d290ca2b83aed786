import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { seeProtocol, tlsOf, toOrigin } from '../src/tls.ts';
import { CERTIFICATE, KEY } from '../../bench-lab/testing/certificate.ts';

describe('seeProtocol', () => {
  const signed = { key: KEY, cert: CERTIFICATE };
  const servers: [what: string, server: () => Server, protocol: string | undefined][] = [
    ['TLS', () => createTlsServer(signed, (socket) => socket.on('error', () => {})), 'tls'],
    ['TLS for HTTP/2 alone', () => createTlsServer({ ...signed, ALPNProtocols: ['h2'] }), 'tls'],
    ['HTTP/2 without TLS', () => createHttp2Server(), 'http2'],
    ['HTTP/1.1', () => createHttpServer(), undefined],
    ['nothing', () => createServer((socket) => socket.end()), undefined],
  ];

  it.each(servers)('recognises %s', async (_what, create, protocol) => {
    const server = create().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await seeProtocol('127.0.0.1', port)).toBe(protocol);
    server.close();
  });
});

describe('tlsOf', () => {
  it.each([
    ['http://localhost:1', undefined],
    ['https://localhost:1', { servername: 'localhost', verifies: false }],
    ['https://127.0.0.1:1', { verifies: false }],
    ['https://[::1]:1', { verifies: false }],
    ['https://192.0.2.1', { verifies: true }],
  ])('of %s accepts self-signed certificates on this machine alone', async (url, tls) => {
    expect(await tlsOf(new URL(url))).toEqual(tls);
  });
});

describe('toOrigin', () => {
  it('names the scheme, and puts an IPv6 address in brackets', () => {
    expect(toOrigin({ host: '127.0.0.1', port: 1 })).toBe('http://127.0.0.1:1');
    expect(toOrigin({ host: '::1', port: 1, tls: { verifies: false } })).toBe('https://[::1]:1');
  });
});
