import { describe, expect, it, vi } from 'vitest';
import { openCgroup } from '../../src/cgroup.ts';
import { hostBetween } from '../../src/resources/linux.ts';
import type { Reading } from '../../src/resources/linux.ts';
import { readProcess } from '../../src/procfs.ts';
import { openSampler } from '../../src/resources/open.ts';
import { joinSampled, sampleTogether, type Sampled, type Sampler } from '../../src/resources/sampler.ts';
import type { ProcessUse } from 'bench-model/figures';
import { sampleResources } from '../../../bench-lab/testing/samples.ts';
import { startWorker } from './worker.ts';

const MIB = 1024 * 1024;

/** Returns a condition that is false `count` times, and then true. */
const timesTrue = (count: number) => (): boolean => --count < 0;

const window = (cpu: number, peakBytes: number, otherProcessesCores?: number): Sampled => ({
  server: {
    source: 'cgroup v1',
    scope: 'process tree',
    seconds: 2,
    cpuUserUs: cpu * 1e6,
    cpuSystemUs: 0.2e6,
    coresUsed: (cpu + 0.2) / 2,
    idleBytes: 10,
    loadedBytes: peakBytes - 1,
    peakBytes,
    contextSwitches: 7,
    processes: 1,
  },
  host: {
    ...(otherProcessesCores === undefined ? {} : { otherProcessesCores }),
    stealCores: 0.1,
    listenOverflows: 3,
  },
});

/** A sampler that returns `sampled`, and adds its calls to `done`. */
function sampledAs(name: string, sampled: Sampled, done: string[]): Sampler {
  return {
    idle: async () => done.push(`${name} idle`),
    start: async (ours) => void done.push(`${name} start ${ours.join()}`),
    stop: async () => sampled,
    [Symbol.dispose]: () => void done.push(`${name} end`),
  };
}

describe('sampleTogether', () => {
  it('reports the upstream separately from the server and from other processes', async () => {
    const done: string[] = [];
    const [server, upstream] = [window(1, 90, 0.3), window(0.4, 20)];
    const both = sampleTogether(sampledAs('server', server, done), [
      { name: 'upstream', sampler: sampledAs('upstream', upstream, done), pid: 77 },
    ]);
    await both.idle();
    await both.start([4711]);
    expect(await both.stop()).toEqual({ ...server, beside: { upstream: upstream.server } });
    both[Symbol.dispose]();
    expect(done).toEqual([
      'server idle',
      'server start 4711,77',
      'upstream start ',
      'server end',
      'upstream end',
    ]);
  });

  it('omits a companion that ended in the window', async () => {
    const both = sampleTogether(sampledAs('server', window(1, 90), []), [
      { name: 'database', sampler: sampledAs('database', { host: {} }, []), pid: 77 },
    ]);
    expect(await both.stop()).toEqual(window(1, 90));
  });
});

const using = (busiest: ProcessUse[], seconds: number): Sampled => ({
  server: { ...sampleResources(0.5), seconds, busiest },
  host: {},
});

describe('joinSampled', () => {
  it('sums totals and counts, and averages the shares of the machine', () => {
    expect(joinSampled([window(1, 90, 0.3), window(0.6, 80, 0.1)])).toEqual({
      server: {
        source: 'cgroup v1',
        scope: 'process tree',
        seconds: 4,
        cpuUserUs: 1.6e6,
        cpuSystemUs: 0.4e6,
        coresUsed: 0.5,
        idleBytes: 10,
        loadedBytes: 79,
        peakBytes: 90,
        contextSwitches: 14,
        processes: 1,
      },
      host: { otherProcessesCores: 0.2, stealCores: 0.1, listenOverflows: 6 },
    });
  });

  it('averages the busiest processes by their id, and their threads by rank', () => {
    const joined = joinSampled([
      using([{ pid: 7, cores: 1, threads: [0.9, 0.1] }], 1),
      using(
        [
          { pid: 8, cores: 0.8, threads: [0.8] },
          { pid: 7, cores: 0.6, threads: [0.6] },
        ],
        3,
      ),
    ]);
    const [first, second] = joined?.server?.busiest ?? [];
    expect(first?.pid).toBe(7);
    expect(first?.cores).toBeCloseTo(0.7);
    expect(first?.threads[0]).toBeCloseTo(0.675);
    expect(first?.threads[1]).toBeCloseTo(0.025);
    expect(second).toMatchObject({ pid: 8 });
    expect(second?.cores).toBeCloseTo(0.6);
  });

  it('never returns a negative share, although a coarse window may have one', () => {
    expect(joinSampled([window(1, 90, 0.3), window(1, 90, -0.1)])?.host.otherProcessesCores).toBeCloseTo(0.1);
    expect(joinSampled([window(1, 90, -0.1)])?.host.otherProcessesCores).toBe(0);
  });

  it('omits what one window lacks', () => {
    expect(joinSampled([window(1, 90, 0.3), window(1, 90)])?.host).not.toHaveProperty('otherProcessesCores');
    expect(joinSampled([window(1, 90), { host: {} }])).not.toHaveProperty('server');
    expect(joinSampled([])).toBeUndefined();
  });
});

