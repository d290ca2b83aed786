import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathOf } from '@bench/upstream/fixtures';

/** The upstream of one server, in this process. */
export interface Upstream extends AsyncDisposable {
  url: string;
  /** The fixtures that it has, by their path. */
  fixtures: ReadonlyMap<string, string>;
  /** The path of each request so far. */
  paths: string[];
  /** Answers each request; by default with its fixture. */
  behave: RequestListener;
}

/** Serves fixtures. */
export async function openUpstream(texts: string[]): Promise<Upstream> {
  const fixtures = new Map(texts.map((text, fixture) => [pathOf(fixture), text]));
  // A kept connection is never closed while its client uses it.
  const server = createServer({ keepAliveTimeout: 3_600_000 }, (request, response) => {
    upstream.paths.push(request.url ?? '');
    upstream.behave(request, response);
  });
  const upstream: Upstream = {
    url: '',
    fixtures,
    paths: [],
    behave: ({ url = '' }, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(fixtures.get(url)),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  upstream.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return upstream;
}
