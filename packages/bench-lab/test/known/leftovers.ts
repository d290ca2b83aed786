import { globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, expect, vi } from 'vitest';
import { environHas, listPids } from 'bench-machine/procfs';
import { newToken } from 'bench-machine/scratch';

/**
 * Opens the token of one test file, which everything that the file starts has in its environment. After the last test,
 * no process with the token and no cgroup or temporary folder of that name may be left.
 */
export function openToken(): string {
  const token = newToken();
  // Servers get it; generators and watchdogs inherit it.
  process.env['BENCH_TOKEN'] = token;
  afterAll(async () => {
    const isSurvivor = (pid: number): boolean =>
      pid !== process.pid && environHas(pid, 'BENCH_TOKEN', token) === true;
    await vi.waitFor(() => expect(listPids().filter(isSurvivor)).toEqual([]), { timeout: 10_000 });
    expect(globSync(`/sys/fs/cgroup/**/bench-${token}-*`)).toEqual([]);
    expect(globSync(`bench-*-${token}`, { cwd: tmpdir() })).toEqual([]);
  });
  return token;
}
