import { randomBytes } from 'node:crypto';
import { afterAll, expect, vi } from 'vitest';
import { environHas, listPids } from '../../src/machine/procfs.ts';

/**
 * The token of one test file, in the environment of everything that it starts. After its last test no process
 * that carries it may be left.
 */
export function openToken(): string {
  const token = randomBytes(8).toString('hex');
  // Servers are given it; generators and watchdogs inherit it.
  process.env['BENCH_TOKEN'] = token;
  afterAll(async () => {
    await vi.waitFor(() => expect(survivorsOf(token)).toEqual([]), { timeout: 10_000 });
  });
  return token;
}

function survivorsOf(token: string): number[] {
  return listPids().filter((pid) => pid !== process.pid && environHas(pid, 'BENCH_TOKEN', token) === true);
}
