import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { findProgram } from 'bench-machine/path';
import { run, start, type Child } from 'bench-machine/subprocess';
import { sum } from 'bench-statistics/numbers';
import { collectGarbage } from '../../src/prepare/collect.ts';
import { hooked } from '../../src/prepare/signals.ts';
import type { Prepared } from '../../src/prepare/prepare.ts';
import { askServer, watchWaits } from '../../src/profile/telling.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench collections-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [collected, file] = [join(folder, '001-collected'), join(folder, '001-collections')];

/** Each line of input causes a collection. */
const NODE = `
  const kept = Array.from({ length: 300_000 }, (_, index) => ({ index }));
  require('node:v8').setFlagsFromString('--expose-gc');
  const gc = require('node:vm').runInNewContext('gc');
  process.stdin.on('data', () => { gc(); console.log(kept.length); });
  console.log('up');
`;
const PYTHON = `
import gc, os, sys
kept = [[index] for index in range(300_000)]
# print writes the end of a line by itself if output is not buffered, which looks like a second answer.
os.write(1, b"up\\n")
for line in sys.stdin:
    gc.collect()
    os.write(1, b"%d\\n" % len(kept))
`;

/** A line of input causes waits of each kind, and a line of output ends them. */
const WAITS = `import asyncio
import sqlite3
import sys
import threading
import time

lock = asyncio.Lock()
db = sqlite3.connect(":memory:")


def sleep_in_thread():
    time.sleep(0.5)

async def sleep_in_task():
    await asyncio.sleep(0.5)

async def take_lock():
    async with lock:
        pass

async def hide():
    await asyncio.sleep(60)

async def main():
    hidden = asyncio.create_task(hide())
    await asyncio.sleep(0)
    await lock.acquire()
    print("up", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    thread = threading.Thread(target=sleep_in_thread)
    thread.start()
    tasks = [asyncio.create_task(one()) for one in (sleep_in_task, take_lock)]
    for _ in range(20):
        db.execute("select ?", (7,))
    await tasks[0]
    lock.release()
    await tasks[1]
    print("done", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)

asyncio.run(main())
`;

/** A line of input causes three requests, one after the other at the lock. Their last timers are due while the loop is busy. */
const nodeWaits = (awaits: number) => `
  let tail = Promise.resolve();
  const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
  async function answer(request, response) {
    for (let index = 0; index < ${awaits}; index++) await index;
    await (tail = tail.then(pause));
    setImmediate(block);
    await pause();
    response.end();
  }
  function block() {
    for (const from = performance.now(); performance.now() < from + 150; );
  }
  const server = require('node:http').createServer(answer).listen(0, '127.0.0.1', () => console.log('up'));
  process.stdin.on('data', async () => {
    const url = 'http://127.0.0.1:' + server.address().port;
    await Promise.all([fetch(url), fetch(url), fetch(url)]);
    console.log('done');
  });
`;
const GO_WAITS = `package main

import ("net/http"; "net/http/httptest"; "os"; "sync"; "time")

var entered sync.WaitGroup
var mutex sync.Mutex

func answer(http.ResponseWriter, *http.Request) {
	entered.Done()
	mutex.Lock()
	time.Sleep(time.Minute)
}

func main() {
	server := httptest.NewServer(http.HandlerFunc(answer))
	entered.Add(2)
	go http.Get(server.URL)
	go http.Get(server.URL)
	entered.Wait()
	os.Stdout.WriteString("up\\n")
	select {}
}
`;

async function collect({ stdin, stdout }: Child): Promise<void> {
  const ended = once(stdout as Readable, 'data');
  stdin?.write('\n');
  await ended;
}

/** Returns where the requests of a load wait, with the line and for what. */
async function watch(
  child: Child,
  runtime: 'node' | 'none',
  load: () => Promise<unknown>,
): Promise<{ place: string; ms: number }[]> {
  const prepared = { env: { BENCH_WAITS: file }, stack: { runtime, root: folder }, target: {} };
  let log = '';
  child.stdout?.on('data', (piece: Buffer) => (log += String(piece)));
  const watched = { load: async () => load().then(() => 1), perSecond: 1 };
  const server = { pid: child.pid as number, log: () => log };
  const seen = await watchWaits(server, prepared as unknown as Prepared, watched);
  return (seen?.waits ?? []).map(({ name, line, for: kind, ms }) => ({
    place: `${name} ${line} ${kind}`,
    ms,
  }));
}

