/**
 * A server whose service times are known, so that theory or a simulation gives its capacity. It computes for `--service-ms` per
 * request on one worker, or sleeps as long in a pool. At its end it appends how long a request took it to the file that PLANTED_TIMES
 * names. It imports nothing from the project.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';

const { createServer } = process.getBuiltinModule('node:http');
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

/** Answers, and the time for which they held a place of the pool. */
let [answers, heldMs, pauses] = [0, 0, 0];
let atFirst: ReturnType<typeof performance.eventLoopUtilization> | undefined;

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
  const from = performance.now();
  setTimeout(() => {
    free++;
    heldMs += performance.now() - from;
    answer(response);
    const next = waiting.shift();
    if (next !== undefined) sleep(next);
  }, drawMs());
}

function answer(response: ServerResponse): void {
  const body = JSON.stringify(devices);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
  answers++;
}

const isPool = free > 0;
const server = createServer({ keepAliveTimeout: 75_000 }, (_request, response) => {
  atFirst ??= performance.eventLoopUtilization();
  (isPool ? sleep : compute)(response);
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
if (pauseMs > 0) {
  const lock = new Int32Array(new SharedArrayBuffer(4));
  const pause = (): void => {
    Atomics.wait(lock, 0, 0, pauseMs);
    if (atFirst !== undefined) pauses++;
  };
  setInterval(pause, PAUSE_EVERY_MS).unref();
}

/** The mean time that a request takes a worker: its place of the pool, or the event loop with all that it does. */
function meanMs(): number {
  const { active } = performance.eventLoopUtilization(atFirst);
  return (isPool ? heldMs : active - pauses * pauseMs) / answers;
}

process.once('SIGTERM', () => {
  const times = process.env['PLANTED_TIMES'];
  if (times !== undefined && answers > 0)
    appendFileSync(times, `${JSON.stringify({ ...values, meanMs: meanMs() })}\n`);
  server.close();
  server.closeAllConnections();
});
