import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { FoundTarget } from '../../src/catalogue/found.ts';
import { findTool, inspectBuild, outputsOf, provideBuild } from '../../src/prepare/builds.ts';
import type { Stack, Variant } from 'bench-model/stack';
import { sampleStack, sampleTarget } from '../../../bench-lab/testing/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-builds-'));
const root = join(folder, 'api');
const cache = join(folder, 'cache');
const binary = join(root, 'bin', 'api');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeEach(() => {
  for (const path of ['api', 'cache', 'shared']) rmSync(join(folder, path), { recursive: true, force: true });
  for (const path of ['api/bin', 'shared/src']) mkdirSync(join(folder, path), { recursive: true });
  write('api/main', 'one ');
  write('shared/src/lib', 'shared ');
});

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
}

/** A stack that the shell builds. Each build appends its source and the shared source to its binary. */
function compiled({
  build = [],
  command = ['{root}/bin/api', '{port}'],
}: Partial<Variant> = {}): FoundTarget {
  const steps = [['sh', '-c', 'cat main ../shared/src/lib >> "$1"', 'sh', '{root}/bin/api']];
  const stack: Stack = {
    ...sampleStack('api', { one: { command }, two: { command, build } }),
    runtime: 'none',
    build: steps,
    shares: ['../shared'],
    root,
  };
  const target = { ...sampleTarget('api'), variant: 'two' };
  return { target, stack, variant: stack.variants['two'] as Variant };
}

describe('provideBuild', () => {
  it('builds once for the same sources', async () => {
    const built = compiled();
    const before = await inspectBuild(built, cache);
    const made = await provideBuild(built, cache);
    await provideBuild(built, cache);
    expect(readFileSync(binary, 'utf8')).toBe('one shared ');
    expect(before).toEqual({ ...made, isMade: false });
    expect(await inspectBuild(built, cache)).toEqual(made);
    expect(made.tools).toMatch(/^sh\b/);
  });

  it.each([
    ['api/main', 'one shared new shared '],
    ['api/another', 'one shared one shared '],
    ['shared/src/lib', 'one shared one new '],
  ])('rebuilds if a source changes: %s', async (path, text) => {
    const built = compiled();
    const { digest } = await provideBuild(built, cache);
    write(path, 'new ');
    const again = await provideBuild(built, cache);
    expect(again.digest).not.toBe(digest);
    expect(readFileSync(binary, 'utf8')).toBe(text);
  });

  it('rebuilds if the binary was overwritten by a build of other sources', async () => {
    const built = compiled();
    await provideBuild(built, cache);
    for (const text of ['two ', 'one ']) {
      write('api/main', text);
      await provideBuild(built, cache);
    }
    expect(readFileSync(binary, 'utf8')).toBe('one shared two shared one shared ');
  });

  it('rebuilds if the binary is missing', async () => {
    const built = compiled();
    await provideBuild(built, cache);
    rmSync(binary);
    expect(await inspectBuild(built, cache)).toMatchObject({ isMade: false });
    await provideBuild(built, cache);
    expect(existsSync(binary)).toBe(true);
  });

  it('runs the build of the variant after that of the stack', async () => {
    await provideBuild(compiled({ build: [['sh', '-c', 'echo two >> bin/api']] }), cache);
    expect(readFileSync(binary, 'utf8')).toBe('one shared two\n');
  });

  it('reports the last lines of a failed build without a known error, without local paths, and retries', async () => {
    const script = 'seq 30; echo "/root/go/pkg/a: no such thing at https://proxy.test/a" >&2; exit 1';
    const built = compiled({ build: [['sh', '-c', script]] });
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await provideBuild(built, cache).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: 'toolchain',
        hint: expect.stringMatching(/^try it by hand: sh -c '/),
      });
      const [first, ...log] = (error as Error).message.split('\n');
      expect(first).toBe('api/two could not be built:');
      expect(log).toHaveLength(12);
      expect(log.slice(-2)).toEqual(['30', '…/a: no such thing at …']);
    }
  });

  it('reports a missing tool, why it is needed, and how to install it', async () => {
    const built = compiled({ build: [['no-such-tool', 'build']] });
    await expect(provideBuild(built, cache)).rejects.toMatchObject({
      code: 'toolchain',
      message: 'no-such-tool is not on PATH, but needed to build api',
      hint: 'install no-such-tool, and put it on PATH',
    });
    expect(existsSync(binary)).toBe(false);
  });
});

describe('findTool', () => {
  it('asks a tool for its version', async () => {
    expect((await findTool('node', folder, 'here')).name).toMatch(/^node \d+\.\d+\.\d+$/);
  });

  it('accepts a tool without a version', async () => {
    expect(await findTool('test', folder, 'here')).toEqual({ name: 'test', text: '' });
  });
});

describe('outputsOf', () => {
  it.each([
    ['{root}/bin/api', 'api/bin'],
    ['{root}/target/release/api', 'api/target'],
    ['{root}/../shared/target/release/api', 'shared/target'],
  ])('returns the output folder of a binary: %s', (command, entry) => {
    expect(outputsOf(compiled({ command: [command, '{port}'] }).stack)).toEqual([join(folder, entry)]);
  });

  it('returns nothing for a stack that is not built here', () => {
    const { stack } = compiled();
    expect(outputsOf(compiled({ command: ['/usr/bin/api', '{port}'] }).stack)).toEqual([]);
    expect(outputsOf({ ...stack, build: [] })).toEqual([]);
    expect(outputsOf(sampleStack('fastify'))).toEqual([]);
  });
});
