import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeStart, findStarts } from '../../../src/catalogue/apps/starts.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-starts-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(file: string, content: object = {}): void {
  writeFileSync(join(folder, file), JSON.stringify(content));
}

describe('the start of a Node project', () => {
  it.each([
    ['node dist/server.js', 'package-lock.json', [['npm', 'run', 'build']]],
    ['node --enable-source-maps ./build/main.js', 'pnpm-lock.yaml', [['pnpm', 'run', 'build']]],
    ['next start -p $PORT', 'yarn.lock', [['yarn', 'run', 'build']]],
    ['node server.js', 'package-lock.json', []],
  ])('by %s, with %s, is built by %j', (start, lock, build) => {
    write(lock);
    write('package.json', { scripts: { start, build: 'tsc' } });
    expect(findStarts(folder)).toMatchObject([{ runtime: 'node', build }]);
    expect(describeStart(folder, start)).toMatchObject({ runtime: 'node', build });
  });

  it('is not built without a script for it', () => {
    write('package.json', { scripts: { start: 'node dist/server.js' } });
    expect(findStarts(folder)).toMatchObject([{ build: [] }]);
  });
});
