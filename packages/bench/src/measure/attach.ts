/** A server that is already running: found, described and loaded, never started or stopped. */

import { lookup } from 'node:dns/promises';
import type { UrlRequest } from '../model.ts';
import { BenchError } from '../errors.ts';
import type { ServerProcess } from '../results/record.ts';
import { identify } from '../machine/identity.ts';
import type { Server } from '../machine/launch.ts';
import type { Launcher } from './launcher.ts';
import { findListener, isThisMachine, whyNotListener } from '../machine/listener.ts';
import { placeBeside, readCores, whyNotPinned } from '../machine/placement.ts';
import { isListening } from '../machine/ports.ts';

/** The address of the server and its process. */
interface Place {
  host: string;
  port: number;
  isRemote: boolean;
  process: ServerProcess | undefined;
  /** The reason why the process is unknown; absent if it is known. */
  unknown?: string;
}

/**
 * The launcher of a server that is already running. Throws a usage error if nothing listens there, or if the process
 * named by `--pid` does not.
 */
export async function attachLauncher({ url, pid }: UrlRequest): Promise<Launcher> {
  const first = await findServer(url, pid);
  return {
    async place(needs) {
      const reason = await whyNotPinned();
      const nothing = { placement: { kind: 'unpinned' as const }, server: [], generator: [] };
      if (reason !== undefined) return { ...nothing, reason };
      return first.isRemote ? nothing : placeBeside(readCores(), first.process?.cores, needs);
    },
    async prepare({ targets }, tell) {
      if (first.unknown !== undefined) tell(`warning: CPU and memory are not measured: ${first.unknown}`);
      const version = describeProcess(first.process);
      return { ready: targets.map((target) => ({ target, attached: true, version })), missing: [] };
    },
    open:
      ({ isStopped }) =>
      async () =>
        toServer(await findServer(url, pid, first.process), isStopped),
  };
}

/** Describes the process of a server in one line, which changes if another program serves. */
export function describeProcess(found: Omit<ServerProcess, 'pid'> | undefined): string {
  if (found === undefined) return 'unknown process';
  const { executable, version, command } = found;
  return [version, executable, command?.join(' ')].filter((part) => part !== undefined).join(', ');
}

async function findServer(url: string, pid?: number, known?: ServerProcess): Promise<Place> {
  const { hostname, port: typed } = new URL(url);
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(typed || 80);
  const addresses = (await lookup(name, { all: true, verbatim: false }).catch(() => [])).map(
    ({ address }) => address,
  );
  let host: string | undefined;
  for (const address of addresses) {
    if (host === undefined && (await isListening(address, port))) host = address;
  }
  if (host === undefined) {
    throw new BenchError(
      'usage',
      `nothing listens on ${hostname}:${port}`,
      'start your server first, or check --url',
    );
  }
  const isRemote = !(await isThisMachine(host));
  const found = await findProcess({ host, port, isRemote }, pid);
  if ('unknown' in found) return { host, port, isRemote, process: undefined, unknown: found.unknown };
  const process = known?.pid === found.pid ? known : await identify(found.pid);
  return { host, port, isRemote, process };
}

async function findProcess(
  { host, port, isRemote }: Pick<Place, 'host' | 'port' | 'isRemote'>,
  pid: number | undefined,
): Promise<{ pid: number } | { unknown: string }> {
  if (isRemote) {
    if (pid === undefined) return { unknown: `${host} is another machine` };
    throw new BenchError('usage', `--pid ${pid}: ${host} is another machine`, 'omit --pid');
  }
  if (pid === undefined) {
    const found = await findListener(host, port);
    return 'unknown' in found ? { unknown: `${found.unknown}; --pid names the process` } : found;
  }
  const wrong = await whyNotListener(pid, host, port);
  if (wrong === undefined) return { pid };
  throw new BenchError('usage', `--pid ${pid}: ${wrong}`, 'omit --pid to have the process found by its port');
}

function toServer({ host, port, isRemote, process }: Place, isStopped: () => boolean): Server {
  return {
    host,
    port,
    ...(isRemote ? { isRemote } : {}),
    ...(process === undefined ? {} : { process }),
    pid: () => process?.pid,
    cgroup: undefined,
    startedAtMs: undefined,
    ended: () => (isStopped() ? 'interrupted' : undefined),
    log: () => '',
    logTail: () => [],
    attestations: () => [],
    stop: async () => ({ files: [], trouble: [] }),
    async [Symbol.asyncDispose]() {},
  };
}
