import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyUs, fromV1Root, fromV2TopLevel, openEveryone, sumProcessesUs } from '../src/everyone.ts';
import { parseProcess, readProcess } from '../src/procfs.ts';
import { startWorker } from './resources/worker.ts';

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'bench-everyone-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
};

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

describe('fromV1Root', () => {
  it('is not taken in by the root that a container sees', () => {
    const mount = folder();
    writeFileSync(join(mount, 'cpuacct.usage'), '5000000\n');
    expect(fromV1Root({ version: 'v1', mount, own: mount })).toBeUndefined();
    writeFileSync(join(mount, 'release_agent'), '\n');
    expect(fromV1Root({ version: 'v1', mount, own: mount })?.source).toBe('cgroup v1 root');
  });
});

const write = (mount: string, name: string, us: number): void => {
  mkdirSync(join(mount, name), { recursive: true });
  writeFileSync(join(mount, name, 'cpu.stat'), `usage_usec ${us}\nuser_usec ${us}\nsystem_usec 0\n`);
};

describe('fromV2TopLevel', () => {
  it('adds the cgroups below the root, including new and removed ones', () => {
    const mount = folder();
    write(mount, 'system.slice', 1000);
    write(mount, 'user.slice', 2000);
    const everyone = fromV2TopLevel({ version: 'v2', mount, own: mount });
    const before = everyone?.readUs() ?? NaN;
    write(mount, 'system.slice', 1100);
    write(mount, 'machine.slice', 50);
    rmSync(join(mount, 'user.slice'), { recursive: true });
    expect((everyone?.readUs() ?? NaN) - before).toBe(100 + 50);
  });

  it('is not taken in by the root that a container sees', () => {
    const mount = folder();
    expect(fromV2TopLevel({ version: 'v2', mount, own: mount })).toBeDefined();
    writeFileSync(join(mount, 'cgroup.type'), 'domain\n');
    expect(fromV2TopLevel({ version: 'v2', mount, own: mount })).toBeUndefined();
  });

  it.skipIf(process.platform !== 'linux')('is not used if the root itself contains processes', () => {
    const mount = folder();
    writeFileSync(join(mount, 'cgroup.procs'), `${process.pid}\n`);
    expect(fromV2TopLevel({ version: 'v2', mount, own: mount })).toBeUndefined();
  });
});

describe.skipIf(process.platform !== 'linux')('on this machine', () => {
  // Other processes may end meanwhile, and the sum of all then lacks what nobody waited for.
  it.each<[string, (pid: number) => number | undefined]>([
    ['the best source', () => openEveryone()?.readUs()],
    ['the sum of processes', (pid) => sumProcessesUs([readProcess(pid)])],
  ])('%s includes the CPU time of a process and its child', async (_name, readUs) => {
    await using worker = await startWorker();
    const before = readUs(worker.pid) ?? NaN;
    const { burntUs = 0 } = await worker.ask('burn 300');
    const { burntUs: childUs = 0 } = await worker.ask('child 200');
    expect((readUs(worker.pid) ?? NaN) - before).toBeGreaterThan(burntUs + childUs - 80_000);
  });
});
