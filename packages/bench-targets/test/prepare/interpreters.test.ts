import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { findProgram } from 'bench-machine/path';
import { start, type Child } from 'bench-machine/subprocess';
import {
  describeNode,
  describePython,
  makerOf,
  readInterpreter,
  readInterpreterOf,
  type PythonWords,
} from '../../src/prepare/interpreters.ts';
import { needs, tool } from '../../../bench-lab/testing/needs.ts';

/** The words of a CPython 3.13.0 that pyenv built by its defaults. */
const PYENV: PythonWords = {
  implementation: 'CPython',
  version: '3.13.0',
  said: '3.13.0 (main, Oct 8 2025) [GCC 12.2.0]',
  prefix: '/root/.pyenv/versions/3.13.0',
  standalone: '',
  compiler: 'GCC 12.2.0',
  configured: "'--prefix=/root/.pyenv/versions/3.13.0' '--enable-shared' 'CPPFLAGS=-I/usr/include'",
  compiled: '-fno-strict-overflow -Wsign-compare -DNDEBUG -g -O3 -Wall -std=c11 -fPIC -DPy_BUILD_CORE',
  linked: '',
  isDebug: false,
  hasTailCalls: false,
};
const PLAIN = { pgo: false, lto: false, bolt: false, tailCalls: false, assertions: false, debug: false };

describe('the build of a CPython', () => {
  it('is plain by the defaults of pyenv', () => {
    expect(describePython(PYENV)).toEqual({
      implementation: 'CPython',
      version: '3.13.0',
      maker: 'pyenv',
      compiler: 'GCC 12.2.0',
      optimisation: '-O3',
      ...PLAIN,
    });
  });

  it('has every optimisation that the arguments of configure name', () => {
    const configured =
      "'--prefix=/install' '--with-tail-call-interp' '--enable-optimizations' '--enable-bolt' '--with-lto=thin' 'CC=clang'";
    const built = describePython({ ...PYENV, compiler: 'Clang 22.1.3 ', configured });
    expect(built).toMatchObject({
      compiler: 'Clang 22.1.3',
      pgo: true,
      lto: true,
      bolt: true,
      tailCalls: true,
    });
  });

  it.each<[string, Partial<PythonWords>, string | undefined]>([
    ['of uv', { standalone: '1', prefix: '/opt/pythons/3.14' }, 'python-build-standalone'],
    ['of conda', { said: '3.13.0 | packaged by conda-forge | (main)', prefix: '/opt/env' }, 'conda'],
    ['of Homebrew', { prefix: '/opt/homebrew/Cellar/python@3.14/3.14.1' }, 'Homebrew'],
    ['of python.org', { prefix: '/Library/Frameworks/Python.framework/Versions/3.14' }, 'python.org'],
    [
      'of Debian',
      { prefix: '/usr', configured: "'--prefix=/usr' '--libdir=/usr/lib/x86_64-linux-gnu'" },
      'Debian or Ubuntu',
    ],
    [
      'of Fedora',
      { prefix: '/usr', compiler: 'GCC 15.1.1 20250521 (Red Hat 15.1.1-2)' },
      'Fedora or Red Hat',
    ],
    ['by hand', { prefix: '/opt/python' }, undefined],
  ])('%s tells its maker', (_, words, maker) => {
    expect(makerOf({ ...PYENV, ...words })).toBe(maker);
  });

  it.each([
    ['profiles of GCC', { compiled: '-DNDEBUG -O3 -fprofile-use -fprofile-correction' }, { pgo: true }],
    ['profiles of Clang', { compiled: '-DNDEBUG -O3 -fprofile-instr-use=code.profclangd' }, { pgo: true }],
    ['link-time optimisation', { linked: '-flto=thin -g' }, { lto: true }],
    ['tail calls', { hasTailCalls: true }, { tailCalls: true }],
    ['another level', { compiled: '-DNDEBUG -O3 -Wall -O0' }, { optimisation: '-O0' }],
    ['assertions', { compiled: '-g -O3' }, { assertions: true }],
    ['a debug build', { isDebug: true }, { debug: true }],
  ])('is known by its flags: %s', (_, words, expected) => {
    expect(describePython({ ...PYENV, ...words })).toMatchObject({ ...PLAIN, ...expected });
  });

  it.each([
    ["'--enable-optimizations=no' '--with-lto=no'"],
    ["'--disable-optimizations' '--without-lto' '--with-lto-is-no-option'"],
  ])('lacks what its configure arguments switch off: %s', (configured) => {
    expect(describePython({ ...PYENV, configured })).toMatchObject(PLAIN);
  });

  it('names no compiler if none is known', () => {
    expect(describePython({ ...PYENV, compiler: ' ' })).not.toHaveProperty('compiler');
  });

  it('is not called plain if a distribution may have hidden its flags', () => {
    const packaged = { ...PYENV, configured: "'--enable-shared' '--prefix=/usr'" };
    const built = describePython(packaged);
    for (const option of ['pgo', 'lto', 'optimisation']) expect(built).not.toHaveProperty(option);
    const told = describePython({ ...packaged, configured: `${packaged.configured} '--with-lto'` });
    expect(told).toMatchObject({ lto: true });
  });

  it.each([
    ['was built without configure, as on Windows', { configured: '' }],
    ['is a PyPy', { implementation: 'PyPy' }],
  ])('claims nothing of an interpreter that %s', (_, words) => {
    const built = describePython({ ...PYENV, ...words });
    expect(Object.keys(built)).toEqual(['implementation', 'version', 'compiler']);
  });
});

