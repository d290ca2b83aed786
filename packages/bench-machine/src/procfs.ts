/** Facts about single processes under `/proc` of Linux. A process that has ended gives undefined, never an error. */

import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { orUndefined } from 'bench-model/errors';
import { sum } from 'bench-statistics/numbers';

/** The unit of the times in `/proc`: USER_HZ, fixed at 100 on every architecture that Node supports. */
export const TICKS_PER_SECOND = 100;
export const US_PER_TICK = 1_000_000 / TICKS_PER_SECOND;

// From include/linux/sched.h. Such a task has no memory and no command.
const PF_KTHREAD = 0x0020_0000;

/** One process; times in ticks. `startTicks` since boot identifies it together with its pid. */
export interface Process {
  pid: number;
  command: string;
  zombie: boolean;
  kernelThread: boolean;
  ppid: number;
  userTicks: number;
  systemTicks: number;
  /** The time of exited and waited-for children, including theirs. */
  childUserTicks: number;
  childSystemTicks: number;
  threads: number;
  startTicks: number;
  /** Its status as in wait(2) once it has ended; 0 while it runs, and for those who may not know. */
  waitStatus: number;
}

/** Returns the text of a small file; undefined if it cannot be read. */
export function readText(path: string): string | undefined {
  return orUndefined(() => readFileSync(path, 'utf8'));
}

/** Returns the names in a folder; empty if it cannot be read. */
export function readNames(path: string): string[] {
  return orUndefined(() => readdirSync(path)) ?? [];
}

/** Parses a line of `/proc/<pid>/stat`, with the fields of proc_pid_stat(5). Undefined if it is not one. */
export function parseProcess(text: string): Process | undefined {
  // The command is in parentheses and may contain parentheses and spaces: the last one closes it.
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return undefined;
  const rest = text.slice(close + 2).split(' ');
  const field = (number: number): number => Number(rest[number - 3]);
  const process: Process = {
    pid: Number(text.slice(0, open)),
    command: text.slice(open + 1, close),
    zombie: rest[0] === 'Z' || rest[0] === 'X',
    kernelThread: (field(9) & PF_KTHREAD) !== 0,
    ppid: field(4),
    userTicks: field(14),
    systemTicks: field(15),
    childUserTicks: field(16),
    childSystemTicks: field(17),
    threads: field(20),
    startTicks: field(22),
    waitStatus: field(52),
  };
  return Number.isFinite(process.startTicks) ? process : undefined;
}

