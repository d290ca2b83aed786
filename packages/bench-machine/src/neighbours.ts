/**
 * Neighbours: cores that slow each other down because they share hardware. A hypervisor may hide that two of its cores are
 * threads of one physical core.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from 'bench-model/errors';
import type { Host } from 'bench-model/host';
import { readText } from './procfs.ts';
import { openState } from './state.ts';
import { start } from './subprocess.ts';

/** The length of one turn of work, and the time until a change of the neighbour has an effect. */
const TURN_MS = 30;
const SETTLE_MS = 3;

/** Turns that warm up the code of the work, on both cores. */
const WARMUP_TURNS = 20;

/**
 * The source of a program whose work is much like that of a server: it makes JSON, reads it, and writes to the kernel. It works for
 * some milliseconds per line of its input, and answers with the CPU time of one piece of work in µs.
 */
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
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const until = performance.now() + Number(line);
    const before = process.cpuUsage();
    const piecesBefore = pieces;
    do work(); while (performance.now() < until);
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / (pieces - piecesBefore));
  });
`;

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
 * Measures how much CPU time the same work takes on one core while others are idle or busy with it, by turns in the order idle,
 * busy, busy, idle, so that a trend of the machine cancels. Takes about 70 ms per pair. Throws a trial error if the processes that
 * it needs cannot be started.
 */
export async function measureNeighbours(
  { server, load }: { server: number; load: readonly number[] },
  pairs: number,
): Promise<NeighbourPair[]> {
  using worker = startWorker([server]);
  using neighbour = startWorker(load);
  for (let turn = 0; turn < WARMUP_TURNS; turn++)
    await Promise.all([worker.work(TURN_MS), neighbour.work(TURN_MS)]);
  const take = async (isBusy: boolean): Promise<number> => {
    const [us] = await Promise.all([
      sleep(SETTLE_MS).then(() => worker.work(TURN_MS)),
      isBusy ? neighbour.work(TURN_MS + 2 * SETTLE_MS) : undefined,
    ]);
    return us;
  };
  const measured: NeighbourPair[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const isIdleFirst = pair % 2 === 0;
    const first = await take(!isIdleFirst);
    const second = await take(isIdleFirst);
    measured.push(isIdleFirst ? { idleUs: first, busyUs: second } : { idleUs: second, busyUs: first });
  }
  return measured;
}

/** A process that works in turns, and ends with its input. */
interface Worker extends Disposable {
  /** Works for this time, and returns the CPU time of one piece of work in µs. */
  work(milliseconds: number): Promise<number>;
}

function startWorker(cores: readonly number[]): Worker {
  const argv = ['taskset', '-c', cores.join(','), process.execPath, '-e', WORK];
  const child = start({ stdio: ['pipe', 'pipe', 'ignore'] })`exec ${argv}`;
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new BenchError('trial', 'a process could not be started');
  // What happens to it shows in its answers.
  stdin.on('error', () => {});
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    async work(milliseconds) {
      stdin.write(`${milliseconds}\n`);
      const { value, done } = await lines.next();
      if (done) throw new BenchError('trial', 'the process that measures neighbouring cores ended (taskset)');
      return Number(value);
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}
