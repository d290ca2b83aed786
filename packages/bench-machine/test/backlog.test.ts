import { createServer, connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import pWaitFor from 'p-wait-for';
import { describe, expect, it } from 'vitest';
import { parseBacklog, readBacklog } from '../src/backlog.ts';
import { parseListening, readWaiting } from '../src/procfs.ts';
import { start } from '../src/subprocess.ts';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:0000002A 00:00000000 00000000     0        0 32734 1 0
   1: 00000000:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 640 1 0
   2: 00000000:1F91 00000000:0000 0A 00000000:00000063 00:00000000 00000000     0        0 641 1 0
   3: 0100007F:1F90 0100007F:D2F0 01 00000000:00000010 00:00000000 00000000     0        0 99 1 0
`;

describe('the accept queue in the tables of the kernel', () => {
  it('is read for each listener of the port, and for no connection', () => {
    expect(parseListening(TABLE, 0x1f90).map(({ waiting }) => waiting)).toEqual([42, 3]);
    expect(parseListening(TABLE, 80)).toEqual([]);
  });
});

describe('the backlog that ss prints', () => {
  it('is the smallest of all listeners of the port', () => {
    expect(parseBacklog('LISTEN 0 4096 127.0.0.1:80 0.0.0.0:*\nLISTEN 3 511 [::1]:80 [::]:*\n')).toBe(511);
    expect(parseBacklog('')).toBeUndefined();
  });

  it('is not known for another machine', async () => {
    expect(await readBacklog('192.0.2.1', 80)).toBeUndefined();
  });
});

/** Listens, prints its port and never accepts: its loop is blocked. */
const DEAF = `const server = require('node:net').createServer().listen({ host: '127.0.0.1', port: 0, backlog: 77 }, () => {
  require('node:fs').writeSync(1, String(server.address().port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

describe.runIf(process.platform === 'linux')('a server that accepts nothing', () => {
  it('shows each connection in its queue', async () => {
    const child = start({ stdio: ['ignore', 'pipe', 'inherit'] })`exec ${[process.execPath, '-e', DEAF]}`;
    try {
      const [printed] = (await once(child.stdout as Readable, 'data')) as [Buffer];
      const port = Number(printed.toString());
      expect(readWaiting(port)).toBe(0);
      const sockets = Array.from({ length: 20 }, () => connect({ host: '127.0.0.1', port }));
      await pWaitFor(() => readWaiting(port) === 20);
      for (const socket of sockets) socket.destroy();
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('is found among those of others, and not once it has closed', async () => {
    // Their lines do not fit into one piece of the table.
    const servers = Array.from({ length: 20 }, () => createServer().listen(0, '127.0.0.1'));
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    const readAll = (): (number | undefined)[] => ports.map((port) => readWaiting(port));
    expect(readAll()).toEqual(ports.map(() => 0));
    for (const server of servers) server.close();
    await Promise.all(servers.map((server) => once(server, 'close')));
    expect(readAll()).toEqual(ports.map(() => undefined));
  });
});
