/**
 * A server that does so many units of work for every request, beside serialising its answer: two of these that differ in
 * their units are twins whose difference is known. It imports nothing of the project, so that it can be copied anywhere.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

/** What SHA-256 works at, at a time: the unit. */
const BLOCK_BYTES = 64;

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    units: { type: 'string', default: '0' },
  },
});
const units = Number(values.units);
const file = process.env['BENCH_DEVICES'];
const devices: unknown = file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8'));
/** What is hashed: native code from the first request on, where loops of JavaScript cost what the compiler has made of them by then. */
const bytes = Buffer.alloc(BLOCK_BYTES * units, 'bench');

/** SHA-256 of the units. */
function work(): void {
  hash('sha256', bytes, 'buffer');
}

const server = createServer({ keepAliveTimeout: 75_000 }, (_request, response) => {
  work();
  const body = JSON.stringify(devices);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
