/** Servers whose answers never end: no command waits for them beyond its deadline. */
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Place, flags, hasProc } from './cli.ts';

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
const SWITCHED =
  /GET \S+: the server switched the protocol to websocket \(status 101\)\. Only HTTP can be measured/;

it.skipIf(!hasProc).for<[string, (socket: Socket) => void, RegExp]>([
  ['switches the protocol', (socket) => socket.write(SWITCH), SWITCHED],
  [
    'sends half a head',
    (socket) => socket.write('HTTP/1.1 200 OK\r\nX-'),
    /the answer did not end within \d/,
  ],
  ['says nothing', () => {}, /no right answer within 1 s: it accepts connections and does not answer/],
])('a running server that %s fails within its deadline', async ([, fault, says]) => {
  await using place = new Place();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => fault(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ws`;
  const { status, stderr } = await place.run('bench', flagsFor({ url }));
  expect(stderr).toMatch(says);
  expect(status).toBe(1);
  expect(existsSync(place.lock)).toBe(false);
  server.close();
  await place.untilGone();
});

function flagsFor(more: Record<string, string>): string[] {
  return flags({ 'start-timeout': 1, connections: 1, rounds: 1, ...more });
}

/** Creates the file `asked` with its first request. */
const SERVER = `
import { createServer } from 'node:net';
import { writeFileSync } from 'node:fs';
createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    writeFileSync('asked', '');
    if (process.argv[2] === 'switches') socket.write(${JSON.stringify(SWITCH)});
  });
}).listen(process.env.PORT, '127.0.0.1');
`;

function writeStack(folder: string): string {
  const manifest = join(folder, 'stack.json');
  const command = ['node', 'server.mjs'];
  writeFileSync(join(folder, 'server.mjs'), SERVER);
  writeFileSync(
    manifest,
    JSON.stringify({
      name: 'hangs',
      language: 'javascript',
      framework: 'none',
      class: 'raw',
      runtime: 'none',
      default: 'silent',
      variants: { silent: { command }, switches: { command: [...command, 'switches'] } },
      requests: ['GET /ws'],
    }),
  );
  return manifest;
}

it.skipIf(!hasProc)('a server that switches the protocol is refused at its first answer', async () => {
  await using place = new Place();
  const stack = writeStack(place.folder);
  const patient = { 'start-timeout': '3600', timeout: '3600' };
  const { status, stderr } = await place.run('bench', ['hangs/switches', ...flagsFor({ stack, ...patient })]);
  expect(stderr).toMatch(SWITCHED);
  expect(status).toBe(1);
  expect(existsSync(place.lock)).toBe(false);
  await place.untilGone();
});

it.skipIf(!hasProc)('SIGTERM ends the wait for an answer, and releases the lock', async () => {
  await using place = new Place();
  const stack = writeStack(place.folder);
  const patient = { 'start-timeout': '3600', timeout: '3600' };
  const running = place.start('bench', ['hangs/silent', ...flagsFor({ stack, ...patient })]);
  await running.until(() => existsSync(join(place.folder, 'asked')), 'the first request');
  running.signal('SIGTERM');
  const { status, stderr } = await running.ended;
  expect(stderr).toContain('stopping: nothing has been measured yet');
  expect(status).toBe(130);
  expect(existsSync(place.lock)).toBe(false);
  await place.untilGone();
});
