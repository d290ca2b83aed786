import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readApp } from '../../src/catalogue/projects/app.ts';
import { usualRuntime } from '../../src/catalogue/runtimes.ts';
import { expandTargets, locateBuiltIn, readStacks, targetsOf } from '../../src/catalogue/stacks.ts';
import type { Stack } from 'bench-model/stack';
import { errorOf, sampleStack } from '../../../bench-lab/testing/samples.ts';

const STACKS: Stack[] = [
  sampleStack('vanilla'),
  sampleStack('fastify'),
  { ...sampleStack('fastapi', { model: {}, raw: {}, def: { workloads: ['wait'] } }), runtime: 'python' },
  {
    ...sampleStack('uvicorn', { mypyc: { class: 'raw' }, interpreted: { class: 'raw' } }),
    runtime: 'python',
  },
  { ...sampleStack('gin', { default: {} }), runtime: 'none' },
];

const idsOf = (patterns: string[], workload = 'devices') =>
  expandTargets(patterns, STACKS, workload).map(({ id }) => id);

const refuse = (pattern: string, workload = 'devices') => {
  const { code, message, hint } = errorOf(() => expandTargets([pattern], STACKS, workload));
  expect(code).toBe('usage');
  return { message, hint };
};

describe('expandTargets', () => {
  it('uses the default variant of a stack, and omits it from the id', () => {
    expect(expandTargets(['uvicorn'], STACKS, 'devices')).toEqual([
      {
        id: 'uvicorn',
        stack: 'uvicorn',
        variant: 'mypyc',
        class: 'raw',
        language: 'typescript',
        framework: 'uvicorn',
        runtime: { kind: 'python', spec: usualRuntime('python'), byDefault: true },
      },
    ]);
    expect(idsOf(['uvicorn/mypyc'])).toEqual(['uvicorn']);
  });

  it('uses the first runtime of a stack unless the target names one', () => {
    const old: Stack = { ...sampleStack('old'), runtime: 'python', runtimes: ['3.11', '3.10'] };
    const specs = expandTargets(['old', 'old@3.13'], [old], 'devices').map(({ runtime }) => runtime?.spec);
    expect(specs).toEqual(['3.11', '3.13']);
  });

  it.each([
    [['uvicorn/*'], ['uvicorn', 'uvicorn/interpreted']],
    [['fast*'], ['fastify', 'fastapi']],
    [['*'], ['vanilla', 'fastify', 'fastapi', 'uvicorn', 'gin']],
    [['*/interp*'], ['uvicorn/interpreted']],
    [['fastapi/*'], ['fastapi', 'fastapi/raw']],
    [['*i*/r*'], ['fastapi/raw']],
  ])('expands %j', (patterns, ids) => {
    expect(idsOf(patterns)).toEqual(ids);
  });

  it('keeps the given order and removes duplicates', () => {
    expect(idsOf(['vanilla', 'fast*', 'fastapi/model', 'vanilla'])).toEqual([
      'vanilla',
      'fastify',
      'fastapi',
    ]);
  });

  it('accepts a runtime after @, for a glob too', () => {
    expect(idsOf(['uvicorn/*@3.14t', 'uvicorn@3.13'])).toEqual([
      'uvicorn@3.14t',
      'uvicorn/interpreted@3.14t',
      'uvicorn@3.13',
    ]);
    const [target] = expandTargets(['uvicorn/interpreted@3.15+jit'], STACKS, 'devices');
    expect(target).toMatchObject({ variant: 'interpreted', runtime: { kind: 'python', spec: '3.15+jit' } });
  });

  it('gives a binary no runtime, and rejects one after @', () => {
    expect(expandTargets(['gin'], STACKS, 'devices')[0]).not.toHaveProperty('runtime');
    expect(refuse('gin@1.22').message).toContain('gin');
  });

  it('suggests similar names for an unknown stack', () => {
    expect(refuse('fastfy').message).toBe('unknown stack "fastfy"');
    expect(refuse('fastfy').hint).toMatch(/^did you mean fastify[,?]/);
    expect(refuse('unicorn@3.13').hint).toMatch(/^did you mean uvicorn[,?]/);
    expect(refuse('nothing*').message).toBe('unknown stack "nothing*"');
    for (const pattern of ['', '/', '@3.13', 'fastify/'])
      expect(refuse(pattern).message).toMatch(/^unknown stack/);
  });

  it('suggests similar names for an unknown variant', () => {
    expect(refuse('fastapi/raww')).toEqual({
      message: 'fastapi has no variant "raww"',
      hint: expect.stringMatching(/^did you mean fastapi\/raw[,?]/),
    });
  });

  it('lists the workloads of a target that does not offer the requested one', () => {
    expect(refuse('fastapi/def')).toEqual({
      message: 'fastapi/def does not offer the workload "devices"',
      hint: 'fastapi/def offers wait',
    });
    expect(refuse('vanilla', 'wait').message).toBe('vanilla does not offer the workload "wait"');
    expect(idsOf(['fastapi/*'], 'wait')).toEqual(['fastapi/def']);
    expect(refuse('fast*', 'wait').message).toBe('no target of "fast*" offers the workload "wait"');
  });

  it('treats regular expression syntax in a pattern as plain text', () => {
    expect(refuse('fastif.').message).toBe('unknown stack "fastif."');
    expect(refuse('(vanilla').message).toContain('unknown stack');
  });
});

describe('the stacks of the repository', () => {
  const stacks = readStacks();

  it('have unique names and ids, and offer at least one workload per target', () => {
    expect(stacks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['fastapi', 'fastify', 'litestar', 'uvicorn', 'vanilla']),
    );
    expect(new Set(stacks.map(({ name }) => name)).size).toBe(stacks.length);
    expect(stacks.filter(({ name }) => locateBuiltIn(name) === undefined)).toEqual([]);
    const targets = stacks.flatMap(targetsOf);
    expect(new Set(targets.map(({ id }) => id)).size).toBe(targets.length);
    for (const { id, stack, variant } of targets) {
      const offered = stacks.find(({ name }) => name === stack)?.variants[variant]?.workloads ?? [];
      expect(offered.length).toBeGreaterThan(0);
      for (const workload of offered) expect(expandTargets([id], stacks, workload)).toHaveLength(1);
    }
  });

  it('start their servers without a shell or a launcher', () => {
    const commands = stacks.flatMap(({ variants }) => Object.values(variants).map(({ command }) => command));
    expect(commands.length).toBeGreaterThanOrEqual(stacks.length);
    for (const [program = ''] of commands) expect(program).not.toMatch(/\b(sh|bash|pnpm|npx|uv|tsx)$/);
  });
});

it('the command of a user replaces the manifest in the same folder', () => {
  using place = mkdtempDisposableSync(join(tmpdir(), 'bench-stacks-'));
  const app = readApp({ folder: place.path, run: 'node other.js' });
  const variants = { app: { command: ['node', 'server.js'] } };
  const file = join(place.path, 'stack.json');
  writeFileSync(file, JSON.stringify({ name: app.name, variants, requests: ['GET /'] }));
  const commandIn = (stacks: Stack[]): unknown =>
    stacks.find(({ name }) => name === app.name)?.variants['app']?.command;
  expect(commandIn(readStacks([file]))).toEqual(['node', 'server.js']);
  expect(commandIn(readStacks([file], [app]))).toEqual(['node', 'other.js']);
});
