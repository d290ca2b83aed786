/** A server that is already running: found, described and loaded, never started or stopped. */

import { lookup } from 'node:dns/promises';
import type { AttachedServer } from 'bench-model/requests';
import type { Target } from 'bench-model/target';
import { UsageError } from 'bench-model/errors';
import type { ServerProcess } from 'bench-model/record';
import { identify } from 'bench-machine/identity';
import type { Server } from 'bench-machine/launch';
import type { Launcher } from './launcher.ts';
import { findListener, isThisMachine } from 'bench-machine/listener';
import { placeBeside, usableCores, whyNotPinned } from 'bench-machine/placement';
import { endpointOf, isListening, toAuthority } from 'bench-machine/ports';
import { tlsOf, type Tls } from 'bench-machine/tls';

/** The address of the server and its process. */
interface Place {
  url: string;
  host: string;
  port: number;
  tls: Tls | undefined;
  isRemote: boolean;
  process: ServerProcess | undefined;
  /** The reason why the process is unknown; absent if it is known. */
  unknown?: string;
}

/** The launcher of servers that are already running. Throws a usage error if nothing listens at one of them. */
export async function attachLauncher(servers: readonly AttachedServer[]): Promise<Launcher> {
  const places = new Map<string, Place>();
  for (const { target, url } of servers) places.set(target, await findServer(url));
  const found = [...places.values()];
  refuseSame(places);
  return {
    async place(needs) {
      const reason = await whyNotPinned();
      const nothing = { placement: { kind: 'unpinned' as const }, server: [], generator: [] };
      if (reason !== undefined) return { ...nothing, reason };
      const here = found.filter(({ isRemote }) => !isRemote);
      if (here.length === 0) return nothing;
      const cores = here.map((one) => one.process?.cores);
      const known = cores.filter((one) => one !== undefined);
      const allowed = known.length < cores.length ? undefined : [...new Set(known.flat())];
      return placeBeside(usableCores(), allowed, needs);
    },
    async prepare({ targets }, tell) {
      const isOne = found.length === 1;
      for (const [target, { unknown }] of places) {
        if (unknown === undefined) continue;
        tell(`warning: CPU and memory ${isOne ? '' : `of ${target} `}are not measured: ${unknown}`);
      }
      const ready = targets.map((target) => ({
        target,
        attached: true as const,
        version: describeProcess(placeOf(target.id, places, targets).process),
      }));
      return { ready, missing: [] };
    },
    open:
      ({ plan, stopped }) =>
      async (_prepared, planned) => {
        const { url, process } = placeOf(planned.target, places, plan.targets);
        return toServer(await findServer(url, process), stopped);
      },
  };
}

/** The place of a target, also of one that repeats another. */
function placeOf(id: string, places: ReadonlyMap<string, Place>, targets: readonly Target[]): Place {
  const place = places.get(id);
  if (place !== undefined) return place;
  const repeats = targets.find((one) => one.id === id)?.repeats;
  if (repeats === undefined) throw new Error(`no server of ${id}`);
  return placeOf(repeats.targetId, places, targets);
}

/** Throws a usage error if two names refer to the same process: their difference would be noise. */
function refuseSame(places: ReadonlyMap<string, Place>): void {
  const seen = new Map<string, string>();
  for (const [target, { host, port, isRemote, process }] of places) {
    const key = isRemote || process === undefined ? `${host} ${port}` : String(process.pid);
    const other = seen.get(key);
    if (other !== undefined) {
      throw new UsageError(
        `${other} and ${target} are the same server${process === undefined ? '' : ` (process ${process.pid})`}`,
        'name two servers, or measure one twice with --noise',
      );
    }
    seen.set(key, target);
  }
}

/** Describes the process of a server in one line, which changes if another program serves. */
export function describeProcess(found: Omit<ServerProcess, 'pid'> | undefined): string {
  if (found === undefined) return 'unknown process';
  const { executable, version, command } = found;
  return [version, executable, command?.join(' ')].filter((part) => part !== undefined).join(', ');
}

async function findServer(url: string, known?: ServerProcess): Promise<Place> {
  const origin = new URL(url);
  const { host: name, port } = endpointOf(origin);
  let host: string | undefined;
  const addresses = await lookup(name, { all: true, verbatim: false }).catch(() => []);
  for (const { address } of addresses) {
    if (host === undefined && (await isListening(address, port))) host = address;
  }
  if (host === undefined) {
    throw addresses.length === 0
      ? new UsageError(`${name} has no address`, 'check its spelling')
      : new UsageError(
          `nothing listens on ${toAuthority({ host: name, port })}`,
          'start your server first, or check the address',
        );
  }
  const isRemote = !(await isThisMachine(host));
  const place = { url, host, port, tls: await tlsOf(origin), isRemote };
  const found = isRemote ? { unknown: `${host} is another machine` } : await findListener(host, port);
  if ('unknown' in found) return { ...place, process: undefined, unknown: found.unknown };
  const process = known?.pid === found.pid ? known : await identify(found.pid);
  return { ...place, process };
}

function toServer({ host, port, tls, isRemote, process }: Place, stopped: AbortSignal): Server {
  return {
    host,
    port,
    ...(tls === undefined ? {} : { tls }),
    ...(isRemote ? { isRemote } : {}),
    ...(process === undefined ? {} : { process }),
    pid: () => process?.pid,
    cgroup: undefined,
    startedAtMs: undefined,
    stopped,
    ended: () => (stopped.aborted ? 'interrupted' : undefined),
    log: () => '',
    logTail: () => [],
    attestations: () => [],
    stop: async () => ({ files: [], trouble: [] }),
    async [Symbol.asyncDispose]() {},
  };
}
