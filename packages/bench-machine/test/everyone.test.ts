import { describe, expect, it } from 'vitest';
import { busyUs, openEveryone, sumProcessesUs } from '../src/everyone.ts';
import { parseProcess, readProcess } from '../src/procfs.ts';
import { startWorker } from './resources/worker.ts';

describe('busyUs', () => {
  const totals = { userUs: 1000, niceUs: 10, systemUs: 500, irqUs: 0, softirqUs: 300, stealUs: 7 };

  it('counts softirq if the kernel charges it to tasks, without that of kernel threads', () => {
    expect(busyUs(totals, 40)).toBe(1000 + 10 + 500 + 300 - 40);
  });

  it('omits softirq if the kernel accounts for interrupts separately', () => {
    expect(busyUs({ ...totals, irqUs: 50 }, 40)).toBe(1000 + 10 + 500);
  });
});

describe('sumProcessesUs', () => {
  it('adds processes and the children they waited for, in ticks of 10 ms', () => {
    const process = parseProcess('7 (sh) S 1 7 7 0 -1 4194304 0 0 0 0 1 20 300 4000 20 0 1 0 86638 0 0\n');
    expect(sumProcessesUs([process, undefined, process])).toBe(2 * 4321 * 10_000);
  });
});

describe.skipIf(process.platform !== 'linux')('on this machine', () => {
  // Other processes may end meanwhile, and the sum of all then lacks what nobody waited for.
  it.each<[string, (pid: number) => number | undefined]>([
    ['the best source', () => openEveryone()?.()],
    ['the sum of processes', (pid) => sumProcessesUs([readProcess(pid)])],
  ])('%s includes the CPU time of a process and its child', async (_name, readUs) => {
    await using worker = await startWorker();
    const before = readUs(worker.pid) ?? NaN;
    const { burntUs = 0 } = await worker.ask('burn 300');
    const { burntUs: childUs = 0 } = await worker.ask('child 200');
    expect((readUs(worker.pid) ?? NaN) - before).toBeGreaterThan(burntUs + childUs - 80_000);
  });
});
