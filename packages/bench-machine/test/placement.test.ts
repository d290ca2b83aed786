import { describe, expect, it } from 'vitest';
import { choosePlacement, parseCpuList, placeOn, readCores, whyNotPinned } from '../src/placement.ts';
import type { Core } from '../src/placement.ts';
import { run } from '../src/subprocess.ts';

/** Cores without siblings. */
const plain = (...ids: number[]): Core[] => ids.map((id) => ({ id, siblings: [id] }));

/** n physical cores, the second thread of core i numbered n + i, as on most x86 machines. */
const threaded = (physical: number): Core[] =>
  Array.from({ length: 2 * physical }, (_, id) => ({
    id,
    siblings: [id % physical, (id % physical) + physical],
  }));

describe('placeOn', () => {
  it('gives the server the last core and the generator the rest', () => {
    expect(placeOn(plain(0, 1), { serverCores: 1, generators: 1 })).toEqual({
      placement: { kind: 'separate', server: [1], generator: [0] },
      server: ['taskset', '-c', '1'],
      generator: ['taskset', '-c', '0'],
      serverOrder: [1],
    });
    expect(placeOn(plain(0, 1, 2, 3), { serverCores: 2, generators: 2 })).toEqual({
      placement: { kind: 'separate', server: [2, 3], generator: [0, 1] },
      server: ['taskset', '-c', '2,3'],
      generator: ['taskset', '-c', '0,1'],
      serverOrder: [3, 2],
    });
  });

  it('gives the upstream a separate core if the generators can spare it, else one of theirs', () => {
    expect(placeOn(plain(0, 1, 2), { serverCores: 1, generators: 1, beside: ['upstream'] })).toEqual({
      placement: { kind: 'separate', server: [2], generator: [0], beside: { upstream: [1] } },
      server: ['taskset', '-c', '2'],
      generator: ['taskset', '-c', '0'],
      beside: ['taskset', '-c', '1'],
      serverOrder: [2],
    });
    expect(placeOn(plain(0, 1, 2), { serverCores: 1, generators: 2, beside: ['upstream'] })).toMatchObject({
      placement: { server: [2], generator: [0, 1], beside: { upstream: [0, 1] } },
      beside: ['taskset', '-c', '0,1'],
      reason: "the upstream shares the generators' cores",
    });
    expect(placeOn(plain(5), { serverCores: 1, generators: 1, beside: ['upstream'] })).toMatchObject({
      placement: { kind: 'shared', beside: { upstream: [5] } },
      beside: [],
    });
  });

  it('shares a single core, and says so', () => {
    expect(placeOn(plain(5), { serverCores: 1, generators: 1 })).toEqual({
      placement: { kind: 'shared', server: [5], generator: [5] },
      server: [],
      generator: [],
      serverOrder: [5],
      reason: '1 core for a server on 1 and its load: both share them',
    });
  });

  it('shares if the server takes every core', () => {
    const placed = placeOn(plain(0, 1), { serverCores: 2, generators: 1 });
    expect(placed.placement.kind).toBe('shared');
    expect(placed.reason).toContain('2 cores for a server on 2');
  });

  it('uses only allowed cores', () => {
    expect(placeOn(plain(2, 6, 9), { serverCores: 1, generators: 1 }).placement).toEqual({
      kind: 'separate',
      server: [9],
      generator: [2, 6],
    });
  });

  it('keeps the generator off the sibling thread of the server', () => {
    const { placement, reason } = placeOn(threaded(2), { serverCores: 1, generators: 1 });
    expect(placement).toEqual({ kind: 'separate', server: [3], generator: [0, 2] });
    expect(reason).toBeUndefined();
  });

  it('gives the server separate physical cores while one is left', () => {
    expect(placeOn(threaded(4), { serverCores: 2, generators: 1 }).placement).toEqual({
      kind: 'separate',
      server: [6, 7],
      generator: [0, 1, 4, 5],
    });
  });

  it('gives the server both threads of one core, not one thread of each', () => {
    expect(placeOn(threaded(2), { serverCores: 2, generators: 1 }).placement).toEqual({
      kind: 'separate',
      server: [1, 3],
      generator: [0, 2],
    });
  });

  it('says if only sibling threads are left for the load', () => {
    const { placement, reason } = placeOn(threaded(1), { serverCores: 1, generators: 1 });
    expect(placement).toEqual({ kind: 'separate', server: [1], generator: [0] });
    expect(reason).toBe('the load runs on sibling threads of the server');
  });

  it('says if generators share cores', () => {
    expect(placeOn(plain(0, 1, 2), { serverCores: 1, generators: 3 }).reason).toBe(
      '3 generators share 2 cores',
    );
  });

  it('uses efficiency cores last, and ignores small differences', () => {
    const hybrid: Core[] = plain(0, 1, 2, 3).map((core) => ({
      ...core,
      speed: [5_100, 5_000, 3_800, 3_800][core.id]!,
    }));
    expect(placeOn(hybrid, { serverCores: 1, generators: 1 }).placement).toEqual({
      kind: 'separate',
      server: [1],
      generator: [0, 2, 3],
    });
  });
});

describe('parseCpuList', () => {
  it.each([
    ['0-3,8,10-11\n', [0, 1, 2, 3, 8, 10, 11]],
    ['0', [0]],
    ['', []],
  ])('reads %j', (text, ids) => {
    expect(parseCpuList(text)).toEqual(ids);
  });
});

describe('choosePlacement', () => {
  it.skipIf(process.platform !== 'linux')('finds the cores of this machine', async () => {
    const cores = readCores();
    expect(cores.length).toBeGreaterThan(0);
    for (const { id, siblings } of cores) expect(siblings).toContain(id);
    const { placement } = await choosePlacement({ serverCores: 1, generators: 1 });
    expect(placement.kind).not.toBe(cores.length > 1 ? 'shared' : 'separate');
  });

  it.skipIf(process.platform !== 'darwin')('says that macOS cannot pin', async () => {
    const placed = await choosePlacement({ serverCores: 1, generators: 1 });
    expect(placed).toMatchObject({
      placement: { kind: 'unpinned' },
      reason: expect.stringContaining('macOS'),
    });
  });
});

describe.skipIf(readCores().length < 2 || (await whyNotPinned()) !== undefined)('pinHarness', () => {
  it('keeps every thread of the calling process on the cores of the load, and the others for its next run', async () => {
    const placement = { kind: 'separate', server: [readCores().at(-1)?.id], generator: [readCores()[0]?.id] };
    const program = `
      import { readdirSync, readFileSync } from 'node:fs';
      import { choosePlacement, pinHarness } from ${JSON.stringify(new URL('../src/placement.ts', import.meta.url).href)};
      await choosePlacement({ serverCores: 1, generators: 1 });
      await pinHarness(${JSON.stringify({ placement, server: [], generator: [] })});
      const lists = readdirSync('/proc/self/task').map((thread) =>
        /Cpus_allowed_list:\\s*(\\S+)/.exec(readFileSync('/proc/self/task/' + thread + '/status', 'utf8'))[1]);
      const again = await choosePlacement({ serverCores: 1, generators: 1 });
      console.log(JSON.stringify([...new Set(lists), again.placement.kind]));
    `;
    const { stdout } = await run([process.execPath, '--input-type=module', '-e', program]);
    expect(JSON.parse(stdout)).toEqual([String(readCores()[0]?.id), 'separate']);
  });
});
