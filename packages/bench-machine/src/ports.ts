import { randomInt } from 'node:crypto';
import { connect, createServer, type AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { listenersOn } from './procfs.ts';

/**
 * The ports for servers: below those that Linux (32768) and macOS (49152) give to outgoing connections by default, so that
 * no connection takes a port between the search for it and the start of its server.
 */
const PORTS = { first: 20_000, count: 12_000 };
const MOST_TRIES = 100;

/** Finds a free TCP port of an address of this machine; nothing reserves it. Throws the error of node:net if there is none. */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const port = PORTS.first + randomInt(PORTS.count);
    const isFree = await tryPort(host, port).then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
  return tryPort(host, 0);
}

/** Listens on the port for a moment and returns it; for port 0 the one that the system chose. */
async function tryPort(host: string, port: number): Promise<number> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen({ host, port }, resolve);
  await promise;
  const { port: found } = server.address() as AddressInfo;
  await new Promise((done) => {
    server.close(done);
  });
  return found;
}

/** Formats host and port for a URL: an IPv6 address in brackets. */
export function toAuthority({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns true if something accepts connections on the port. */
export async function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket
      .once('connect', () => settle(true))
      .once('error', () => settle(false))
      .once('timeout', () => settle(false));
  });
}

/** Describes the listeners of a port: process ids and names if the platform reports them. */
export function describeListeners(port: number): string {
  if (process.platform !== 'linux') return `a process that lsof -i :${port} names`;
  const holders = listenersOn(port).map((pid) => `process ${pid} (${nameOf(pid)})`);
  return holders.length > 0 ? holders.join(', ') : 'a process of another user';
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'gone';
  }
}
