/**
 * A server of `devices` with one fault: `node server.mjs <port> <fault> <connection> <request>`. All is right until this
 * request of this or a later connection, both counted from 1; from then on, every answer is faulty. With the word `waits` as its
 * last one, requests count from SIGUSR2 on. Tests start it a hundred times, so it is JavaScript: to strip types takes longer than all else.
 */
// oxlint-disable-next-line no-restricted-imports -- its children outlive it, which no other program wants
import { spawn } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';

const [port = '0', fault = 'none', connection = '1', request = '1', waits = ''] = process.argv.slice(2);
const body = readFileSync(process.env['BENCH_DEVICES'] ?? '/dev/null', 'utf8').trim();
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const RIGHT = answer(body);
const BACKLOG = 1024;
/** At full speed, its load would keep two cores busy. */
const DELAY_MS = 5;
const SELF = process.argv[1] ?? '';

function answer(text, { status = '200 OK', length = Buffer.byteLength(text), more = '' } = {}) {
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n${text}`;
}

function die(signal) {
  process.kill(process.pid, signal);
  block();
}

/** Stops this thread: no timer, no signal handler and no socket is served any more. */
function block() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Writes a text again and again, as fast as the client reads. */
function pour(socket, text) {
  while (!socket.destroyed && socket.write(text));
  if (!socket.destroyed) socket.once('drain', () => pour(socket, text));
}

/** Starts a process of this file that outlives this one. */
function fork(words) {
  spawn(process.execPath, [SELF, ...words], { detached: true, stdio: 'ignore' }).unref();
}

/** The faults of an answer. */
const OF_ANSWERS = {
  'exits with 0': () => process.exit(0),
  'is killed by SIGSEGV': () => die('SIGSEGV'),
  'is killed by SIGKILL': () => die('SIGKILL'),
  'runs out of memory': () => {
    const kept = [];
    for (;;) kept.push(Array.from({ length: 2 ** 17 }).fill(kept.length));
  },
  'is stopped by SIGSTOP': () => process.kill(process.pid, 'SIGSTOP'),
  'says nothing': () => {},
  'stops listening': (socket) => {
    if (listening?.listening === true) {
      listening.close();
      // It must outlive its connections.
      setInterval(() => {}, 1e6);
    }
    socket.write(RIGHT);
  },
  'sends a body without an end': (socket) => {
    socket.write(`${HEAD}\r\n`);
    pour(socket, 'x'.repeat(16_384));
  },
  'announces a longer body': (socket) => socket.write(answer(body, { length: Buffer.byteLength(body) + 10 })),
  'sends chunks of garbage': (socket) =>
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n${body}\r\n0\r\n\r\n`),
  'speaks no HTTP': (socket) =>
    socket.write(Buffer.from(Array.from({ length: 512 }, (_, at) => (at * 97) % 256))),
  'answers twice': (socket) => socket.write(RIGHT + RIGHT),
  'redirects in a circle': (socket) =>
    socket.write(answer('', { status: '302 Found', more: 'Location: /api/devices\r\n' })),
  'answers with an error': (socket) => socket.write(answer('{"error":"no"}', { status: '500 Oops' })),
  'answers with a wrong body': (socket) => socket.write(answer(body.replace('"', "'"))),
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'closes the connection': (socket) => socket.destroy(),
  'closes in the middle of the body': (socket) => socket.end(RIGHT.slice(0, -20)),
};

/** The faults of a whole life, from its start. */
const OF_LIVES = {
  none: () => {},
  'exits with 1 at its start': () => {
    process.stderr.write("Error: Cannot find module 'orm'\n");
    process.exit(1);
  },
  'never listens': block,
  'forks away': () => {
    fork([port, 'none']);
    process.exit(0);
  },
  'listens on another port': () => serve(0),
  'listens on IPv6 alone': () => serve(Number(port), '::1'),
  'prints codes': () => process.stdout.write(`\u001B[2J\u001B]0;owned\u0007${'\u0000\u0008'.repeat(100)}\n`),
  'floods its log': () => {
    const line = Buffer.alloc(2 ** 20, `${'x'.repeat(119)}\n`);
    for (let count = 0; count < 300; count++) writeSync(1, line);
  },
  'prints one line without an end': () => void writeSync(1, Buffer.alloc(2 ** 24, 'x')),
  'attests garbage': () =>
    process.stdout.write('bench-attest {"mypyc": tru\nbench-attest []\nbench-attest null\n'),
  'ignores SIGTERM': () => void process.on('SIGTERM', () => {}),
  'crashes at SIGTERM': () => void process.on('SIGTERM', () => die('SIGSEGV')),
  'leaves children behind': () => {
    for (let count = 0; count < 5; count++) fork(['0', 'ignores SIGTERM']);
  },
};

const SERVES_ITSELF = new Set(['listens on another port', 'listens on IPv6 alone']);

let listening;
let connections = 0;
let isCounting = waits === '';
let hasBegun = false;

const ofLife = OF_LIVES[fault];
const ofAnswer = OF_ANSWERS[fault];
if (ofLife === undefined && ofAnswer === undefined) throw new Error(`unknown fault "${fault}"`);
ofLife?.();
process.on('SIGUSR2', () => {
  isCounting = true;
});
if (!SERVES_ITSELF.has(fault)) serve(Number(port));

function serve(at, host = '127.0.0.1') {
  listening = createServer({ noDelay: true }, accept).listen({ port: at, host, backlog: BACKLOG });
}

function accept(socket) {
  let text = '';
  let requests = 0;
  const isLate = ++connections >= Number(connection);
  socket.on('error', () => {});
  socket.on('data', (piece) => {
    text += piece.toString('latin1');
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
      text = text.slice(end + 4);
      hasBegun ||= isCounting && isLate && ++requests >= Number(request);
      const reply = ofAnswer !== undefined && hasBegun ? ofAnswer : (to) => to.write(RIGHT);
      setTimeout(() => reply(socket), DELAY_MS);
    }
  });
}
