/**
 * The reference of a study of warm-up: answers each request with the devices of this trial, serialised anew. Started as
 * a separate process, with the flags of `reference.ts`. It imports nothing of Bench, so that it costs the same everywhere.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { host: { type: 'string' }, port: { type: 'string' } } });
const devices: unknown = JSON.parse(readFileSync(process.env['BENCH_DEVICES'] ?? '', 'utf8'));

const server = createServer({ keepAliveTimeout: 600_000 }, (_request, response) => {
  const body = JSON.stringify(devices);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
