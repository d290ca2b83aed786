import { writeSync } from 'node:fs';
import { type Server, type Socket, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Account } from './account.ts';
import { prepareAnswers } from './answers.ts';
import { Connection, type House, type Treatment } from './connection.ts';
import { Faults } from './faults.ts';
import { type Options, plantedFaults, readOptions } from './options.ts';

/** Longer than any connection ladder, so that the accept queue never limits a measurement. */
const BACKLOG = 16_384;

const EARLY_HINTS = Buffer.from(
  'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload; as=style\r\n\r\n',
);

const { createServer: createHttpServer } = process.getBuiltinModule('node:http');
const options = readOptionsOrExit();
const account = new Account(plantedFaults(options));
const faults = new Faults(options, account, die);
const house = furnish();
/** The open connections that get answers, for `--serve-only`. */
let served = 0;

process.on('SIGTERM', stop);
process.on('SIGINT', stop);

if (options['never-bind']) {
  setInterval(() => {}, 60_000);
} else {
  await sleep(options['bind-after-ms']);
  const accountPort = await listen(accountServer(), options['account-port']);
  const load = createServer({ allowHalfOpen: true, noDelay: true }, accept);
  const port = await listen(load, options.port);
  const more: object = JSON.parse(options['attest-as']);
  attest({ port, accountPort, ...more });
  if (options['gil-taken-by'] !== '') {
    process.stderr.write(warnOfGil(options['gil-taken-by']));
    attest({ port, accountPort, ...more, gil: true });
  }
}

function furnish(): House {
  const framing = options.http10 ? 'http10' : 'keep-alive';
  const closeAfterAnswer = options.http10 || options['close-after-response'] || options['close-silently'];
  return {
    account,
    faults,
    queues: new Map(),
    interim: options['early-hints'] ? EARLY_HINTS : Buffer.alloc(0),
    duplicateAfterMs: options['duplicate-after-ms'],
    answers: prepareAnswers(options['close-after-response'] ? 'close' : framing),
    lastAnswers: prepareAnswers('close'),
    closeAfterAnswer,
    waits: options['delay-ms'] > 0,
    heldAnswers: options['held-after'],
  };
}

function accept(socket: Socket): void {
  const how = treatment();
  if (how === 'serve' && options['serve-only'] > 0 && faults.begun) countServed(socket);
  // oxlint-disable-next-line no-new -- the socket's listeners keep it
  new Connection(socket, house, how);
}

function countServed(socket: Socket): void {
  served++;
  let gone = false;
  const leave = (): void => {
    if (!gone) served--;
    gone = true;
  };
  socket.once('end', leave).once('close', leave);
}

function treatment(): Treatment {
  if (!faults.begun) return 'serve';
  if (options['accept-and-close']) return 'closeAtAccept';
  if (options['serve-only'] === 0) return 'serve';
  return served < options['serve-only'] ? 'serve' : 'neverAnswer';
}

/** Answers `GET /account`. With `?latency=restart`, the next reading covers only latencies after this one. */
function accountServer(): Server {
  return createHttpServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://planted');
    if (request.method !== 'GET' || pathname !== '/account') {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.stringify(account.snapshot('reading'));
    if (searchParams.get('latency') === 'restart') account.restartLatency();
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(body);
  });
}

async function listen(server: Server, port: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.once('error', (error) => {
    process.stderr.write(`planted: ${error.message}\n`);
    process.exit(1);
  });
  server.listen({ host: options.host, port, backlog: BACKLOG }, resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}

/** Returns the warning of CPython when a free-threaded build enables the GIL. */
function warnOfGil(module: string): string {
  return `<frozen importlib._bootstrap>:491: RuntimeWarning: The global interpreter lock (GIL) has been enabled to load module '${module}', which has not declared that it can run safely without the GIL. To override this behavior and keep the GIL disabled (at your own risk), run with PYTHON_GIL=0 or -Xgil=0.\n`;
}

function attest(more: object): void {
  const line = {
    pid: process.pid,
    implementation: 'node',
    version: process.versions.node,
    framework: 'planted',
    server: 'node:net',
    ...more,
  };
  print('bench-attest', line);
}

function stop(signal: NodeJS.Signals): void {
  print('planted-account', account.snapshot(signal));
  if (!options['ignore-sigterm']) process.exit(0);
}

function die(): void {
  account.requests.pending++;
  print('planted-account', account.snapshot('death'));
  process.exit(1);
}

/** Writes one line to stdout synchronously, so that it is out before the process can end. */
function print(name: string, value: unknown): void {
  try {
    writeSync(1, `${name} ${JSON.stringify(value)}\n`);
  } catch {
    // The reader has closed the pipe; the account port still works.
  }
}

function readOptionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`planted: ${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(2);
  }
}
