import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import getPort from 'get-port';
import { listenersOn, readProcess } from './procfs.ts';

/**
 * The ports for servers: below those that Linux (32768) and macOS (49152) give to outgoing connections by default, so that
 * no connection takes a port between the search for it and the start of its server.
 */
const PORTS = { first: 20_000, count: 12_000 };
const MOST_TRIES = 100;

/**
 * Finds a free TCP port of an address of this machine. Nothing reserves it: harnesses that run at the same time, as in tests, take
 * it from parts of the range by `BENCH_PORTS` (`2/5`: the second of five). Throws the error of node:net if there is none.
 */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  const [part = 1, parts = 1] = (process.env['BENCH_PORTS'] ?? '1/1').split('/').map(Number);
  const count = Math.floor(PORTS.count / parts);
  const first = PORTS.first + (part - 1) * count;
  return getPort({ host, port: Array.from({ length: MOST_TRIES }, () => first + randomInt(count)) });
}

/** Returns the addresses of this machine. */
export function listOwnAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
}

/** Formats host and port for a URL: an IPv6 address in brackets. */
export function toAuthority({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the host and the port of a URL: an IPv6 address without brackets. */
export function endpointOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  };
}

/** Returns true if something accepts connections on the port. */
export async function isListening(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: 1000 })
    .once('connect', () => resolve(true))
    .once('error', () => resolve(false))
    .once('timeout', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** Describes the listeners of a port: process ids and names if the platform reports them. */
export function describeListeners(port: number): string {
  if (process.platform !== 'linux') return `a process that lsof -i :${port} names`;
  const holders = listenersOn(port).map((pid) => `process ${pid} (${readProcess(pid)?.command ?? 'gone'})`);
  return holders.length > 0 ? holders.join(', ') : 'a process of another user';
}

/** Returns true if a port has listeners, and each is known to have started at such a time, in ticks since the boot. */
export function haveListenersStarted(port: number, test: (startTicks: number) => boolean): boolean {
  const starts = listenersOn(port).map((pid) => readProcess(pid)?.startTicks ?? NaN);
  return starts.length > 0 && starts.every(test);
}
