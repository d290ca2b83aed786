import { describe, expect, it } from 'vitest';
import { spreadTargets } from '../../src/catalogue/stacks.ts';
import {
  RUNTIMES,
  claimsOfRuntime,
  environmentOfRuntime,
  parseRuntime,
  readRuntime,
  refuseUnfit,
} from '../../src/catalogue/runtimes.ts';
import type { ResolvedRuntime, RuntimeSpec } from 'bench-model/target';
import { errorOf, sampleStack, sampleTarget } from '../../../bench-lab/testing/samples.ts';

const python = (spec: string): RuntimeSpec => ({ kind: 'python', spec });
const pythonOf = (version: string): ResolvedRuntime => ({ ...python(version), version, build: {} });
const node = (spec: string): RuntimeSpec => ({ kind: 'node', spec });

describe('a runtime specifier', () => {
  it.each([
    [python('3.13'), { base: '3.13', jit: false, env: {} }],
    [python('3.14t'), { base: '3.14t', jit: false, env: {} }],
    [python('3.14+jit'), { base: '3.14', jit: true, env: {} }],
    [python('3.14{PYTHON_GIL=0}'), { base: '3.14', jit: false, env: { PYTHON_GIL: '0' } }],
    [python('3.14+jit{A=1,B=x=y}'), { base: '3.14', jit: true, env: { A: '1', B: 'x=y' } }],
    [python('/opt/mine/bin/python'), { base: '/opt/mine/bin/python', jit: false, env: {} }],
    [node('22'), { base: '22', jit: false, env: {} }],
    [node('bun'), { base: 'bun', jit: false, env: {} }],
  ])('is parsed: $spec', (spec, parts) => {
    expect(parseRuntime(spec)).toEqual(parts);
  });

  it.each([
    python('bun'),
    python('3'),
    python('3.14+no'),
    node('3.14t'),
    node('22+jit'),
    node(''),
    python('3.14{PYTHON_GIL}'),
  ])('is rejected if it is invalid: $kind $spec', (spec) => {
    const error = errorOf(() => parseRuntime(spec));
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(`@${spec.spec}`);
  });

  it.each([
    ['3.14', { spec: '3.14' }],
    ['3.13{PYTHONPATH=/a}', { spec: '3.13{PYTHONPATH=/a}' }],
    ['/a/python', { spec: '/a/python' }],
    ['mine=/a/python', { spec: '/a/python', name: 'mine' }],
    [
      '3.15.2t{PYTHON_GIL=1}=./b=c/python{PYTHON_GIL=1}',
      {
        spec: './b=c/python{PYTHON_GIL=1}',
        name: '3.15.2t{PYTHON_GIL=1}',
      },
    ],
  ])('may have a name before its path: %s', (typed, expected) => {
    expect(readRuntime('python', typed)).toEqual({ kind: 'python', ...expected });
  });

  it('always sets the JIT of Python explicitly', () => {
    expect(environmentOfRuntime(python('3.14+jit'))).toEqual({ PYTHON_JIT: '1' });
    expect(environmentOfRuntime(python('3.14{PYTHON_GIL=0}'))).toEqual({ PYTHON_JIT: '0', PYTHON_GIL: '0' });
    expect(environmentOfRuntime(node('22'))).toEqual({});
  });

  it('requires the running process to confirm JIT and GIL', () => {
    expect(claimsOfRuntime(python('3.14+jit'))).toEqual({ jit: true });
    expect(claimsOfRuntime(python('3.13'))).toEqual({ jit: false });
    expect(claimsOfRuntime(python('3.14t'))).toEqual({ jit: false, gil: false });
    expect(claimsOfRuntime(python('3.14t{PYTHON_GIL=1}'))).toEqual({ jit: false });
    expect(claimsOfRuntime(node('22'))).toEqual({});
    const byPath = { ...python('/a/python'), version: '3.15.2', build: { freethreaded: 'true' } };
    expect(claimsOfRuntime(byPath)).toEqual({ jit: false, gil: false });
    expect(claimsOfRuntime({ ...byPath, spec: '/a/python+jit{PYTHON_GIL=1}' })).toEqual({ jit: true });
  });

  it('that a stack does not support is rejected, with a supported one as a hint', () => {
    const old = { ...sampleStack('old'), runtimes: ['3.11', '3.10.2'] };
    for (const version of ['3.11.7', '3.10.2']) refuseUnfit(old, pythonOf(version));
    refuseUnfit(sampleStack('any'), pythonOf('3.13.0'));
    for (const version of ['3.1.1', '3.110.0', '3.10.1']) {
      expect(errorOf(() => refuseUnfit(old, pythonOf(version)))).toMatchObject({
        code: 'toolchain',
        message: `old runs on python 3.11, 3.10.2, not on ${version}`,
        hint: 'old@3.11',
      });
    }
  });
});

