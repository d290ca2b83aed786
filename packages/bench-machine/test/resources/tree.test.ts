import { describe, expect, it } from 'vitest';
import { cpuBetween } from '../../src/cpu.ts';
import { sumPssBytes } from '../../src/resources/memory.ts';
import { busiestBetween, ProcessTree, switchesBetween, Turnover } from '../../src/resources/tree.ts';
import type { Process } from '../../src/procfs.ts';
import { startWorker } from './worker.ts';

/** The largest error: two values in ticks of 10 ms, truncated, of two processes at two times. */
const TICKS_US = 80_000;

describe('cpuBetween', () => {
  it('splits the precise total in proportion to the change of its parts', () => {
    const before = { totalUs: 1000, userUs: 500, systemUs: 500 };
    const after = { totalUs: 101_000, userUs: 30_500, systemUs: 10_500 };
    expect(cpuBetween(before, after)).toEqual({ userUs: 75_000, systemUs: 25_000 });
  });

  it('counts the total as user time if no part changed', () => {
    const part = { userUs: 10_000, systemUs: 10_000 };
    expect(cpuBetween({ totalUs: 0, ...part }, { totalUs: 700, ...part })).toEqual({
      userUs: 700,
      systemUs: 0,
    });
  });
});

describe('switchesBetween', () => {
  it('counts new threads in full, ended ones not at all, and a reused id from 0', () => {
    const before = new Map([
      [1, 100],
      [2, 50],
      [3, 900],
    ]);
    const after = new Map([
      [1, 130],
      [3, 4],
      [4, 7],
    ]);
    expect(switchesBetween(before, after)).toBe(30 + 4 + 7);
  });
});

describe('Turnover', () => {
  it('counts processes that come and go, also one with the id of an earlier one', () => {
    const [first, second] = [startProcess(10, 100), startProcess(11, 100)];
    const turnover = new Turnover([first, second]);
    turnover.note([first, second]);
    expect([turnover.began, turnover.ended]).toEqual([0, 0]);
    turnover.note([first, startProcess(11, 200), startProcess(12, 200)]);
    turnover.note([first, startProcess(12, 200)]);
    expect([turnover.began, turnover.ended]).toEqual([2, 2]);
  });
});

function startProcess(pid: number, startTicks: number): Process {
  return { pid, startTicks } as Process;
}

describe('busiestBetween', () => {
  it('sorts processes and threads by the cores that they used, and omits idle ones', () => {
    const before = new Map([[10, new Map([[10, 1e6]])]]);
    const after = new Map([
      [9, new Map([[9, 1000]])],
      [
        10,
        new Map([
          [10, 2.9e6],
          [11, 0.4e6],
          [12, 100],
        ]),
      ],
      [20, new Map([[20, 3e6]])],
    ]);
    const [first, second, third] = busiestBetween(before, after, 2);
    expect(first).toEqual({ pid: 20, cores: 1.5, threads: [1.5] });
    expect(second?.pid).toBe(10);
    expect(second?.threads).toEqual([0.95, 0.2]);
    expect(second?.cores).toBeCloseTo(1.15);
    expect(third).toBeUndefined();
  });

  it('counts a reused thread id from 0', () => {
    const before = new Map([[10, new Map([[10, 5e6]])]]);
    expect(busiestBetween(before, new Map([[10, new Map([[10, 1e6]])]]), 2)).toMatchObject([{ cores: 0.5 }]);
  });
});

describe.skipIf(process.platform !== 'linux')('ProcessTree', () => {
  it('counts the CPU time of a process', async () => {
    await using worker = await startWorker();
    const tree = new ProcessTree([worker.pid]);
    const before = tree.readCpu();
    const { burntUs = 0 } = await worker.ask('burn 300');
    const spent = tree.readCpu().totalUs - before.totalUs;
    expect(Math.abs(spent - burntUs)).toBeLessThan(TICKS_US);
  });

  it('counts a child that has ended once', async () => {
    await using worker = await startWorker();
    const tree = new ProcessTree([worker.pid]);
    const before = tree.readCpu();
    const own = await worker.ask('burn 1');
    const { burntUs = 0 } = await worker.ask('child 400');
    const spent = tree.readCpu().totalUs - before.totalUs;
    expect(tree.members().map(({ pid }) => pid)).toEqual([worker.pid]);
    expect(spent).toBeGreaterThan(burntUs + (own['burntUs'] ?? 0) - TICKS_US);
    // Counting the child twice would add 400 ms. Starting it costs the parent some time.
    expect(spent).toBeLessThan(burntUs + 300_000);
  });

  it('keeps an orphaned member until it ends', async () => {
    const parent = await startWorker();
    const tree = new ProcessTree([parent.pid]);
    const { pid = 0 } = await parent.ask('sleeper');
    expect(tree.members().map((member) => member.pid)).toEqual([parent.pid, pid]);
    process.kill(parent.pid, 'SIGKILL');
    await expect.poll(() => tree.members().map((member) => member.pid)).toEqual([pid]);
    expect(tree.rooted).toBe(false);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => tree.members().filter(({ zombie }) => !zombie)).toEqual([]);
  });

  it('sums the proportional set size of its processes', async () => {
    await using worker = await startWorker();
    const tree = new ProcessTree([worker.pid]);
    const alone = sumPssBytes(tree.members()) ?? 0;
    await worker.ask('sleeper');
    expect(sumPssBytes(tree.members())).toBeGreaterThan(alone);
    expect(sumPssBytes([])).toBeUndefined();
  });
});
