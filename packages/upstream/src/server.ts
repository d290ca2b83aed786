/**
 * Serves the fixtures of its working folder from memory and counts every request. It replaces nginx where that is
 * missing.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { listen, serve } from '@bench/contract';

const fixtures = new Map(
  readdirSync('fixtures').map((name) => [`/fixtures/${name}`, readFileSync(`fixtures/${name}`)]),
);
let requests = 0;

await serve(undefined, async (settings) => {
  // A kept connection is never closed while its client uses it.
  const server = createServer({ keepAliveTimeout: 3_600_000 }, ({ url = '' }, response) => {
    requests++;
    const body = url === '/count' ? Buffer.from(String(requests)) : fixtures.get(url);
    if (body === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
  return listen(server, settings);
});