describe('the known runtimes', () => {
  it('can be parsed, and those without the GIL must confirm that it is off', () => {
    for (const spec of RUNTIMES) {
      expect(parseRuntime(spec).base).toBe(spec.spec);
      expect(spec.spec.endsWith('t')).toBe(claimsOfRuntime(spec)['gil'] === false);
    }
  });
});

describe('a matrix', () => {
  const pythonTarget = { ...sampleTarget('fastapi'), runtime: python('3.13') };
  const nodeTarget = { ...sampleTarget('vanilla'), runtime: node('26') };

  it('names a runtime in the id of its target, instead of its path', () => {
    const matrix = { python: ['mine=/a/python'], node: [], packages: [] };
    expect(spreadTargets([pythonTarget], matrix)).toMatchObject([
      { id: 'fastapi@mine', runtime: { spec: '/a/python', name: 'mine' } },
    ]);
  });

  it('expands each target to the runtimes of its language', () => {
    const spread = spreadTargets([pythonTarget, nodeTarget], {
      python: ['3.12', '3.14+jit'],
      node: [],
      packages: [],
    });
    expect(spread.map(({ id, runtime }) => [id, runtime?.spec])).toEqual([
      ['fastapi@3.12', '3.12'],
      ['fastapi@3.14+jit', '3.14+jit'],
      ['vanilla', '26'],
    ]);
  });

  it('leaves a target that names its runtime unchanged', () => {
    const named = { ...pythonTarget, id: 'fastapi@3.11', runtime: python('3.11') };
    const spread = spreadTargets([named, pythonTarget], { python: ['3.12'], node: [], packages: [] });
    expect(spread[0]).toEqual(named);
  });

  it('creates one target per package version', () => {
    const packages = ['fastapi==0.115', 'fastapi==0.163'];
    const spread = spreadTargets([pythonTarget], { python: [], node: [], packages });
    expect(spread.map((target) => [target.id, target.packages])).toEqual([
      ['fastapi[fastapi==0.115]', ['fastapi==0.115']],
      ['fastapi[fastapi==0.163]', ['fastapi==0.163']],
    ]);
  });

  it('gives each target the packages of its language', () => {
    const packages = ['fastapi==0.115', 'fastify@5.1.0', 'fastify@5.6.0'];
    const spread = spreadTargets([pythonTarget, nodeTarget], { python: [], node: ['22', '26'], packages });
    expect(spread.map(({ id }) => id)).toEqual([
      'fastapi[fastapi==0.115]',
      'vanilla@22[fastify@5.1.0]',
      'vanilla@26[fastify@5.1.0]',
      'vanilla@22[fastify@5.6.0]',
      'vanilla@26[fastify@5.6.0]',
    ]);
  });

  it('leaves a target without a matching package unchanged', () => {
    const [, other] = spreadTargets([pythonTarget, nodeTarget], {
      python: [],
      node: [],
      packages: ['fastapi==0.115'],
    });
    expect(other).toEqual(nodeTarget);
  });

  it('rejects a package that matches no target', () => {
    const packages = ['fastapi==0.115'];
    const { message } = errorOf(() => spreadTargets([nodeTarget], { python: [], node: [], packages }));
    expect(message).toBe('--with fastapi==0.115 is for Python, and no target runs on it');
  });

  it('rejects an invalid runtime', () => {
    expect(
      errorOf(() => spreadTargets([nodeTarget], { python: [], node: ['3.14t'], packages: [] })).exitCode,
    ).toBe(2);
  });
});
