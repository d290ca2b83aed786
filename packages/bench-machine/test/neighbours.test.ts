import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keepNeighbours, measureNeighbours, recallNeighbours } from '../src/neighbours.ts';
import { readCores, whyNotPinned } from '../src/placement.ts';
import { readText } from '../src/procfs.ts';
import { run, type SubprocessError } from '../src/subprocess.ts';

const cores = (await whyNotPinned()) === undefined ? readCores().map(({ id }) => id) : [];
const [first = 0, second = 0] = cores;

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
    const pairs = await measureNeighbours({ server: second, load: [first] }, 2);
    expect(pairs).toHaveLength(2);
    for (const { idleUs, busyUs } of pairs) {
      expect(idleUs).toBeGreaterThan(0);
      expect(busyUs).toBeGreaterThan(0);
    }
  });

  it('leaves no process behind, however the process ends that measures', async () => {
    const module = new URL('../src/neighbours.ts', import.meta.url).href;
    const script = `const { readFileSync } = await import('node:fs');
      const { measureNeighbours } = await import(${JSON.stringify(module)});
      void measureNeighbours({ server: ${second}, load: [${first}] }, 10_000);
      const children = () => readFileSync('/proc/thread-self/children', 'utf8').trim().split(' ');
      while (children().length < 2) await new Promise(setImmediate);
      console.log(children().join(' '));
      process.kill(process.pid, 'SIGKILL');`;
    const ended = await run([process.execPath, '--input-type=module', '-e', script]).catch(
      (error: unknown) => error as SubprocessError,
    );
    const pids = ended.stdout.trim().split(' ').map(Number);
    expect(pids).toHaveLength(2);
    await until(() => pids.every((pid) => readText(`/proc/${pid}/stat`) === undefined));
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
