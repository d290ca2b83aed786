/**
 * Neighbours: cores that slow each other down because they share hardware. A hypervisor may hide that two of its cores are
 * threads of one physical core.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from 'bench-model/errors';
import type { Host } from 'bench-model/host';
import { readText } from './procfs.ts';
import { openState } from './state.ts';
import { hasEnded, start, type Child } from './subprocess.ts';

/** The length of one turn of work, and the time until a change of the neighbour has an effect. */
const TURN_MS = 30;
const SETTLE_MS = 3;

/** Turns that warm up the code of the work, on both cores. */
const WARMUP_TURNS = 20;

/** The source of work much like that of a server: a function that makes JSON, reads it, and writes to the kernel. */
const WORK = `
  const { openSync, writeSync } = require('node:fs');
  const rows = Array.from({ length: 20 }, (_, id) => ({ id, name: 'device ' + id, address: '10.0.0.' + id, isOnline: id % 2 === 0 }));
  const sink = openSync('/dev/null', 'w');
  let pieces = 0;
  const work = () => {
    const text = JSON.stringify(rows);
    rows[pieces % rows.length].id = JSON.parse(text).length + pieces;
    writeSync(sink, text);
    pieces++;
  };
`;

/** The source of a program that works for some milliseconds per line of its input, and answers with the CPU time of one piece of work in µs. */
const TURNS = `${WORK}
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const until = performance.now() + Number(line);
    const before = process.cpuUsage();
    const piecesBefore = pieces;
    do work(); while (performance.now() < until);
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / (pieces - piecesBefore));
  });
`;

/** Programs without end: a loop of one instruction, and the work of a server. */
const ENDLESS = { loop: 'for (;;);', work: `${WORK} for (;;) work();` };

/** The program that keeps a core busy. */
type Busy = keyof typeof ENDLESS;

/** A program without end that fills the idle time of some cores. */
export interface Filler extends Disposable {
  /** Continues; it is paused at first. */
  resume(): void;
  pause(): void;
  /** Returns false if it ended by itself, as it does if a program that starts it is missing. */
  isRunning(): boolean;
  /** The id of its process. */
  pid: number;
}

/**
 * Starts a paused program at idle priority on some cores: it runs only while nothing else does. Linux applies that priority
 * among the processes of one session only (sched_autogroup), so the session itself gets the lowest weight too. The kernel ends
 * the program with this process.
 */
export async function startFiller(cores: readonly number[], busy: Busy): Promise<Filler> {
  const pinned = ['chrt', '--idle', '0', 'taskset', '-c', cores.join(',')];
  const argv = ['setpriv', '--pdeathsig', 'KILL', ...pinned, process.execPath, '-e', ENDLESS[busy]];
  const child = start({
    stdio: ['ignore', 'ignore', 'ignore'],
  })`echo 19 2>/dev/null >/proc/self/autogroup; exec ${argv}`;
  await once(child, 'spawn');
  child.kill('SIGSTOP');
  return {
    pid: child.pid as number,
    resume: () => void child.kill('SIGCONT'),
    pause: () => void child.kill('SIGSTOP'),
    isRunning: () => !hasEnded(child),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

/** The findings of `preflight` about the cores of this machine. */
export type Neighbours = NonNullable<Host['neighbours']>;

interface Kept {
  boot: string;
  neighbours: Neighbours;
}

/** Stores the findings until this machine is started again: it may then be another one. */
export function keepNeighbours({ ratio, low, high }: Neighbours, folder = openState()): void {
  const boot = readBoot();
  if (boot === undefined) return;
  const kept: Kept = { boot, neighbours: { ratio, low, high } };
  writeFileSync(join(folder, KEPT), JSON.stringify(kept));
}

/** Returns the findings that were stored since this machine was started; undefined if there are none. */
export function recallNeighbours(folder = openState()): Neighbours | undefined {
  const text = readText(join(folder, KEPT));
  const boot = readBoot();
  if (text === undefined || boot === undefined) return undefined;
  try {
    const kept = JSON.parse(text) as Kept;
    return kept.boot === boot ? kept.neighbours : undefined;
  } catch {
    // A command was killed while it wrote the file.
    return undefined;
  }
}

/** The file in the state folder. */
const KEPT = 'neighbours.json';

function readBoot(): string | undefined {
  return readText('/proc/sys/kernel/random/boot_id')?.trim();
}

/** CPU time of the same work on one core, in µs, while another core was idle and while it was busy. */
interface NeighbourPair {
  idleUs: number;
  busyUs: number;
}

/**
 * Measures how much CPU time the same work takes on one core while others are idle or busy, by turns in the order idle, busy,
 * busy, idle, so that a trend of the machine cancels. Takes about 70 ms per pair. Throws a trial error if the processes that it
 * needs cannot be started.
 */
export async function measureNeighbours(
  { server, load, busy }: { server: number; load: readonly number[]; busy: Busy },
  pairs: number,
): Promise<NeighbourPair[]> {
  const worker = start({
    stdio: ['pipe', 'pipe', 'ignore'],
  })`exec ${['taskset', '-c', String(server), process.execPath, '-e', TURNS]}`;
  try {
    using filler = await startFiller(load, busy);
    const work = openWork(worker);
    filler.resume();
    for (let turn = 0; turn < WARMUP_TURNS; turn++) await work();
    const take = async (isBusy: boolean): Promise<number> => {
      if (isBusy) filler.resume();
      else filler.pause();
      await sleep(SETTLE_MS);
      return work();
    };
    const measured: NeighbourPair[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      const isIdleFirst = pair % 2 === 0;
      const first = await take(!isIdleFirst);
      const second = await take(isIdleFirst);
      measured.push(isIdleFirst ? { idleUs: first, busyUs: second } : { idleUs: second, busyUs: first });
    }
    if (!filler.isRunning())
      throw new BenchError(
        'trial',
        'no process could keep the other core busy (setpriv, chrt of util-linux)',
      );
    return measured;
  } finally {
    worker.kill('SIGKILL');
  }
}

/** Returns a function that has the worker take one turn, and gives its answer. */
function openWork({ stdin, stdout }: Child): () => Promise<number> {
  if (stdin === null || stdout === null) throw new BenchError('trial', 'a process could not be started');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return async () => {
    stdin.write(`${TURN_MS}\n`);
    const { value, done } = await lines.next();
    if (done) throw new BenchError('trial', 'the process that measures neighbouring cores ended');
    return Number(value);
  };
}
