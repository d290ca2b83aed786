import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { findCode, type CodeClaim } from '../../src/prepare/imports.ts';
import { errorOf } from '../../../bench-lab/testing/samples.ts';

const place = mkdtempSync(join(tmpdir(), 'bench-imports-'));
afterAll(() => rmSync(place, { recursive: true }));

const write = (path: string, text: string): string => {
  const file = join(place, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  return file;
};

beforeEach(() => {
  for (const folder of ['shop', 'a', 'b']) {
    write(`${folder}/app.py`, 'import work');
    write(`${folder}/work.py`, `# ${folder}`);
    write(`${folder}/.venv/lib/x.py`, 'x');
  }
});

const claim = (folder: string): CodeClaim => ({
  from: `./${folder}`,
  language: 'python',
  folder: join(place, folder),
  instead: join(place, 'shop'),
  program: '',
});
const filesIn = (folder: string) =>
  ['app.py', 'work.py', '.venv/lib/x.py'].map((name) => join(place, folder, name));

describe('findCode', () => {
  it('counts the files of the copy, and distinguishes two copies by their contents', () => {
    const [a, b] = ['a', 'b'].map((folder) =>
      findCode(claim(folder), [...filesIn(folder), '/usr/lib/os.py']),
    );
    expect(a).toMatchObject({ from: './a', files: 2 });
    expect(a?.sha256).not.toBe(b?.sha256);
    cpSync(join(place, 'a', 'work.py'), join(place, 'b', 'work.py'));
    expect(findCode(claim('b'), filesIn('b')).sha256).toBe(a?.sha256);
  });

  it('fails if any file is from the original', () => {
    const files = [join(place, 'a', 'app.py'), join(place, 'shop', 'work.py')];
    expect(errorOf(() => findCode(claim('a'), files)).message).toMatch(
      /^\.\/a: the server runs .*shop\/work\.py, which is not in the copy$/,
    );
    // Both may use tools and packages from the environment of the original.
    expect(findCode(claim('a'), [join(place, 'a', 'app.py'), join(place, 'shop/.venv/lib/x.py')]).files).toBe(
      1,
    );
  });

  it('recognises a copy inside the original, and one behind a link', () => {
    const inner = [write('shop/copies/c/app.py', 'c')];
    expect(findCode({ ...claim('a'), folder: join(place, 'shop/copies/c') }, inner).files).toBe(1);
    symlinkSync(join(place, 'a'), join(place, 'link'));
    expect(findCode({ ...claim('a'), folder: join(place, 'link') }, filesIn('a')).files).toBe(2);
  });

  it('is the code of the copy, whatever else the server has loaded', () => {
    const shared = write('shop/shared/lib.py', 'shared');
    expect(findCode(claim('a'), [...filesIn('a'), shared, '/usr/lib/os.py'])).toMatchObject({
      from: './a',
      files: 2,
    });
  });

  it('says why it cannot be told', () => {
    const program = write('a/bin/server', 'elf');
    const binary = { ...claim('a'), language: 'none' as const, program };
    expect(findCode(binary, [program])).toMatchObject({ files: 1 });
    expect(
      [
        findCode(binary, ['/usr/bin/other']),
        findCode(claim('a'), []),
        findCode(claim('a'), ['/usr/lib/os.py']),
      ].map(({ unknown }) => unknown),
    ).toEqual([
      'no process of the server runs a program of the copy',
      'the server did not report which files it had loaded',
      'no loaded file is in the folder of the copy',
    ]);
  });
});
