/**
 * A server whose service times are known, so that theory or a simulation gives its capacity. It computes for `--service-ms` per
 * request on one worker, or sleeps as long in a pool. It imports nothing from the project.
 */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    /** The time of each request, or its mean. */
    'service-ms': { type: 'string', default: '2' },
    /** Times are exponential. */
    exponential: { type: 'boolean', default: false },
    /** Requests sleep instead, this many at once. */
    pool: { type: 'string', default: '0' },
    /** The whole server sleeps for this long every 5 s. */
    'pause-ms': { type: 'string', default: '0' },
  },
});
const serviceMs = Number(values['service-ms']);
const pauseMs = Number(values['pause-ms']);
const file = process.env['BENCH_DEVICES'];
const devices: unknown = file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8'));
const PAUSE_EVERY_MS = 5000;

function drawMs(): number {
  return values.exponential ? -serviceMs * Math.log(1 - Math.random()) : serviceMs;
}

function compute(response: ServerResponse): void {
  const ends = performance.now() + drawMs();
  while (performance.now() < ends);
  answer(response);
}

const waiting: ServerResponse[] = [];
let free = Number(values.pool);

/** Sleeps for a request, or lets it wait until one of the pool has ended. */
function sleep(response: ServerResponse): void {
  if (free === 0) {
    waiting.push(response);
    return;
  }
  free--;
  setTimeout(() => {
    free++;
    answer(response);
    const next = waiting.shift();
    if (next !== undefined) sleep(next);
  }, drawMs());
}

function answer(response: ServerResponse): void {
  const body = JSON.stringify(devices);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

const serve = free > 0 ? sleep : compute;
const server = createServer({ keepAliveTimeout: 75_000 }, (_request, response) => serve(response));
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
if (pauseMs > 0) {
  const lock = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.wait(lock, 0, 0, pauseMs), PAUSE_EVERY_MS).unref();
}
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