describe.runIf(process.platform === 'linux')('a server that counts its collections', () => {
  const children: Child[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  async function begin(argv: string[], env: Record<string, string>): Promise<Child> {
    const { NODE_OPTIONS: _, ...own } = process.env;
    const child = start({ env: { ...own, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })`exec ${argv}`;
    children.push(child);
    await once(child.stdout as Readable, 'data');
    return child;
  }

  it.for([
    { teller: 'node', argv: [process.execPath, '-e', NODE] },
    { teller: 'python', argv: ['python3', '-c', PYTHON] },
  ] as const)('tells their number and time, if it runs $teller', async ({ teller, argv }) => {
    const env = hooked(teller, {}, { BENCH_COLLECTED: collected, BENCH_COLLECTIONS: file });
    const child = await begin([...argv], env);
    const pid = child.pid as number;
    if (teller === 'node') await collectGarbage(pid, collected);
    const asked = { teller, file, wake: () => collect(child) };
    const before = await askServer(pid, asked);
    await collect(child);
    const after = await askServer(pid, asked);
    expect(after?.count).toBeGreaterThan(before?.count ?? Infinity);
    expect(after?.ms).toBeGreaterThan(before?.ms ?? Infinity);
  });

  it('tells the statements of SQLite, and the lines at which its own code waits', async () => {
    const source = join(folder, 'waits.py');
    writeFileSync(source, WAITS);
    const env = hooked('python', {}, { BENCH_COLLECTIONS: file, BENCH_OWN: folder });
    const child = await begin(['python3', source], env);
    const asked = { teller: 'python', file, wake: async () => {} } as const;
    await askServer(child.pid as number, asked);
    await collect(child);
    const told = await askServer(child.pid as number, asked);
    expect(told?.statements).toEqual({ 'select 7': 20 });
    const lines = told?.waits?.map(({ name, line, in: within }) => ({ name, line, within }));
    const expected = [
      { name: 'sleep_in_thread', line: 12, within: '' },
      { name: 'sleep_in_task', line: 15, within: 'sleep' },
      { name: 'take_lock', line: 18, within: expect.stringContaining('acquire') },
    ];
    expect(lines?.map(({ name }) => name)).not.toContain('hide');
    expect(lines).toEqual(expect.arrayContaining(expected));
  });

  it.each([
    { awaits: 0, places: ['answer 6 a lock', 'answer 8 a timer'] },
    // There are stacks of some requests only.
    { awaits: 1500, places: ['answer 8 a timer'] },
  ])('tells at which lines requests wait, for what and how long, if it runs on Node', async (of) => {
    const source = join(folder, 'waits.cjs');
    writeFileSync(source, nodeWaits(of.awaits));
    const env = hooked('node', {}, { BENCH_WAITS: file, BENCH_OWN: folder });
    const child = await begin([process.execPath, source], env);
    const waits = await watch(child, 'node', () => collect(child));
    expect(waits.map(({ place }) => place)).toEqual(expect.arrayContaining(of.places));
    const ms = sum(waits.map((wait) => (wait.place === 'answer 8 a timer' ? wait.ms : 0)));
    // At moments of 4 ms, of which each timer may meet one more or less.
    expect(Math.abs(ms / 300 - 1)).toBeLessThan(0.05);
  });

  it.runIf(findProgram('go'))('tells that by a dump, if it is of Go', async () => {
    const [source, program] = [join(folder, 'waits.go'), join(folder, 'program')];
    writeFileSync(source, GO_WAITS);
    await run(['go', 'build', '-o', program, source], { cwd: folder });
    const child = await begin(['sh', '-c', 'exec "$0" 2>&1', program], {});
    const places = (await watch(child, 'none', () => once(child, 'close'))).map(({ place }) => place);
    expect(places.toSorted()).toEqual(['main.answer 10 a lock', 'main.answer 11 a timer']);
  });

  it('is left alone without the hook', async () => {
    const child = await begin([process.execPath, '-e', NODE], {});
    const asked = { teller: 'node', file, wake: async () => {} } as const;
    expect(await askServer(child.pid as number, asked)).toBeUndefined();
  });
});
