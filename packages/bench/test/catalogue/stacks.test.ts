import { describe, expect, it } from 'vitest';
import { expandTargets, readStacks, targetsOf } from '../../src/catalogue/stacks.ts';
import type { Stack } from '../../src/catalogue/stack.ts';
import { errorOf, sampleStack } from '../samples.ts';

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
  it('takes the default variant of a name, and is silent about it', () => {
    expect(expandTargets(['uvicorn'], STACKS, 'devices')).toEqual([
      {
        id: 'uvicorn',
        stack: 'uvicorn',
        variant: 'mypyc',
        class: 'raw',
        language: 'typescript',
        framework: 'uvicorn',
        runtime: { kind: 'python', spec: '3.13' },
      },
    ]);
    expect(idsOf(['uvicorn/mypyc'])).toEqual(['uvicorn']);
  });

  it('takes the first runtime that a stack names, unless told', () => {
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

  it('keeps the order that was typed, and names each target once', () => {
    expect(idsOf(['vanilla', 'fast*', 'fastapi/model', 'vanilla'])).toEqual([
      'vanilla',
      'fastify',
      'fastapi',
    ]);
  });

  it('takes a runtime after the @, for a glob as well', () => {
    expect(idsOf(['uvicorn/*@3.14t', 'uvicorn@3.13'])).toEqual([
      'uvicorn@3.14t',
      'uvicorn/interpreted@3.14t',
      'uvicorn@3.13',
    ]);
    const [target] = expandTargets(['uvicorn/interpreted@3.15+jit'], STACKS, 'devices');
    expect(target).toMatchObject({ variant: 'interpreted', runtime: { kind: 'python', spec: '3.15+jit' } });
  });

  it('gives a binary no runtime', () => {
    expect(expandTargets(['gin'], STACKS, 'devices')[0]).not.toHaveProperty('runtime');
    expect(refuse('gin@1.22').message).toContain('gin');
  });

  it('names the nearest stacks for one that is not there', () => {
    expect(refuse('fastfy').message).toBe('unknown stack "fastfy"');
    expect(refuse('fastfy').hint).toMatch(/^did you mean fastify[,?]/);
    expect(refuse('unicorn@3.13').hint).toMatch(/^did you mean uvicorn[,?]/);
    expect(refuse('nothing*').message).toBe('unknown stack "nothing*"');
    for (const pattern of ['', '/', '@3.13', 'fastify/'])
      expect(refuse(pattern).message).toMatch(/^unknown stack/);
  });

  it('names the nearest variants for one that is not there', () => {
    expect(refuse('fastapi/raww')).toEqual({
      message: 'fastapi has no variant "raww"',
      hint: expect.stringMatching(/^did you mean fastapi\/raw[,?]/),
    });
  });

  it('says what a target offers instead of the workload that it does not', () => {
    expect(refuse('fastapi/def')).toEqual({
      message: 'fastapi/def does not offer the workload "devices"',
      hint: 'fastapi/def offers wait',
    });
    expect(refuse('vanilla', 'wait').message).toBe('vanilla does not offer the workload "wait"');
    expect(idsOf(['fastapi/*'], 'wait')).toEqual(['fastapi/def']);
    expect(refuse('fast*', 'wait').message).toBe('no target of "fast*" offers the workload "wait"');
  });

  it('takes a pattern by its letters, not as an expression', () => {
    expect(refuse('fastif.').message).toBe('unknown stack "fastif."');
    expect(refuse('(vanilla').message).toContain('unknown stack');
  });
});

describe('the stacks of the repository', () => {
  const stacks = readStacks();

  it('keep the contract, one name each', () => {
    expect(stacks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['fastapi', 'fastify', 'litestar', 'uvicorn', 'vanilla']),
    );
    expect(new Set(stacks.map(({ name }) => name)).size).toBe(stacks.length);
    const targets = stacks.flatMap(targetsOf);
    expect(new Set(targets.map(({ id }) => id)).size).toBe(targets.length);
    for (const { id, stack, variant } of targets) {
      const offered = stacks.find(({ name }) => name === stack)?.variants[variant]?.workloads ?? [];
      expect(offered.length).toBeGreaterThan(0);
      for (const workload of offered) expect(expandTargets([id], stacks, workload)).toHaveLength(1);
    }
  });

  it('start a server by no shell and no launcher', () => {
    const commands = stacks.flatMap(({ variants }) => Object.values(variants).map(({ command }) => command));
    for (const [program = ''] of commands) expect(program).not.toMatch(/\b(sh|bash|pnpm|npx|uv|tsx)$/);
  });
});