describe('the build of a Node', () => {
  it('is known by the variables of its configuration', () => {
    const official = { enable_lto: false, enable_pgo_use: false, v8_enable_pointer_compression: 0 };
    const other = { ...official, enable_thin_lto: true, v8_enable_pointer_compression: 1 };
    const plain = { implementation: 'node', version: '26.10.0', pgo: false, lto: false, debug: false };
    expect(describeNode({ version: '26.10.0', variables: official })).toEqual({
      ...plain,
      pointerCompression: false,
    });
    expect(describeNode({ version: '26.10.0', variables: other })).toEqual({
      ...plain,
      lto: true,
      pointerCompression: true,
    });
  });
});

describe('a Java', () => {
  needs(tool('java'));

  it('is known by its name and its version', async () => {
    const program = realpathSync(findProgram('java') ?? '');
    const version: unknown = expect.stringMatching(/^\d/);
    const implementation: unknown = expect.stringMatching(/^(openjdk|java)$/);
    expect(await readInterpreter(program)).toEqual({ implementation, version });
  });
});

describe('the interpreter of a live process', () => {
  const children: Child[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** Starts a program that prints a line and waits, and returns its process. */
  async function startWaiting(...argv: string[]): Promise<number> {
    const child = start({ env: process.env, stdio: ['pipe', 'pipe', 'inherit'] })`exec ${argv}`;
    children.push(child);
    await once(child.stdout as Readable, 'data');
    return child.pid as number;
  }

  it('is the program that runs, also below a shell', async () => {
    const node = 'console.log(1); process.stdin.resume()';
    const alone = await startWaiting(process.execPath, '-e', node);
    expect(await readInterpreterOf(alone)).toMatchObject({
      implementation: 'node',
      version: process.versions.node,
    });
    const below = await startWaiting(
      'sh',
      '-c',
      `"$0" -c 'import sys; print(1, flush=True); sys.stdin.read()'; true`,
      'python3',
    );
    expect(await readInterpreterOf(below, 'python')).toMatchObject({
      implementation: 'CPython',
      version: expect.stringMatching(/^3\.\d+/),
      compiler: expect.stringMatching(/\d/),
    });
    expect(await readInterpreterOf(below, 'node')).toBeUndefined();
  });

  it('is not known of another program, and of a program that is gone', async () => {
    expect(await readInterpreterOf(await startWaiting('sh', '-c', 'echo 1; read line'))).toBeUndefined();
    expect(await readInterpreter('/nowhere/bin/python3')).toBeUndefined();
  });
});
