import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findPinned, refuseExcluded } from '../../../src/catalogue/projects/pinned.ts';
import { usualRuntime } from '../../../src/catalogue/runtimes.ts';
import { errorOf } from '../../../../bench-lab/testing/samples.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-pinned-'));
  vi.stubEnv('PATH', '');
  vi.stubEnv('UV_PYTHON_INSTALL_DIR', join(folder, 'uv'));
  vi.stubEnv('PYENV_ROOT', join(folder, 'pyenv'));
  install('3.13.0');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function install(version: string): void {
  const bin = join(folder, 'pyenv', 'versions', version, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'python3'), '');
}

function pinned(kind: 'python' | 'node', file: string, text: string): string | undefined {
  writeFileSync(join(folder, file), text);
  return findPinned(folder, kind)?.version;
}

describe('the runtime of what pins none', () => {
  it('is Python 3.14, or 3.13 if that alone is here', () => {
    expect(usualRuntime('python')).toBe('3.13');
    mkdirSync(join(folder, 'uv', 'cpython-3.14.10-linux-x86_64-gnu'), { recursive: true });
    expect(usualRuntime('python')).toBe('3.14');
    rmSync(join(folder, 'uv'), { recursive: true });
    rmSync(join(folder, 'pyenv'), { recursive: true });
    expect(usualRuntime('python')).toBe('3.14');
  });

  it.runIf(process.platform === 'linux')('is Node 26', () => {
    expect(usualRuntime('node')).toBe('26');
  });
});

describe('the version of its runtime that a project asks for', () => {
  it.each([
    ['.python-version', '3.12.4\n', '3.12'],
    ['.python-version', 'pypy3.10\n', undefined],
    ['.tool-versions', 'nodejs 22.11.0\npython 3.12.4\n', '3.12'],
    ['pyproject.toml', '[project]\nrequires-python = ">=3.10"', undefined],
    ['pyproject.toml', '[project]\nrequires-python = ">=3.10,<3.13"', '3.12'],
    ['pyproject.toml', '[project]\nrequires-python = "==3.11.*"', '3.11'],
    ['pyproject.toml', '[tool.poetry.dependencies]\npython = "^3.11"', undefined],
    ['pyproject.toml', '[project]\nrequires-python = ">=3.20"', undefined],
    ['pyproject.toml', '[tool.poetry.dependencies]\npython = "^3.11,<3.13"', '3.12'],
    ['pyproject.toml', '[project]\nrequires-python = ">=3.12,!=3.13.*,<3.15"', '3.14'],
    ['pyproject.toml', '[project]\nrequires-python = "==3.12.4"', '3.12'],
    ['pyproject.toml', '[project]\nrequires-python = "~=3.9, <3.12"', '3.11'],
    ['Pipfile', '[requires]\npython_version = "3.11"', '3.11'],
    ['pyproject.toml', '[project]\nname = "shop"\n[tool.lint]\npython = "3.11"', undefined],
  ])('is, by %s with %j, Python %s', (file, text, version) => {
    expect(usualRuntime('python')).toBe('3.13');
    expect(pinned('python', file, text)).toBe(version);
  });

  it.each([
    ['.nvmrc', 'v22.11.0\n', '22'],
    ['.nvmrc', 'lts/*\n', undefined],
    ['.node-version', '24\n', '24'],
    ['package.json', '{ "engines": { "npm": ">=9", "node": "^20.9 || ^22.1" } }', '22'],
    ['package.json', '{ "engines": { "node": ">=18 <23" } }', '22'],
    ['package.json', '{ "engines": { "node": ">22 <24" } }', '23'],
    ['package.json', '{ "engines": { "node": "14.x.x" } }', '14'],
    ['.tool-versions', 'pnpm 10.14.0\nnodejs 22.11.0\n', '22'],
    ['package.json', '{ "engines": { "node": ">=20" } }', undefined],
    ['package.json', '{}', undefined],
  ])('is, by %s with %j, Node %s', (file, text, version) => {
    expect(pinned('node', file, text)).toBe(version);
  });

  it.each([
    ['[project]\nrequires-python = ">=3.11"', '3.10', '>=3.11'],
    ['[project]\nrequires-python = ">=3.11,<3.14"', '3.15.0a2', '>=3.11,<3.14'],
    ['[project]\nrequires-python = "==3.12.4"', '3.12.5', '==3.12.4'],
    ['[tool.poetry.dependencies]\npython = "^3.11,<3.13"', '3.13', '^3.11,<3.13'],
  ])('excludes, by %j, Python %s', (text, version, range) => {
    writeFileSync(join(folder, 'pyproject.toml'), text);
    const error = errorOf(() => refuseExcluded({ name: 'shop', root: folder }, version));
    expect(error.message).toBe(
      `shop does not run on Python ${version}: its pyproject.toml requires ${range}`,
    );
    expect(error.hint).toMatch(
      /^of the known versions, (3\.15, 3\.14, 3\.13, 3\.12|3\.13, 3\.12|3\.12).* fits?$/,
    );
  });

  it.each([
    ['[project]\nrequires-python = ">=3.11"', '3.11'],
    ['[project]\nrequires-python = "==3.12.4"', '3.12'],
    ['[tool.poetry.dependencies]\npython = "^3.11,<3.13"', '3.12.1'],
    ['[project]\nrequires-python = "some day"', '3.10'],
    ['[project]\nname = "shop"', '3.10'],
  ])('does not exclude, by %j, Python %s', (text, version) => {
    writeFileSync(join(folder, 'pyproject.toml'), text);
    expect(() => refuseExcluded({ name: 'shop', root: folder }, version)).not.toThrow();
  });

  it('is refused with the line of a broken file', () => {
    expect(() => pinned('python', 'pyproject.toml', '[project]\nname = shop')).toThrow(
      /pyproject\.toml:2: not TOML: /,
    );
    expect(() => pinned('node', 'package.json', '{\n  "engines": {')).toThrow(/package\.json:2: not JSON: /);
  });

  it('is that of the file for it, before that of the package', () => {
    writeFileSync(join(folder, 'package.json'), '{ "engines": { "node": "20" } }');
    writeFileSync(join(folder, '.nvmrc'), '22');
    expect(findPinned(folder, 'node')).toEqual({ version: '22', why: '.nvmrc: 22' });
  });
});
