import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { findRuntime } from '../../src/prepare/runtimes.ts';
import { findBehindShim, interpretersOf, pathWithoutShims } from '../../src/catalogue/pyenv.ts';
import { findUv } from '../../src/prepare/uv.ts';

const root = mkdtempSync(join(tmpdir(), 'bench-pyenv-'));
const bin = join(root, 'bin');
const shims = join(root, 'shims');
const own = join(root, 'versions', '3.98.1', 'bin');

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

/** A shim must not run: it is slow, and fails for versions that are not selected. */
write(join(shims, 'uv'), 'exit 9');
write(join(own, 'uv'), `[ "$1" = --version ] || { echo "$* $PATH" >> '${join(root, 'asked')}'; exit 2; }`);
write(join(bin, 'pyenv'), `[ "$*" = "which uv" ] && echo '${join(own, 'uv')}'`);
const TOLD = { version: '3.98.1', implementation: 'CPython', compiler: '', configured: '', executable: 'x' };
for (const version of ['3.98.1', '3.9.8', '3.98.0'])
  write(join(root, 'versions', version, 'bin', 'python3'), `echo '${JSON.stringify(TOLD)}'`);

beforeEach(() => {
  vi.stubEnv('PYENV_ROOT', root);
  vi.stubEnv('PATH', [shims, bin, process.env['PATH']].join(delimiter));
  return () => vi.unstubAllEnvs();
});
afterAll(() => rmSync(root, { recursive: true }));

describe('pyenv', () => {
  it('lists the interpreters of a version, newest first', () => {
    expect(interpretersOf('3.98')).toEqual(
      ['3.98.1', '3.98.0'].map((version) => join(root, 'versions', version, 'bin', 'python3')),
    );
    expect(interpretersOf('3.97')).toEqual([]);
  });

  it('says how to install a version that is missing', async () => {
    const search = { cache: join(root, 'cache'), mayInstall: false };
    await expect(findRuntime({ kind: 'python', spec: '3.97' }, search)).rejects.toMatchObject({
      message: 'CPython 3.97 is not installed',
      hint: 'uv python install 3.97, pyenv install 3.97, or name its path: --python 3.97=/a/path/python3',
    });
    await expect(findRuntime({ kind: 'python', spec: join(root, 'python') }, search)).rejects.toThrow(
      `${join(root, 'python')} does not exist`,
    );
  });

  it('is asked for the program behind a shim, and not for any other', async () => {
    expect(await findBehindShim('uv')).toBe(join(own, 'uv'));
    expect(await findBehindShim('sh')).toBe('sh');
  });

  it('gives Bench its uv and its interpreter without a shim', async () => {
    const uv = await findUv(join(root, 'cache'));
    expect(uv).toBe(join(own, 'uv'));
    const search = { cache: join(root, 'cache'), mayInstall: false };
    const { runtime, argv } = await findRuntime({ kind: 'python', spec: '3.98' }, search);
    expect([runtime.version, argv]).toEqual(['3.98.1', ['x']]);
    expect(pathWithoutShims()?.split(delimiter)).not.toContain(shims);
  });
});
