import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { placeOn, readAllowedCores, readCores, widenServer, whyNotPinned } from '../src/placement.ts';
import { addressesOf, readNames } from '../src/procfs.ts';
import { openCompilerMeter } from '../src/resources/compiler-meter.ts';
import { runtimeOf, runtimeOfServer } from '../src/runtimes.ts';
import { start, type Child } from '../src/subprocess.ts';

const started: Child[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** Starts a program that prints a line when it is ready. Returns its process id. */
async function begin(command: string, ...args: string[]): Promise<number> {
  const child = start({ stdio: ['ignore', 'pipe', 'inherit'] })`exec ${[command, ...args]}`;
  started.push(child);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child.pid as number;
}

/** A Python with a thread of this name that burns CPU for this long, and then ends. */
const THREAD = (name: string, seconds: number): string => `
import ctypes, threading, time
def work():
    ctypes.CDLL(None).prctl(15, b"${name}")
    print("ready", flush=True)
    until = time.thread_time() + ${seconds}
    while time.thread_time() < until: pass
threading.Thread(target=work).start()
time.sleep(60)
`;

describe.skipIf(process.platform !== 'linux')('the runtime of a process', () => {
  it('is read off its program', async () => {
    expect(runtimeOf(process.pid)).toBe('v8');
    expect(runtimeOf(await begin('python3', '-c', 'import time; print(1, flush=True); time.sleep(60)'))).toBe(
      'python',
    );
    expect(runtimeOf(await begin('sh', '-c', 'echo ready; exec sleep 60'))).toBe('native');
  });

  it.each([
    ['C2 CompilerThre', 'jvm'],
    ['.NET Tiered Com', 'dotnet'],
  ])('is read off its threads: %s', async (name, runtime) => {
    expect(runtimeOf(await begin('python3', '-c', THREAD(name, 30)))).toBe(runtime);
  });

  it('is that of the listener, not of a launcher beside it', async () => {
    const server = await begin(
      'python3',
      '-c',
      `
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(60)`,
    );
    const { pid } = process;
    expect(runtimeOfServer(new Set([pid, server]), 1)).toBe('v8');
    const port = addressesOf([server])[0]?.port ?? 0;
    expect(runtimeOfServer(new Set([pid, server]), port)).toBe('python');
  });
});

describe.skipIf(process.platform !== 'linux')('the CPU of compilers', () => {
  it('is that of their threads alone, and counts with what was last seen of those that have ended', async () => {
    const pid = await begin('python3', '-c', THREAD('C2 CompilerThre', 0.3));
    const meter = openCompilerMeter(pid, 'jvm');
    let last = 0;
    await expect.poll(() => (last = meter?.readUs() ?? 0), { timeout: 10_000 }).toBeGreaterThan(200_000);
    await expect.poll(() => readNames(`/proc/${pid}/task`), { timeout: 10_000 }).toHaveLength(1);
    expect(meter?.readUs()).toBeGreaterThanOrEqual(last);
    expect(meter?.readUs()).toBeLessThan(400_000);
    expect(openCompilerMeter(pid, 'dotnet')?.readUs()).toBe(0);
    expect(openCompilerMeter(pid, 'python')).toBeUndefined();
  });
});

describe('a server that warms up', () => {
  it('may use every core of the run, and all its threads are pinned again', async ({ skip }) => {
    const cores = readCores();
    skip(cores.length < 2 || (await whyNotPinned()) !== undefined, 'needs two cores, and taskset');
    const placed = placeOn(cores, { serverCores: 1, generators: 1 });
    const own = placed.placement.server ?? [];
    const [program = '', ...words] = placed.server;
    const pid = await begin(program, ...words, 'python3', '-c', THREAD('worker', 30));
    const coresOfThreads = () =>
      readNames(`/proc/${pid}/task`).map((thread) => readAllowedCores(`${pid}/task/${thread}`));
    const narrow = await widenServer(pid, placed);
    expect(new Set(coresOfThreads().map((list) => list?.length))).toEqual(new Set([cores.length]));
    await narrow?.();
    expect(coresOfThreads()).toEqual(readNames(`/proc/${pid}/task`).map(() => own));
    // One that Bench did not pin keeps its cores.
    const free = await begin('python3', '-c', THREAD('worker', 30));
    expect(await widenServer(free, placed)).toBeUndefined();
  });
});
