import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadSparing } from '../src/sparing.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-sparing-'));
afterAll(() => rmSync(folder, { recursive: true }));
const require = createRequire(join(folder, 'test.cjs'));

/** Writes a module that exports the separator of paths. */
function write(name: string): string {
  const path = join(folder, name);
  writeFileSync(path, `exports.sep = require('path').sep;`);
  return path;
}

const load = (path: string): string => (require(path) as { sep: string }).sep;

function fail(): never {
  throw new Error('no module');
}

describe('loadSparing', () => {
  it('gives stand-ins to the modules that it loads, and to no others', () => {
    expect(loadSparing({ path: { sep: '|' } }, () => load(write('spared.cjs')))).toBe('|');
    expect(load(write('other.cjs'))).toBe('/');
  });

  it('removes the stand-ins after an error', () => {
    expect(() => loadSparing({ path: {} }, fail)).toThrow('no module');
    expect(require('path')).toHaveProperty('sep');
  });
});
