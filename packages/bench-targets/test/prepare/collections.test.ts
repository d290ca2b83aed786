import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { start, type Child } from 'bench-machine/subprocess';
import { collectableEnvironment, collectGarbage } from '../../src/prepare/collect.ts';
import { countCollections, countingEnvironment, readCollections } from '../../src/prepare/collections.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench collections-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [collected, file] = [join(folder, '001-collected'), join(folder, '001-collections')];

/** Each line of input causes a collection that takes more than 1 ms. */
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

/** Causes a collection, and waits for its end. */
async function collect({ stdin, stdout }: Child): Promise<void> {
  const ended = once(stdout as Readable, 'data');
  stdin?.write('\n');
  await ended;
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
    { collector: 'node', argv: [process.execPath, '-e', NODE] },
    { collector: 'python', argv: ['python3', '-c', PYTHON] },
  ] as const)('tells the long ones in the window, if it runs $collector', async ({ collector, argv }) => {
    const env = collectableEnvironment({}, collected);
    const child = await begin([...argv], { ...env, ...countingEnvironment(collector, env, file) });
    const pid = child.pid as number;
    if (collector === 'node') await collectGarbage(pid, collected);
    await collect(child);
    const openedAtMs = Date.now();
    await collect(child);
    const closedAtMs = Date.now();
    await collect(child);
    const asked = { collector, file, wake: () => collect(child) };
    const told = await readCollections(pid, asked, { openedAtMs, closedAtMs });
    expect(told?.length).toBeGreaterThan(0);
    expect(told?.every(({ ms }) => ms >= 1 && ms <= 1 + closedAtMs - openedAtMs)).toBe(true);
    expect(told?.every(({ seconds }) => 1000 * seconds <= closedAtMs - openedAtMs)).toBe(true);
    const all = await readCollections(pid, asked, { openedAtMs: 0, closedAtMs: Infinity });
    expect(all?.length).toBeGreaterThan(told?.length ?? 0);
    const counted = await countCollections(pid, asked);
    expect(counted?.count).toBeGreaterThanOrEqual(all?.length ?? Infinity);
    expect(counted?.ms).toBeGreaterThanOrEqual(all?.reduce((total, { ms }) => total + ms, 0) ?? Infinity);
  });

  it('is left alone without the hook', async () => {
    const child = await begin([process.execPath, '-e', NODE], {});
    const asked = { collector: 'node', file, wake: async () => {} } as const;
    const told = await readCollections(child.pid as number, asked, { openedAtMs: 0, closedAtMs: Infinity });
    expect(told).toBeUndefined();
  });
});
