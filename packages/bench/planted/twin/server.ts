/**
 * A server that does so many units of work for every request, beside serialising its answer: two of these that differ in
 * their units are twins whose difference is known. It imports nothing of the project, so that it can be copied anywhere.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

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
let digest = 0;

/** FNV-1a over counted bytes: arithmetic that cannot be optimised away, because it goes on from request to request. */
function work(): void {
  let hash = digest ^ 0x811c9dc5;
  for (let unit = 0; unit < units; unit++) hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
  digest = hash;
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