/** Reads the process of that id; times in ticks. */
export function readProcess(pid: number): Process | undefined {
  const text = readText(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseProcess(text);
}

/** Returns the words of the command line of a process; empty if it has none. */
export function readWords(pid: number): string[] {
  return (readText(`/proc/${pid}/cmdline`) ?? '').split('\0').filter(Boolean);
}

/** Returns the ids of all processes that are visible to this one. */
export function listPids(): number[] {
  return readNames('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Returns the given processes and all their descendants. */
export function familyOf(pids: readonly number[]): Set<number> {
  const children =
    readText(`/proc/self/task/${process.pid}/children`) === undefined ? childrenByParent() : childrenOf;
  const family = new Set(pids);
  // A set also iterates over elements that are added during the loop.
  for (const pid of family) for (const child of children(pid)) family.add(child);
  return family;
}

/** Returns the processes that started a process, the nearest first, without the first process of the system. */
export function ancestorsOf(pid: number): number[] {
  const parent = readProcess(pid)?.ppid ?? 0;
  return parent <= 1 ? [] : [parent, ...ancestorsOf(parent)];
}

/** Each thread lists the children that it started. */
export function childrenOf(pid: number): number[] {
  return readNames(`/proc/${pid}/task`).flatMap((thread) =>
    (readText(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  );
}

/** Finds the children from one scan of all parents, for kernels built without CONFIG_PROC_CHILDREN. */
export function childrenByParent(): (pid: number) => number[] {
  const all = listPids().flatMap((pid) => readProcess(pid) ?? []);
  const byParent = Map.groupBy(all, ({ ppid }) => ppid);
  return (pid) => byParent.get(pid)?.map((child) => child.pid) ?? [];
}

/** Returns the context switches of each living thread by thread id. */
export function readSwitches(pid: number): Map<number, number> {
  const lines = /^(?:non)?voluntary_ctxt_switches:\s*(\d+)/gm;
  return byThread(pid, (thread) => {
    const status = readText(`/proc/${pid}/task/${thread}/status`);
    if (status === undefined) return undefined;
    return sum([...status.matchAll(lines)].map(([, count]) => Number(count)));
  });
}

/** Returns the CPU time of each living thread in µs, by thread id. */
export function readThreadsUs(pid: number): Map<number, number> {
  return byThread(pid, (thread) => readThreadUs(pid, thread));
}

/** Reads something of each thread of a process; one that has ended gives undefined. */
function byThread(pid: number, read: (thread: string) => number | undefined): Map<number, number> {
  const threads = readNames(`/proc/${pid}/task`);
  return new Map(
    threads.flatMap((thread) => {
      const value = read(thread);
      return value === undefined ? [] : [[Number(thread), value] as const];
    }),
  );
}

/** Returns the CPU of a thread in µs, by ns if the kernel tells them, else by ticks. Undefined once it has ended. */
export function readThreadUs(pid: number, thread: number | string): number | undefined {
  const folder = `/proc/${pid}/task/${thread}`;
  const ns = Number.parseInt(readText(`${folder}/schedstat`) ?? '', 10);
  if (!Number.isNaN(ns)) return ns / 1000;
  const ticks = parseProcess(readText(`${folder}/stat`) ?? '');
  return ticks && (ticks.userTicks + ticks.systemTicks) * US_PER_TICK;
}

/**
 * Returns the proportional set size in bytes: a page shared by n processes counts 1/n in each, so a process tree
 * can be summed. Undefined for a process of another user and for one without memory.
 */
export function readPssBytes(pid: number): number | undefined {
  return kilobytes(readText(`/proc/${pid}/smaps_rollup`), 'Pss');
}

/**
 * Returns the resident set of a process in bytes: now, and the largest since its start or since `forgetPeak`. Unlike PSS, it takes no
 * longer to read for more memory. Undefined if the process has ended.
 */
export function readResident(pid: number): { bytes: number; peakBytes: number } | undefined {
  const status = readText(`/proc/${pid}/status`);
  const [bytes, peakBytes] = ['VmRSS', 'VmHWM'].map((name) => kilobytes(status, name));
  return bytes === undefined || peakBytes === undefined ? undefined : { bytes, peakBytes };
}

/** Makes the peak of a process's resident set start anew (proc(5), clear_refs). Returns false if that is not permitted. */
export function forgetPeak(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns true if the process was started with this variable, which proves that it is a leftover of Bench.
 * Undefined if its environment cannot be read.
 */
export function environHas(pid: number, name: string, value: string): boolean | undefined {
  return readText(`/proc/${pid}/environ`)?.split('\0').includes(`${name}=${value}`);
}

/** Returns the ids of the processes with the listening socket of a TCP port, of `among` that this process may inspect. */
export function listenersOn(port: number, among?: number[]): number[] {
  const inodes = readListening(port).map(({ inode }) => inode);
  return ownersOf(inodes, among);
}

/** Returns the ids of the processes with one of these sockets, of `among` that this process may inspect; all by default. */
export function ownersOf(inodes: readonly string[], among = listPids()): number[] {
  const sockets = new Set(inodes);
  if (sockets.size === 0) return [];
  return among.filter((pid) => socketsOf(pid).some((inode) => sockets.has(inode)));
}

/** Returns the addresses that these processes listen on, by port. */
export function addressesOf(pids: Iterable<number>, read = readTable): Listening[] {
  const inodes = new Set([...pids].flatMap(socketsOf));
  return readListening(undefined, read)
    .filter(({ inode }) => inodes.has(inode))
    .map(({ address, port }) => ({ address, port }))
    .toSorted((a, b) => a.port - b.port);
}

/** The flag of a socket that accepts connections, in `/proc/net/unix`. */
const ACCEPTS = 0x1_00_00;

/** Returns the paths of the Unix sockets that these processes listen on. */
export function socketPathsOf(pids: Iterable<number>, read = readText): string[] {
  const inodes = new Set([...pids].flatMap(socketsOf));
  const lines = (read('/proc/net/unix') ?? '').split('\n');
  return lines.flatMap((line) => {
    const [, , , flags = '', , , inode = '', path] = line.trim().split(/\s+/);
    const isOwn = inodes.has(inode) && (Number.parseInt(flags, 16) & ACCEPTS) !== 0;
    return isOwn && path !== undefined ? [path] : [];
  });
}

/** Returns the inodes of the sockets that a process holds. */
export function socketsOf(pid: number): string[] {
  return readNames(`/proc/${pid}/fd`).flatMap(
    (descriptor) => /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? [],
  );
}

/**
 * Returns the inodes of the sockets that accept connections to a port of these addresses. Wildcard sockets count
 * only if none is bound to the address itself.
 */
export function listeningSockets(port: number, addresses: readonly string[], read = readTable): string[] {
  const sockets = readListening(port, read);
  const own = sockets.filter(({ address }) => addresses.includes(address));
  // A socket on :: accepts IPv4 connections too, unless it is set to IPv6 only.
  const wild = sockets.filter(
    ({ address }) =>
      address === '::' || (address === '0.0.0.0' && addresses.some((one) => one.includes('.'))),
  );
  return (own.length > 0 ? own : wild).map(({ inode }) => inode);
}

/** An address that a process listens on. */
export interface Listening {
  address: string;
  port: number;
}

/** A listening socket, with the connections that its server has not accepted yet. */
interface ListeningSocket extends Listening {
  inode: string;
  waiting: number;
}

function readListening(port?: number, read = readTable): ListeningSocket[] {
  return ['tcp', 'tcp6'].flatMap((table) => parseListening(read(`/proc/net/${table}`) ?? '', port));
}

/** The state of a listening socket in the tables of the kernel. */
const LISTEN = '0A';
/** The read size: a few lines, because the kernel searches its whole table to fill a larger one. */
const READ_BYTES = 1024;

/** Reads the listening sockets of a table of the kernel, which come first, up to the first that does not listen. */
function readTable(path: string): string | undefined {
  return orUndefined(() => {
    const file = openSync(path, 'r');
    const piece = Buffer.alloc(READ_BYTES);
    try {
      let text = '';
      for (;;) {
        const read = readSync(file, piece);
        text += piece.toString('latin1', 0, read);
        const last = text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1) ?? '';
        const isHead = last.trimStart().startsWith('sl');
        // A piece that is not full is the last.
        if (read < READ_BYTES || (!isHead && last.trim().split(/\s+/)[3] !== LISTEN)) return text;
      }
    } finally {
      closeSync(file);
    }
  });
}

/** Returns the connections to a local port that its server has not accepted yet, the most of its listeners; undefined if nothing listens. */
export function readWaiting(port: number): number | undefined {
  const all = readListening(port).map(({ waiting }) => waiting);
  return all.length === 0 ? undefined : Math.max(...all);
}

/** Returns the ports of the clients that are connected to a port, or were in the last minute. */
export function clientsOf(port: number, read = readText): Set<number> {
  const rows = ['tcp', 'tcp6'].flatMap((table) => (read(`/proc/net/${table}`) ?? '').split('\n').slice(1));
  const clients = rows.flatMap((row) => {
    const [, local = '', remote = '', state] = row.trim().split(/\s+/);
    const ends = [local, remote].map((end) => Number.parseInt(end.split(':')[1] ?? '', 16));
    return state !== LISTEN && ends.includes(port) ? ends.filter((end) => end !== port) : [];
  });
  return new Set(clients);
}

/** Parses the sockets in state LISTEN, all or those on one port, from `/proc/net/tcp` or `tcp6`. */
export function parseListening(table: string, port?: number): ListeningSocket[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, queues = '', , , , , inode] = line.trim().split(/\s+/);
    const [address = '', own = ''] = local.split(':');
    if (state !== LISTEN || inode === undefined) return [];
    if (port !== undefined && Number.parseInt(own, 16) !== port) return [];
    const waiting = Number.parseInt(queues.split(':')[1] ?? '', 16);
    return { address: parseAddress(address), port: Number.parseInt(own, 16), inode, waiting };
  });
}

/** Parses an address of the kernel: words of four bytes in host order. One mapped from IPv4 becomes that. */
export function parseAddress(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => Array.from(Buffer.from(word, 'hex')).toReversed());
  if (bytes.length === 4) return bytes.join('.');
  const pairs = Array.from(
    { length: 8 },
    (_, index) => (bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0),
  );
  if (pairs.slice(0, 5).every((pair) => pair === 0) && pairs[5] === 0xffff) return bytes.slice(12).join('.');
  // The URL parser produces the short form.
  return new URL(`http://[${pairs.map((pair) => pair.toString(16)).join(':')}]`).hostname.slice(1, -1);
}

/** Returns the target of a symbolic link; empty if it cannot be read. */
export function readLink(path: string): string {
  return orUndefined(() => readlinkSync(path)) ?? '';
}

function kilobytes(text: string | undefined, label: string): number | undefined {
  const found = new RegExp(`^${label}:\\s*(\\d+) kB`, 'm').exec(text ?? '')?.[1];
  return found === undefined ? undefined : Number(found) * 1024;
}
