import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { start } from 'bench-machine/subprocess';
import { attachCounter, parseCalls } from '../../src/profile/calls.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-calls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('system calls are counted by kind, and bytes as they were written', () => {
  const text = `17    writev(3, 0x7f6e2a3bd1c0, 2)         = 20
17    write(4, ""..., 10000 <unfinished ...>
19    recvfrom(6, ""..., 65536, 0, NULL, NULL) = 300
17    <... write resumed>)              = 9000
10019 sendto(6, ""..., 2000, 0, NULL, 0) = -1 EAGAIN (Resource temporarily unavailable)
10019 sendto(6, ""..., 1000, 0, NULL, 0) = 500
    calls syscall
--------- ----------------
     2002 write
        2 sendto
       12 recvfrom
        7 epoll_pwait2
        3 poll
        1 accept4
        5 futex
       80 sched_yield
--------- ----------------
     2112 total
`;
  expect(parseCalls(text)).toEqual({ all: 2112, writes: 2004, bytes: 9520 });
});

it('counts the 10 KB that a server writes to a file for each request', async (context) => {
  const script = `
    const { openSync, writeSync } = require('node:fs');
    const log = openSync(process.argv[1], 'a');
    process.stdin.on('data', () => { writeSync(log, 'x'.repeat(10_000)); process.stdout.write('done'); });
    process.stdout.write('ready');`;
  const child = start({
    stdio: ['pipe', 'pipe', 'ignore'],
  })`${process.execPath} -e ${script} ${join(folder, 'log')}`;
  const said = (): Promise<unknown> => once(child.stdout as NodeJS.ReadableStream, 'data');
  try {
    await said();
    await using counter = await attachCounter(child.pid as number, join(folder, 'calls'));
    if (counter === undefined) return context.skip('strace is missing, or may not');
    for (let request = 0; request < 10; request++) {
      child.stdin?.write('request');
      await said();
    }
    const [text = ''] = await counter.stop();
    expect(Math.round(parseCalls(text).bytes / 10_000)).toBe(10);
  } finally {
    child.kill('SIGKILL');
  }
});
