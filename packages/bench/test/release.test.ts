import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');
const versionOf = (path: string): string => (JSON.parse(read(path)) as { version: string }).version;

describe('the version of a release', () => {
  const version = versionOf('packages/bench/package.json');

  it('is the same wherever it is named', () => {
    const [, newest] = /^## \[(.+?)\]/m.exec(read('CHANGELOG.md')) ?? [];
    const { version: cited } = parse(read('CITATION.cff')) as { version: string };
    expect([versionOf('package.json'), newest, cited]).toEqual([version, version, version]);
  });

  it('is in the name of the package that documents mention', () => {
    const documents = ['README.md', 'packages/bench/README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
    const named = documents.flatMap((path) => read(path).match(/bench-http-[\w.]+\.tgz/g) ?? []);
    expect(named.length).toBeGreaterThan(0);
    expect(new Set(named)).toEqual(new Set([`bench-http-${version}.tgz`]));
  });
});
