import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isHeldBack } from 'bench-analysis/judge/judge';
import { askAlone } from '../../src/measure/alone.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n';
const request = { method: 'GET', path: '/', headers: {} };

describe.skipIf(process.platform !== 'linux')('askAlone', () => {
  it.each([
    [
      'sends head and body apart',
      true,
      (socket: Socket) => {
        socket.write(HEAD);
        setImmediate(() => socket.write('hello'));
      },
    ],
    ['sends both at once', false, (socket: Socket) => void socket.write(`${HEAD}hello`)],
    [
      'waits for as long as an acknowledgement is delayed',
      false,
      (socket: Socket) => {
        setTimeout(() => socket.write(`${HEAD}hello`), 44);
      },
    ],
  ])('shows that a server %s', async (_what, isHeld, answer) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket
        .setNoDelay(false)
        .on('data', () => answer(socket))
        .on('error', () => {});
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const endpoint = { host: '127.0.0.1', port, ended: () => undefined, logTail: () => [] };
    const alone = await askAlone(endpoint, [{ request, weight: 1 }], 10);
    expect(alone.keptUs).toBeGreaterThan(0);
    expect(isHeldBack(alone)).toBe(isHeld);
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});
