/**
 * A server whose cost per request changes over its life in a known way. Its work is JavaScript and memory, as in most
 * servers. Started without optimising compilers and with a young generation of fixed size, its own part of the cost does
 * not change.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

/** The data that a unit of work copies and renders. */
const ITEM = { id: 17, name: 'sensor', site: 'north wing', isOnline: true, readings: [21.5, 21.7, 21.4] };

/** The units of work before the server listens: about a third of a second. */
const STARTING_UNITS = 1_000_000;

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    /** The work for each request, in units. */
    units: { type: 'string', default: '0' },
    /** The work that is added while the server is expensive. */
    more: { type: 'string', default: '0' },
    /** It is expensive for its first requests. */
    'dear-requests': { type: 'string' },
    /** It is expensive for the first seconds after its first request. */
    'dear-seconds': { type: 'string' },
    /** It is expensive in every other period of this many seconds. */
    'dear-every': { type: 'string' },
    /** The work grows by `--more` over this many seconds, and goes on growing. */
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
const file = process.env['BENCH_DEVICES'];
const devices: unknown = file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8'));
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
    Math.floor(age / numbers.dearEvery) % 2 === 1;
  requests++;
  return units + (isDear ? more : 0) + Math.min(10, age / numbers.leakSeconds) * more;
}

/** Does this many units of work, and returns the length of what it has rendered. */
function render(work: number): number {
  let length = 0;
  for (let unit = 0; unit < work; unit++) length += JSON.stringify({ ...ITEM, unit }).length;
  return length;
}

const server = createServer({ keepAliveTimeout: 75_000 }, (_request, response) => {
  render(Math.round(unitsNow()));
  const body = JSON.stringify(devices);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
// The young generation and the caches of the work belong to the start, not to the course.
render(STARTING_UNITS);
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
