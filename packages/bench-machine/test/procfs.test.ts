import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  addressesOf,
  childrenByParent,
  environHas,
  familyOf,
  parseListening,
  listenersOn,
  parseProcess,
  readProcess,
  readPssBytes,
  readSwitches,
  readText,
  socketPathsOf,
} from '../src/procfs.ts';
import { startWorker } from './resources/worker.ts';

/** The current and the peak resident set of a process, in bytes, as its status shows them. */
function readResident(pid: number): { bytes: number; peakBytes: number } {
  const status = readText(`/proc/${pid}/status`) ?? '';
  const bytes = (label: string) =>
    Number(new RegExp(`^${label}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { bytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') };
}

const NOBODY = 4_194_305; // one more than the largest process id there is

describe('parseProcess', () => {
  it('reads the fields by number, after a command with brackets and spaces', () => {
    const text =
      '8434 (a) R (b c) S 8419 8434 7057 0 -1 4194304 103 7 5 0 11 12 13 14 20 0 3 0 86638 3133440 388 ' +
      '18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 2\n';
    expect(parseProcess(text)).toEqual({
      pid: 8434,
      command: 'a) R (b c',
      zombie: false,
      kernelThread: false,
      ppid: 8419,
      userTicks: 11,
      systemTicks: 12,
      childUserTicks: 13,
      childSystemTicks: 14,
      threads: 3,
      startTicks: 86638,
      waitStatus: 2,
    });
  });

  it('recognises kernel threads and zombies', () => {
    const thread = '14 (ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 5 0 0 20 0 1 0 30 0 0\n';
    expect(parseProcess(thread)).toMatchObject({ kernelThread: true, zombie: false });
    expect(parseProcess(thread.replace(') S', ') Z'))).toMatchObject({ zombie: true });
  });

  it('returns undefined for other text', () => {
    expect(parseProcess('')).toBeUndefined();
    expect(parseProcess('12 (sh) R 1')).toBeUndefined();
  });
});

describe('parseListening', () => {
  const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000000000000000 100 0 0 10 0
   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0
`;
  it('returns only listening sockets of that port', () => {
    expect(parseListening(TABLE, 8080)).toMatchObject([{ address: '127.0.0.1', inode: '4711' }]);
    expect(parseListening(TABLE, 8081)).toMatchObject([{ inode: '4713' }]);
    expect(parseListening(TABLE, 8082)).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('a live process', () => {
  it('has its descendants in its family, by either kernel interface', async () => {
    await using worker = await startWorker();
    const { pid = 0 } = await worker.ask('sleeper');
    expect(familyOf([worker.pid])).toEqual(new Set([worker.pid, pid]));
    expect(childrenByParent()(worker.pid)).toEqual([pid]);
    expect(familyOf([process.pid])).toContain(pid);
  });

  it('is identified by its start time', async () => {
    await using worker = await startWorker();
    const { pid = 0 } = await worker.ask('sleeper');
    const parent = readProcess(worker.pid);
    const child = readProcess(pid);
    expect(parent).toMatchObject({ ppid: process.pid, zombie: false });
    expect(child).toMatchObject({ ppid: worker.pid, threads: 1 });
    expect(child?.startTicks).toBeGreaterThanOrEqual(parent?.startTicks ?? Infinity);
  });

  it('has memory: PSS ≤ RSS ≤ peak', async () => {
    await using worker = await startWorker();
    const before = readPssBytes(worker.pid) ?? Infinity;
    await worker.ask('hold 32');
    const pss = readPssBytes(worker.pid) ?? 0;
    const resident = readResident(worker.pid);
    expect(pss - before).toBeGreaterThan(31 * 1024 * 1024);
    expect(resident.bytes).toBeGreaterThanOrEqual(pss);
    expect(resident.peakBytes).toBeGreaterThanOrEqual(resident.bytes);
  });

  it('counts context switches of each thread', async () => {
    await using worker = await startWorker();
    const before = readSwitches(worker.pid);
    await worker.ask('burn 1');
    const after = readSwitches(worker.pid);
    expect(after.size).toBe(readProcess(worker.pid)?.threads);
    expect(after.get(worker.pid)).toBeGreaterThan(before.get(worker.pid) ?? Infinity);
  });

  it('shows if it was started with an environment variable', async () => {
    await using worker = await startWorker([], { BENCH_TOKEN: 'abc' });
    expect(environHas(worker.pid, 'BENCH_TOKEN', 'abc')).toBe(true);
    expect(environHas(worker.pid, 'BENCH_TOKEN', 'ab')).toBe(false);
  });

  it('is found by the port that it listens on', async () => {
    await using worker = await startWorker();
    const { port = 0 } = await worker.ask('listen');
    expect(listenersOn(port)).toEqual([worker.pid]);
    expect(addressesOf([worker.pid])).toEqual([{ address: '127.0.0.1', port }]);
    expect(addressesOf([process.pid])).not.toContainEqual({ address: '127.0.0.1', port });
  });

  it('has the Unix sockets that it listens on', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'bench-socket-')), 'shop.sock');
    const server = createServer().listen(path);
    await once(server, 'listening');
    expect(socketPathsOf([process.pid])).toContain(path);
    server.close();
    rmSync(dirname(path), { recursive: true });
  });

  it('has no data after its end', () => {
    expect(readProcess(NOBODY)).toBeUndefined();
    expect(readPssBytes(NOBODY)).toBeUndefined();
    expect(environHas(NOBODY, 'A', 'b')).toBeUndefined();
    expect(readSwitches(NOBODY).size).toBe(0);
    expect(familyOf([NOBODY])).toEqual(new Set([NOBODY]));
  });
});
