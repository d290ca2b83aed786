import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { start, type Child } from 'bench-machine/subprocess';
import { collectGarbage, isNode } from '../../src/prepare/collect.ts';
import { hooked } from '../../src/prepare/signals.ts';
import type { Stack } from 'bench-model/stack';
import type { RuntimeSpec } from 'bench-model/target';
import { sampleStack, sampleTarget } from '../../../bench-lab/testing/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench collect-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, '001-collected');
const collectable = hooked('node', {}, { BENCH_COLLECTED: file });

/** Says on each line whether an object without references still exists. */
const PROGRAM = `
  const ref = new WeakRef({});
  process.stdin.on('data', () => console.log(ref.deref() === undefined ? 'collected' : 'kept'));
  console.log(typeof globalThis.gc);
`;

async function read(child: Child): Promise<string> {
  return String(await once(child.stdout as Readable, 'data')).trim();
}

function node(text: string): string[] {
  return [process.execPath, '-e', text];
}

function isNodeOn(spec: string): boolean {
  const runtime: RuntimeSpec = { kind: 'node', spec };
  const stack: Stack = { ...sampleStack('api'), runtime: 'node' };
  return isNode({ stack, target: { ...sampleTarget('api'), runtime } });
}

describe.runIf(process.platform === 'linux')('a server that is asked to collect garbage', () => {
  const children: Child[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** Starts a program that writes one line, and asks it. Returns the response, and its state afterwards. */
  async function ask(
    argv: string[],
    env: Record<string, string>,
  ): Promise<{ first: string; answer: number | undefined; state: string }> {
    const { NODE_OPTIONS: _, ...own } = process.env;
    const child = start({ env: { ...own, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })`exec ${argv}`;
    children.push(child);
    const first = await read(child);
    const answer = await collectGarbage(child.pid as number, file);
    child.stdin?.write('state\n');
    return { first, answer, state: await read(child) };
  }

  it('collects it once if it runs Node, and is otherwise as it was', async () => {
    const found = await ask(node(PROGRAM), collectable);
    expect(found).toEqual({ first: 'undefined', answer: 1, state: 'collected' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps its own options of Node', async () => {
    const env = hooked('node', { NODE_OPTIONS: '--expose-gc' }, { BENCH_COLLECTED: file });
    expect(await ask(node(PROGRAM), env)).toMatchObject({ first: 'function', answer: 1 });
  });

  it('is left alone without the hook, and if it has removed the listener', async () => {
    expect(await ask(node(PROGRAM), {})).toMatchObject({ answer: 0, state: 'kept' });
    const deaf = `process.removeAllListeners('SIGURG'); ${PROGRAM}`;
    expect(await ask(node(deaf), collectable)).toMatchObject({ answer: 0, state: 'kept' });
  });

  it('is not asked if it runs another program', async () => {
    const argv = ['sh', '-c', 'echo up; cat'];
    expect(await ask(argv, collectable)).toMatchObject({ answer: undefined, state: 'state' });
  });
});

describe('a target that runs on Node', () => {
  it('has a version of Node or a path as its runtime, not Bun or Deno', () => {
    expect(['22', '26', '/opt/node/bin/node', 'bun', 'deno'].map(isNodeOn)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(isNode({ stack: { ...sampleStack('api'), runtime: 'python' }, target: sampleTarget('api') })).toBe(
      false,
    );
  });
});