describe('hostBetween', () => {
  const totals = { userUs: 0, niceUs: 0, systemUs: 0, irqUs: 0, softirqUs: 0, stealUs: 40_000 };
  const server = { totalUs: 5_000_000, userUs: 4_000_000, systemUs: 1_000_000 };
  const opened: Reading = {
    atMs: 1000,
    everyoneUs: 9_000_000,
    server,
    oursUs: 70_000,
    harnessUs: 30_000,
    totals,
  };
  const closed: Reading = {
    atMs: 3000,
    everyoneUs: 13_000_000,
    server: { ...server, totalUs: 6_900_000 },
    oursUs: 1_470_000,
    harnessUs: 130_000,
    totals: { ...totals, stealUs: 100_000 },
  };

  it('counts as other processes all but the server, the harness and the processes it started', () => {
    const host = hostBetween(opened, closed);
    expect(host.otherProcessesCores).toBeCloseTo((4 - 1.9 - 1.4 - 0.1) / 2, 9);
    expect(host.harnessCores).toBeCloseTo(0.05, 9);
    expect(host.stealCores).toBeCloseTo(0.03, 9);
  });

  it('omits what was not read', () => {
    const host = hostBetween({ ...opened, everyoneUs: undefined, totals: undefined }, closed);
    expect(host).not.toHaveProperty('otherProcessesCores');
    expect(host).not.toHaveProperty('stealCores');
    expect(hostBetween(opened, { ...closed, server: undefined })).not.toHaveProperty('otherProcessesCores');
  });
});

