/**
 * A server whose cost per request changes over its life in a known way. Like the twins, it burns native code: SHA-256 of
 * `--units` blocks for each request. Started without optimising compilers, its own part of the cost does not change.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

/** A unit of work: the bytes that SHA-256 takes at a time. */
const BLOCK_BYTES = 64;
/** The units between two passes over the same bytes. They stay in a small cache, so that each unit costs the same. */
const PASS_UNITS = 256;

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    /** The work for each request. */
    units: { type: 'string', default: '0' },
    /** The work that is added while the server is dear. */
    more: { type: 'string', default: '0' },
    /** It is dear for its first requests. */
    'dear-requests': { type: 'string' },
    /** It is dear for the first seconds after its first request. */
    'dear-seconds': { type: 'string' },
    /** It is dear in every other period of so many seconds. */
    'dear-every': { type: 'string' },
    /** Half of the processes are dear for life: the process id decides. */
    'dear-by-coin': { type: 'boolean', default: false },
    /** The work grows by `--more` over so many seconds, and goes on growing. */
    'leak-seconds': { type: 'string' },
  },
});
const units = Number(values.units);
const more = Number(values.more);
const numbers = {
  dearRequests: Number(values['dear-requests'] ?? 0),
  dearSeconds: Number(values['dear-seconds'] ?? 0),
  dearEvery: Number(values['dear-every'] ?? Infinity),
  leakSeconds: Number(values['leak-seconds'] ?? Infinity),
};
// Process ids of neighbours alternate; the product spreads them.
const isDearKind = values['dear-by-coin'] && (Math.imul(process.pid, 0x9e37_79b1) >>> 16) % 2 === 1;
const file = process.env['BENCH_DEVICES'];
const devices: unknown = file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8'));
const bytes = Buffer.alloc(BLOCK_BYTES * PASS_UNITS, 'bench');
let requests = 0;
let bornMs = 0;

/** The work for the current request. */
function unitsNow(): number {
  const now = performance.now();
  if (requests === 0) bornMs = now;
  const age = (now - bornMs) / 1000;
  const isDear =
    requests < numbers.dearRequests ||
    age < numbers.dearSeconds ||
    Math.floor(age / numbers.dearEvery) % 2 === 1 ||
    isDearKind;
  requests++;
  return units + (isDear ? more : 0) + Math.min(10, age / numbers.leakSeconds) * more;
}

function burn(work: number): void {
  for (let left = Math.round(work); left > 0; left -= PASS_UNITS) {
    hash('sha256', bytes.subarray(0, BLOCK_BYTES * left), 'buffer');
  }
}

const server = createServer({ keepAliveTimeout: 75_000 }, (_request, response) => {
  burn(unitsNow());
  const body = JSON.stringify(devices);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
