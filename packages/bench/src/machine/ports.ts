import { connect, createServer, type AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { listenersOn } from './procfs.ts';

/** Returns a TCP port of 127.0.0.1 that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen({ host: '127.0.0.1', port: 0 }, resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => {
    server.close(done);
  });
  return port;
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