describe.skipIf(process.platform !== 'linux')('openSampler', () => {
  it('returns the CPU of a server in a window, and its memory before and at the end', async () => {
    await using server = await startWorker();
    using sampler = await openSampler({ serverPid: server.pid });
    await server.ask('burn 200');
    const idleBytes = await sampler.idle();
    await sampler.start([]);
    const { burntUs = 0 } = await server.ask('burn 300');
    await server.ask('hold 64');
    const { server: found, host } = await sampler.stop();
    expect(found).toMatchObject({ source: 'proc stat ticks', scope: 'process tree' });
    expect(found).toMatchObject({ idleBytes, processes: 1 });
    const { cpuUserUs = 0, cpuSystemUs = 0, coresUsed = 0, seconds = 0 } = found ?? {};
    expect(cpuUserUs + cpuSystemUs).toBeGreaterThan(burntUs - 40_000);
    // The 200 ms of CPU before the window are not counted.
    expect(cpuUserUs + cpuSystemUs).toBeLessThan(burntUs + 150_000);
    expect(coresUsed * seconds * 1e6).toBeCloseTo(cpuUserUs + cpuSystemUs, 0);
    // Its share of the pages of Node itself shrinks if more Node processes start in the window.
    expect(found?.loadedBytes).toBeGreaterThan((idleBytes ?? Infinity) + 31 * MIB);
    expect(found?.peakBytes).toBeGreaterThanOrEqual(found?.loadedBytes ?? Infinity);
    expect(found?.contextSwitches).toBeGreaterThan(0);
    // One of its threads used the CPU. Readings in ticks and in ns differ by at most a few ticks.
    const [busiest] = found?.busiest ?? [];
    expect(busiest?.pid).toBe(server.pid);
    expect((busiest?.threads[0] ?? 0) * seconds * 1e6).toBeGreaterThan(burntUs - 40_000);
    expect(host.otherProcessesCores).toBeDefined();
  });

  it('keeps the peak memory after the process that held it has ended', async () => {
    await using server = await startWorker();
    const { pid = 0 } = await server.ask('holder 32');
    using sampler = await openSampler({ serverPid: server.pid });
    await sampler.start([]);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => readProcess(pid)?.zombie ?? true).toBe(true);
    const { server: found } = await sampler.stop();
    expect(found?.peakBytes).toBeGreaterThan((found?.loadedBytes ?? Infinity) + 31 * MIB);
    expect(found?.processes).toBe(1);
  });

  it('samples memory while the window is open', async () => {
    await using server = await startWorker();
    using sampler = await openSampler({ serverPid: server.pid, memoryIntervalMs: 10 });
    await sampler.start([]);
    const before = await sampler.idle();
    const { pid = 0 } = await server.ask('holder 32');
    // Due timers run in order: three rounds of a slower timer guarantee at least one sample.
    await vi.waitUntil(timesTrue(3), { interval: 20 });
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => readProcess(pid)?.zombie ?? true).toBe(true);
    const { server: found } = await sampler.stop();
    expect(found?.peakBytes).toBeGreaterThan((before ?? Infinity) + 31 * MIB);
  });

  it('reads the cgroup only if the server is in it', async ({ skip }) => {
    const { cgroup, reason } = openCgroup(`sampler-${process.pid}`);
    if (cgroup === undefined) return skip(reason);
    const sourceOf = async (joins: string[]): Promise<string | undefined> => {
      await using server = await startWorker(joins);
      using sampler = await openSampler({ serverPid: server.pid, cgroup });
      await sampler.start([]);
      await server.ask('burn 1');
      return (await sampler.stop()).server?.source;
    };
    expect(await sourceOf(cgroup.procsFiles)).toBe(`cgroup ${cgroup.version}`);
    expect(await sourceOf([])).toBe('proc stat ticks');
    await expect.poll(() => cgroup.remove()).toEqual([]);
  });

  it('excludes the memory of a parent in the cgroup of the server, such as time(1)', async ({ skip }) => {
    const { cgroup, reason } = openCgroup(`wrapped-${process.pid}`);
    if (cgroup === undefined) return skip(reason);
    {
      await using wrapper = await startWorker(cgroup.procsFiles);
      const { pid = 0 } = await wrapper.ask('sleeper');
      using sampler = await openSampler({ serverPid: pid, cgroup });
      await sampler.start([]);
      const { server: found } = await sampler.stop();
      expect(found).toMatchObject({ source: `cgroup ${cgroup.version}`, processes: 1 });
      expect(found?.peakBytes).toBeLessThan(10 * MIB);
    }
    await expect.poll(() => cgroup.remove()).toEqual([]);
  });

  it('counts the CPU of an unrelated process as other processes', async () => {
    await using server = await startWorker();
    await using stranger = await startWorker();
    using sampler = await openSampler({ serverPid: server.pid });
    const from = performance.now();
    await sampler.start([]);
    const { burntUs = 0 } = await stranger.ask('burn 400');
    const { host } = await sampler.stop();
    const windowUs = (performance.now() - from) * 1000;
    // A window is a little shorter than the time around it, so the share can only be larger.
    expect(host.otherProcessesCores).toBeGreaterThan((burntUs - 40_000) / windowUs);
  });

  it('returns nothing for a server that ended in the window', async () => {
    const server = await startWorker();
    using sampler = await openSampler({ serverPid: server.pid });
    await sampler.start([]);
    await server[Symbol.asyncDispose]();
    const sampled = await sampler.stop();
    expect(sampled).not.toHaveProperty('server');
    expect(sampled.host.harnessCores).toBeGreaterThan(0);
  });

  it('rejects a server that is not running, and a window that was not opened', async () => {
    const server = await startWorker();
    const sampler = await openSampler({ serverPid: server.pid });
    await expect(sampler.stop()).rejects.toMatchObject({ code: 'trial' });
    await server[Symbol.asyncDispose]();
    expect(readProcess(server.pid)).toBeUndefined();
    await expect(openSampler({ serverPid: server.pid })).rejects.toMatchObject({ code: 'trial' });
  });
});
