import { hostname, userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { unlikeHosts } from 'bench-analysis/unlike';
import { readHost } from '../src/host.ts';
import type { Host } from 'bench-model/host';

const HOST: Host = {
  platform: 'linux',
  arch: 'x64',
  release: '6.8.0-49-generic',
  cpuModel: 'AMD Ryzen 7 7700',
  cores: 16,
  memoryBytes: 32 * 2 ** 30,
  governor: 'performance',
  cgroup: 'v2',
  load: [0.1, 0.2, 0.3],
  node: 'v26.10.0',
};

describe('unlikeHosts', () => {
  it('ignores facts that do not affect figures', () => {
    const later: Host = { ...HOST, load: [3, 2, 1], cgroup: 'v2: cannot be created (EACCES)' };
    expect(unlikeHosts(HOST, later)).toEqual([]);
  });

  it.each<[keyof Host, Host[keyof Host], string]>([
    ['cpuModel', 'Apple M3', 'CPU model: AMD Ryzen 7 7700 and Apple M3'],
    ['cores', 8, 'cores: 16 and 8'],
    ['memoryBytes', 16 * 2 ** 30, 'memory: 32.0 GiB and 16.0 GiB'],
    ['release', '6.11.0-1', 'kernel release: 6.8.0-49-generic and 6.11.0-1'],
    ['governor', 'powersave', 'governor: performance and powersave'],
  ])('names a different %s', (key, value, sentence) => {
    expect(unlikeHosts(HOST, { ...HOST, [key]: value })).toEqual([sentence]);
  });

  it('tolerates 2 % of memory', () => {
    expect(unlikeHosts(HOST, { ...HOST, memoryBytes: HOST.memoryBytes * 0.981 })).toEqual([]);
    expect(unlikeHosts(HOST, { ...HOST, memoryBytes: HOST.memoryBytes * 0.979 })).toHaveLength(1);
    expect(unlikeHosts({ ...HOST, memoryBytes: HOST.memoryBytes * 0.979 }, HOST)).toHaveLength(1);
  });

  it('reports a governor that only one machine has', () => {
    const { governor: _, ...blind } = HOST;
    expect(unlikeHosts(HOST, blind)).toEqual(['governor: performance and unknown']);
    expect(unlikeHosts(blind, blind)).toEqual([]);
  });
});

describe('readHost', () => {
  it('describes this machine, in JSON that reads back the same', async () => {
    const host = await readHost();
    expect(host.cores).toBeGreaterThan(0);
    expect(host.memoryBytes).toBeGreaterThan(2 ** 28);
    expect(host.load).toHaveLength(3);
    expect(JSON.parse(JSON.stringify(host))).toEqual(host);
    expect(unlikeHosts(host, await readHost())).toEqual([]);
  });

  it('contains no user, host name or path', async () => {
    const values: unknown[] = [];
    JSON.stringify(await readHost(), (_key, value: unknown) => {
      values.push(value);
      return value;
    });
    const texts = values.filter((value) => typeof value === 'string');
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts) {
      expect(text).not.toMatch(/[/\\]/);
      expect([hostname(), userInfo().username, userInfo().homedir]).not.toContain(text);
    }
  });
});
