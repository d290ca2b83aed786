import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isFolder, makeFolder, readBytes, readTextFile, sizeOfFile } from '../src/files.ts';
import { runSync } from '../src/subprocess.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('reads a regular file, also by a link', () => {
  writeFileSync(join(folder, 'a'), 'text');
  symlinkSync('a', join(folder, 'link'));
  expect(readTextFile(join(folder, 'link'))).toBe('text');
  expect(readBytes(join(folder, 'a'), 4)).toEqual(Buffer.from('text'));
});

it.each<[string, (path: string) => void]>([
  ['a pipe', (path) => runSync(['mkfifo', path])],
  ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
  ['a link to nothing', (path) => symlinkSync('nothing', path)],
  ['a file of 3 GiB', (path) => (writeFileSync(path, ''), truncateSync(path, 3 * 1024 ** 3))],
])('does not read %s', (_what, make) => {
  const path = join(folder, 'it');
  make(path);
  expect(readTextFile(path)).toBeUndefined();
});

it('knows the size of a file that is too large to be read', () => {
  writeFileSync(join(folder, 'a'), '12345');
  expect(readBytes(join(folder, 'a'), 4)).toBeUndefined();
  expect([sizeOfFile(join(folder, 'a')), sizeOfFile(folder)]).toEqual([5, 0]);
});

it('makes a folder with those above it, unless something is there', () => {
  const made = join(folder, 'a', 'b');
  for (let time = 0; time < 2; time++) makeFolder(made);
  expect(isFolder(made)).toBe(true);
});

it.runIf(process.platform === 'linux')('refuses to make a folder below /proc', () => {
  expect(() => makeFolder('/proc/a/b')).toThrow('/proc/a/b cannot be created: ENOENT');
});
