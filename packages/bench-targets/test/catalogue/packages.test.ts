import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RuntimeKind } from 'bench-model/target';
import { parsePackage, refuseStray, splitVersions } from '../../src/catalogue/packages.ts';
import { errorOf } from '../../../bench-lab/testing/samples.ts';

const place = mkdtempSync(join(tmpdir(), 'bench-packages-'));
afterAll(() => rmSync(place, { recursive: true }));

const PYPROJECT = '[build-system]\nrequires = []\n\n[project]\nname = "my-fastapi"\n';

function checkout(name: string, files: Record<string, string>): string {
  const folder = join(place, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

describe('a package', () => {
  it.each([
    ['fastapi==0.115', 'fastapi', 'fastapi==0.115'],
    ['fastapi[standard] == 0.115', 'fastapi', 'fastapi[standard] == 0.115'],
    ['pydantic-core>=2,<3', 'pydantic-core', 'pydantic-core>=2,<3'],
  ])('%s is for Python', (text, name, wanted) => {
    expect(parsePackage(text)).toEqual([{ kind: 'python', name, wanted }]);
  });

  it.each([
    ['fastify@5.1.0', 'fastify', '5.1.0'],
    ['fastify@>=5.1', 'fastify', '>=5.1'],
    ['fastify@next', 'fastify', 'next'],
    ['@fastify/error@4.0.0', '@fastify/error', '4.0.0'],
  ])('%s is from npm', (text, name, wanted) => {
    expect(parsePackage(text)).toEqual([{ kind: 'node', name, wanted }]);
  });

  it('in a folder has the language and name of its manifest', () => {
    const python = checkout('python', { 'pyproject.toml': PYPROJECT });
    const node = checkout('node', { 'package.json': '{ "name": "fastify" }' });
    expect(parsePackage(python)).toEqual([
      { kind: 'python', name: 'my-fastapi', wanted: python, folder: python },
    ]);
    expect(parsePackage(node)).toEqual([
      { kind: 'node', name: 'fastify', wanted: `file:${node}`, folder: node },
    ]);
  });

  it('in a folder with both manifests is for both languages, unless one manifest has no name', () => {
    const both = { 'pyproject.toml': PYPROJECT, 'package.json': '{ "name": "mine" }' };
    const tools = { 'pyproject.toml': PYPROJECT, 'package.json': '{ "private": true }' };
    expect(parsePackage(checkout('both', both)).map(({ kind }) => kind)).toEqual(['python', 'node']);
    expect(parsePackage(checkout('tools', tools)).map(({ kind }) => kind)).toEqual(['python']);
  });

  it.each(['fastapi', './nowhere', '@fastify/error'])(
    'is rejected if it is neither a version nor a checkout: %j',
    (text) => {
      const { exitCode, message, hint } = errorOf(() => parsePackage(text));
      expect(exitCode).toBe(2);
      expect(message).toBe(`--with ${text}: not a version, and not a checkout`);
      expect(hint).toMatch(/fastapi==0\.115 .*fastify@5\.1\.0 /);
    },
  );
});

const withPackages = (...packages: string[]) => ({ python: [], node: [], packages });

const on = (kind: RuntimeKind, id = 'a') => ({
  id,
  ...(kind !== 'none' && { runtime: { kind, spec: '22' } }),
});

describe('a runtime for none of the targets', () => {
  it('is rejected, also if the target names its own', () => {
    const python = { ...withPackages(), python: ['3.14'] };
    const { exitCode, message } = errorOf(() => refuseStray(python, [on('node')]));
    expect([exitCode, message]).toEqual([2, '--python has no effect on a']);
    expect(() => refuseStray(python, [on('python', 'b@3.12')])).toThrow('--python has no effect on b@3.12');
    expect(() => refuseStray({ ...python, node: ['22'] }, [on('none')])).toThrow('--python has no effect');
    expect(() => refuseStray(python, [on('node'), on('python')])).not.toThrow();
  });
});

describe('a package for none of the targets', () => {
  it.each([
    [
      'fastify==5.1.0',
      'node',
      'Python',
      'write a version from npm as fastify@5.1.0, or name a target in Python',
    ],
    ['koa[all]==3.0', 'node', 'Python', 'write a version from npm as koa@3.0, or name a target in Python'],
    ['koa@3.0', 'python', 'Node', 'write a version for Python as koa==3.0, or name a target in Node'],
    ['fastapi==0.115', 'node', 'Python', 'name a target in Python, e.g. fastapi'],
  ] as const)(
    'is rejected, with the correct syntax or a target as a hint: %s for %s',
    (text, runtime, language, advice) => {
      const { exitCode, message, hint } = errorOf(() =>
        refuseStray(withPackages(text), [on(runtime)], [{ name: 'fastapi', runtime: 'python' }]),
      );
      expect(exitCode).toBe(2);
      expect(message).toBe(`--with ${text} is for ${language}, and no target runs on it`);
      expect(hint).toBe(advice);
    },
  );

  it.each([on('none'), on('python')])('is rejected if it is for a binary: %o', (target) => {
    const gin = { name: 'gin', runtime: 'none' } as const;
    const { message, hint } = errorOf(() => refuseStray(withPackages('gin@1.11.0'), [target], [gin]));
    expect(message).toBe('--with gin@1.11.0 has no effect on a: it takes packages of npm and Python only');
    expect(hint).toContain('guides/commits.md');
  });

  it('is rejected even if another package has a target', () => {
    const packages = ['fastify@5', 'fastapi==0.115'];
    expect(errorOf(() => refuseStray(withPackages(...packages), [on('node')])).message).toContain(
      '--with fastapi==0.115 ',
    );
    expect(() => refuseStray(withPackages(...packages), [on('node'), on('python')])).not.toThrow();
  });
});

describe('several versions in one --with', () => {
  it.each([
    ['fastapi==0.115,0.116', ['fastapi==0.115', 'fastapi==0.116']],
    ['uvicorn[standard]==0.30,0.31.1', ['uvicorn[standard]==0.30', 'uvicorn[standard]==0.31.1']],
    ['@fastify/cors@9.0.0,10.0.0', ['@fastify/cors@9.0.0', '@fastify/cors@10.0.0']],
    ['fastapi>=0.115,<0.117', ['fastapi>=0.115,<0.117']],
    ['fastapi==0.115', ['fastapi==0.115']],
    ['./a,b', ['./a,b']],
  ])('become separate alternatives: %s', (text, alternatives) => {
    expect(splitVersions(text)).toEqual(alternatives);
  });
});
