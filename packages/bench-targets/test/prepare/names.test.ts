import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nameRuntimes } from '../../src/prepare/names.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-names-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Makes a program that answers about its build like a CPython. */
function python(name: string, said: object = {}): string {
  const path = join(folder, name);
  const words = {
    implementation: 'CPython',
    version: '3.15.2',
    compiler: 'GCC 15',
    configured: '',
    compiled: '',
    linked: '',
    isDebug: false,
    hasTailCalls: false,
    isFreeThreaded: false,
    hasJit: false,
    isJitOn: false,
    executable: path,
  };
  writeFileSync(path, `#!/bin/sh\ncat <<'END'\n${JSON.stringify({ ...words, ...said })}\nEND\n`);
  chmodSync(path, 0o755);
  return path;
}

const plain = python('plain');
const other = python('other');
const free = python('free', { isFreeThreaded: true });
const jit = python('jit', { hasJit: true, isJitOn: true });
const optional = python('optional', { hasJit: true });

async function nameAll(...specs: string[]): Promise<string[]> {
  const named = await nameRuntimes({ targets: [], matrix: { python: specs, node: [], packages: [] } });
  return named.matrix.python;
}

describe('an interpreter that is given by path', () => {
  it.each([
    [plain, `3.15.2=${plain}`],
    [`${plain}{PYTHONOPTIMIZE=1}`, `3.15.2{PYTHONOPTIMIZE=1}=${plain}{PYTHONOPTIMIZE=1}`],
    [free, `3.15.2t=${free}`],
    [`${free}{PYTHON_GIL=1}`, `3.15.2t{PYTHON_GIL=1}=${free}{PYTHON_GIL=1}`],
    [jit, `3.15.2+jit=${jit}+jit`],
    [`${jit}{PYTHON_JIT=0}`, `3.15.2{PYTHON_JIT=0}=${jit}{PYTHON_JIT=0}`],
    [optional, `3.15.2=${optional}`],
    [`${optional}+jit`, `3.15.2+jit=${optional}+jit`],
    [`mine=${plain}`, `mine=${plain}`],
    [`mine=${jit}`, `mine=${jit}+jit`],
    ['3.14t', '3.14t'],
  ])('is named by its version, unless it has a name: %s', async (typed, named) => {
    expect(await nameAll(typed)).toEqual([named]);
  });

  it('is named in a target, of each kind', async () => {
    const targets = [`fastapi@${plain}`, `fastify@${process.execPath}`, 'fastapi/raw'];
    const named = await nameRuntimes({ targets, matrix: { python: [], node: [], packages: [] } });
    expect(named.targets).toEqual([
      `fastapi@3.15.2=${plain}`,
      `fastify@${process.versions.node}=${process.execPath}`,
      'fastapi/raw',
    ]);
  });

  it('needs a name if another has the same', async () => {
    await expect(nameAll(plain, other)).rejects.toMatchObject({
      code: 'usage',
      message: `two interpreters are called 3.15.2: ${plain} and ${other}`,
      hint: `name them, e.g. old=${plain},new=${other}`,
    });
    expect(await nameAll(`a=${plain}`, `b=${other}`)).toEqual([`a=${plain}`, `b=${other}`]);
  });

  it('is refused if it is none', async () => {
    await expect(nameAll('/nowhere/python')).rejects.toMatchObject({
      code: 'toolchain',
      message: '/nowhere/python does not exist',
    });
  });
});
