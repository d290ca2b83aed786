import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCgroup, parseCpuStat, parseHierarchies, readHierarchies } from '../src/cgroup.ts';
import type { Cgroup, Hierarchy } from '../src/cgroup.ts';
import { startWorker } from './resources/worker.ts';

describe('parseHierarchies', () => {
  it('finds v1 cpuacct and v2 side by side, v1 first', () => {
    const mountinfo = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
32 31 0:29 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
`;
    expect(
      parseHierarchies(mountinfo, '3:cpuset:/\n2:cpu,cpuacct:/user/1\n0::/user.slice/a.scope\n'),
    ).toEqual([
      { version: 'v1', own: '/sys/fs/cgroup/cpu,cpuacct/user/1' },
      { version: 'v2', own: '/sys/fs/cgroup/unified/user.slice/a.scope' },
    ]);
  });

  it('finds its path below a mount that shows only a subtree', () => {
    const mountinfo = '40 30 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n';
    expect(parseHierarchies(mountinfo, '0::/docker/abc\n')[0]?.own).toBe('/sys/fs/cgroup');
    expect(parseHierarchies(mountinfo, '0::/docker/abc/x\n')[0]?.own).toBe('/sys/fs/cgroup/x');
    expect(parseHierarchies(mountinfo, '0::/elsewhere\n')[0]?.own).toBeUndefined();
    expect(parseHierarchies(mountinfo.replace('/docker/abc', '/'), '0::/../x\n')[0]?.own).toBeUndefined();
  });

  it('finds none if none is mounted', () => {
    expect(parseHierarchies('1 1 0:1 / / rw - ext4 /dev/vda rw\n', '0::/\n')).toEqual([]);
  });
});

describe('parseCpuStat', () => {
  it('reads µs', () => {
    expect(parseCpuStat('usage_usec 300\nuser_usec 200\nsystem_usec 100\nnr_periods 0\n')).toEqual({
      totalUs: 300,
      userUs: 200,
      systemUs: 100,
    });
    expect(parseCpuStat('user_usec 200\n')).toBeUndefined();
    expect(parseCpuStat(undefined)).toBeUndefined();
  });
});

describe('openCgroup', () => {
  it('says why it could not be created', () => {
    expect(openCgroup('test', []).reason).toBe('no cgroup hierarchy is mounted');
    expect(openCgroup('test', [{ version: 'v1', own: undefined }]).reason).toContain('v1');
    expect(openCgroup('test', [{ version: 'v2', own: '/nowhere' }]).reason).toContain('ENOENT');
  });

  it('rejects a token with other characters', () => {
    expect(() => openCgroup('../up')).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

/** The hierarchies in which this process may create a cgroup. */
const usable = readHierarchies().filter((hierarchy) => {
  const { cgroup } = openCgroup(`usable-${process.pid}`, [hierarchy]);
  void cgroup?.remove();
  return cgroup !== undefined;
});

describe.skipIf(usable.length === 0).each(usable)('a cgroup in $version', (hierarchy: Hierarchy) => {
  const open = (): Cgroup => {
    const { cgroup, reason } = openCgroup(`test-${process.pid}`, [hierarchy]);
    if (cgroup === undefined) throw new Error(reason);
    onTestFinished(async () => {
      await expect.poll(() => cgroup.remove()).toEqual([]);
    });
    return cgroup;
  };

  it('contains the process that joined it, and its children', async () => {
    const cgroup = open();
    await using worker = await startWorker(cgroup.procsFiles);
    expect(cgroup.version).toBe(hierarchy.version);
    expect(cgroup.pids()).toEqual([worker.pid]);
    const { pid = 0 } = await worker.ask('sleeper');
    expect(new Set(cgroup.pids())).toEqual(new Set([worker.pid, pid]));
  });

  it('counts the CPU time of a process, and of a child that has ended', async () => {
    const cgroup = open();
    await using worker = await startWorker(cgroup.procsFiles);
    const before = cgroup.readCpu()?.totalUs ?? NaN;
    const { burntUs = 0 } = await worker.ask('burn 100');
    const between = cgroup.readCpu()?.totalUs ?? NaN;
    const { burntUs: childUs = 0 } = await worker.ask('child 200');
    const after = cgroup.readCpu()?.totalUs ?? NaN;
    expect(between - before).toBeGreaterThan(burntUs * 0.99);
    expect(between - before).toBeLessThan(burntUs + 60_000);
    expect(after - between).toBeGreaterThan(childUs * 0.99);
    expect(after - between).toBeLessThan(childUs + 150_000);
  });

  it('is removed if it is empty; otherwise the error names its processes', async () => {
    const cgroup = open();
    const worker = await startWorker(cgroup.procsFiles);
    expect(await cgroup.remove()).toEqual([worker.pid]);
    await worker[Symbol.asyncDispose]();
    await expect.poll(() => cgroup.remove()).toEqual([]);
    expect(existsSync(dirname(cgroup.procsFiles[0] ?? '/'))).toBe(false);
    expect(cgroup.readCpu()).toBeUndefined();
    expect(await cgroup.remove()).toEqual([]);
  });
});
