import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { start } from 'bench-machine/subprocess';
import { needs, tool, uv } from '../../../bench-lab/testing/needs.ts';
import type { Prepared } from '../../src/prepare/prepare.ts';
import { findProfiler } from '../../src/profile/profilers.ts';
import { mergeThreads } from '../../src/profile/threads.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-threads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function countInnermost(text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, name = '', count] of text.matchAll(/^(?:.*;)?(\w+).*? (\d+)$/gm))
    counts[name] = (counts[name] ?? 0) + Number(count);
  return counts;
}

describe('the stacks of threads', () => {
  it('are those that held the GIL, and as many others as the CPU that it does not explain', () => {
    const merged = mergeThreads(['compute 131\nread 6\n', 'read 170\ncompute 22\n'], 140);
    expect(countInnermost(merged)).toEqual({ compute: 131, read: 9 });
    const others = mergeThreads(['handle 50\n', 'handle 10\ncompress 35\nhash 5\n'], 250);
    expect(countInnermost(others)).toEqual({ handle: 50, compress: 175, hash: 25 });
  });
});

/** Ten threads wait 30 ms for another process and then compute; thirty others are idle. */
const SERVER = `
import os, socket, sys, threading, time
pairs = [socket.socketpair() for _ in range(10)]
def echo(end):
    while end.recv(1):
        time.sleep(0.03); end.send(b"x")
if os.fork() == 0:
    for own, other in pairs:
        own.close()
        threading.Thread(target=echo, args=(other,)).start()
    sys.exit()
def wait(end): end.recv(1)
def compute():
    end = time.thread_time() + 0.0004
    while time.thread_time() < end: pass
def work(end):
    for turn in range(1_000_000):
        end.send(b"x")
        wait(end)
        compute()
        if turn % 5 == 0: print("done", flush=True)
for own, other in pairs:
    other.close()
    threading.Thread(target=work, args=(own,)).start()
for _ in range(30): threading.Thread(target=threading.Event().wait, daemon=True).start()
`;

describe.runIf(process.platform === 'linux')('a server with threads', () => {
  needs(uv);
  needs(tool('python3'));

  it('is charged for what its threads compute, not for what they wait for', async () => {
    const prepared = {
      stack: { runtime: 'python' },
      target: {},
      runtime: { version: '3.11', build: { implementation: 'CPython' } },
      interpreter: 'python3',
    } as unknown as Prepared;
    const profiler = await findProfiler(prepared, () => {});
    const child = start({ stdio: ['ignore', 'pipe', 'ignore'] })`exec python3 -c ${SERVER}`;
    try {
      const said = (): Promise<unknown> => once(child.stdout as NodeJS.ReadableStream, 'data');
      await said();
      await using recording = await profiler.attach(child.pid as number, join(folder, 'profile'));
      for (let done = 0; done < 50; done++) await said();
      const profiles = await recording.stop();
      const { compute = 0, ...others } = countInnermost(profiles.map(({ text }) => text).join('\n'));
      expect(compute).toBeGreaterThan(Math.max(...Object.values(others)));
    } finally {
      child.kill('SIGKILL');
    }
  });
});
