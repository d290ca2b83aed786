import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keepNeighbours, measureNeighbours, recallNeighbours, startFiller } from '../src/neighbours.ts';
import { readCores, whyNotPinned } from '../src/placement.ts';
import { readText, readThreadsUs } from '../src/procfs.ts';
import { run, type SubprocessError } from '../src/subprocess.ts';
import { sum } from 'bench-statistics/numbers';

const cores = (await whyNotPinned()) === undefined ? readCores().map(({ id }) => id) : [];
const [first = 0, second = 0] = cores;

const cpuOf = (pid: number) => sum([...readThreadsUs(pid).values()]);

/** Returns the letter of the state of a process or thread. */
const stateOf = (folder: string) => / ([A-Z]) /.exec(readText(`${folder}/stat`) ?? '')?.[1];

/** Returns true if each thread of a process is stopped. */
const hasStopped = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).every((thread) => stateOf(`/proc/${pid}/task/${thread}`) === 'T');

/** A folder that is removed after the test. */
function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bench-neighbours-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Waits until a condition holds; the test's own time limit ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

describe.skipIf(cores.length < 2)('measureNeighbours', () => {
  it('measures the CPU of the same work beside an idle and a busy core', async () => {
    const pairs = await measureNeighbours({ server: second, load: [first], busy: 'work' }, 2);
    expect(pairs).toHaveLength(2);
    for (const { idleUs, busyUs } of pairs) {
      expect(idleUs).toBeGreaterThan(0);
      expect(busyUs).toBeGreaterThan(0);
    }
  });
});

describe.skipIf(cores.length < 2)('startFiller', () => {
  it('uses CPU only between resume and pause, at idle priority, and ends when disposed of', async () => {
    const filler = await startFiller([first], 'loop');
    expect(filler.isRunning()).toBe(true);
    await until(() => hasStopped(filler.pid));
    filler.resume();
    const before = cpuOf(filler.pid);
    await until(() => cpuOf(filler.pid) > before + 10_000);
    expect(readText(`/proc/${filler.pid}/sched`)).toMatch(/^policy\s*:\s*5$/m);
    filler.pause();
    await until(() => hasStopped(filler.pid));
    // A thread at idle priority may have to wait for a core before it can stop.
    let paused: number;
    do {
      paused = cpuOf(filler.pid);
      await sleep(20);
    } while (cpuOf(filler.pid) !== paused);
    expect(hasStopped(filler.pid)).toBe(true);
    filler[Symbol.dispose]();
    await until(() => [undefined, 'Z'].includes(stateOf(`/proc/${filler.pid}`)));
  });
});

describe.skipIf(cores.length < 2)('a filler', () => {
  it('ends with the process that started it, however that ends', async () => {
    const module = new URL('../src/neighbours.ts', import.meta.url).href;
    const script = `const { readlinkSync, realpathSync } = await import('node:fs');
      const { startFiller } = await import(${JSON.stringify(module)});
      const filler = await startFiller([${first}], 'loop');
      filler.resume();
      const exe = '/proc/' + filler.pid + '/exe';
      while (readlinkSync(exe) !== realpathSync(process.execPath)) await new Promise(setImmediate);
      console.log(filler.pid);
      process.kill(process.pid, 'SIGKILL');`;
    const ended = await run([process.execPath, '--input-type=module', '-e', script]).catch(
      (error: unknown) => error as SubprocessError,
    );
    const pid = Number(ended.stdout);
    expect(pid).toBeGreaterThan(0);
    await until(() => readText(`/proc/${pid}/stat`) === undefined);
  });
});

describe.skipIf(process.platform !== 'linux')('what is known of neighbours', () => {
  const found = { ratio: 1.18, low: 1.15, high: 1.21 };

  it('is kept until the machine is started again', () => {
    const folder = openFolder();
    expect(recallNeighbours(folder)).toBeUndefined();
    keepNeighbours(found, folder);
    expect(recallNeighbours(folder)).toEqual(found);
    const file = join(folder, 'neighbours.json');
    const kept = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...kept, boot: 'another' }));
    expect(recallNeighbours(folder)).toBeUndefined();
  });

  it('is nothing if the file is broken', () => {
    const folder = openFolder();
    writeFileSync(join(folder, 'neighbours.json'), '{"boot":');
    expect(recallNeighbours(folder)).toBeUndefined();
  });
});
