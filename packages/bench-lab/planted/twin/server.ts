/**
 * A server that does `--units` units of work per request and, with `--later`, that many 50 ms after its answer. Two of them with
 * different units are twins with a known difference; both have a timer, or none has. It imports nothing from the project, so that it can be copied anywhere.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { createServer } = process.getBuiltinModule('node:http');
/** The block size of SHA-256, which is the unit. */
const BLOCK_BYTES = 64;
const LATER_MS = 50;

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    units: { type: 'string', default: '0' },
    later: { type: 'string' },
  },
});
const file = process.env['BENCH_DEVICES'];
const devices: unknown = file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8'));
/** The input of a hash. Hashing is native code, so it costs the same before and after the compiler has optimised. */
const bytesOf = (units: string): Buffer => Buffer.alloc(BLOCK_BYTES * Number(units), 'bench');
const bytes = bytesOf(values.units);
const laterBytes = values.later === undefined ? undefined : bytesOf(values.later);

const server = createServer({ keepAliveTimeout: 75_000 }, (_request, response) => {
  hash('sha256', bytes, 'buffer');
  const body = JSON.stringify(devices);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
  if (laterBytes !== undefined) setTimeout(() => hash('sha256', laterBytes, 'buffer'), LATER_MS);
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
