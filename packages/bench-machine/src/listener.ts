/** Finds the process that listens on an address: in /proc on Linux, with lsof on macOS. */

import { lookup } from 'node:dns/promises';
import { listeningSockets, ownersOf, readProcess } from './procfs.ts';
import { listOwnAddresses } from './ports.ts';
import { tryRun } from './subprocess.ts';

/** Programs that listen for a server elsewhere: their CPU and memory are not those of the server. */
const FORWARDERS = /^(docker-proxy|rootlessport|slirp4netns|com\.docker\.\S*|vpnkit\S*|ssh|sshd|gvproxy)$/;

/** The process of a server, or the reason why it is unknown. */
export type Found = { pid: number } | { unknown: string };

/** Returns true if a host name or address belongs to this machine. */
export async function isThisMachine(host: string): Promise<boolean> {
  const found = await lookup(host, { all: true }).catch(() => []);
  const own = new Set(listOwnAddresses());
  return found.some(({ address }) => /^(127\.|::1$|0\.0\.0\.0$|::$)/.test(address) || own.has(address));
}

/** Finds the process that listens on an address of this machine; of several, the one that started the others. */
export async function findListener(host: string, port: number): Promise<Found> {
  const holders = await holdersOf(host, port);
  if (holders.length === 0) return { unknown: `no visible process listens on port ${port}` };
  const names = holders.map(({ name }) => name);
  const forwarder = names.find((name) => FORWARDERS.test(name));
  if (forwarder !== undefined)
    return { unknown: `${forwarder} listens on port ${port} and forwards to another process` };
  const roots = rootsOf(holders);
  const [first, second] = roots;
  if (first !== undefined && second === undefined) return { pid: first.pid };
  const list = roots.map(({ pid, name }) => `${pid} (${name})`);
  return { unknown: `several processes listen on port ${port}: ${list.join(', ')}` };
}

/** A listening process. */
interface Holder {
  pid: number;
  ppid: number;
  name: string;
}

async function holdersOf(host: string, port: number): Promise<Holder[]> {
  if (process.platform === 'linux') {
    const addresses = (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address);
    return ownersOf(listeningSockets(port, addresses)).flatMap((pid) => {
      const found = readProcess(pid);
      return found === undefined ? [] : [{ pid, ppid: found.ppid, name: found.command }];
    });
  }
  // -F prints one field per line: p is the process, R its parent, c its command.
  return parseLsof((await tryRun(['lsof', '-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-FpRc'])) ?? '');
}

/** Parses the output of `lsof -FpRc`: processes, each with its parent and command. */
export function parseLsof(text: string): Holder[] {
  return text
    .split(/^(?=p\d)/m)
    .map((block) => ({
      pid: Number(/^p(\d+)/m.exec(block)?.[1]),
      ppid: Number(/^R(\d+)/m.exec(block)?.[1] ?? 0),
      name: /^c(.*)/m.exec(block)?.[1] ?? '',
    }))
    .filter(({ pid }) => Number.isInteger(pid));
}

/** Returns the processes that no other one of them started. Process 1 can hold the sockets of its services. */
export function rootsOf(holders: readonly Holder[]): Holder[] {
  const services = holders.filter(({ pid }) => pid !== 1);
  const candidates = services.length > 0 ? services : [...holders];
  const pids = new Set(candidates.map(({ pid }) => pid));
  return candidates.filter(({ ppid }) => !pids.has(ppid));
}
