import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findNeeds } from '../../../src/catalogue/apps/needs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-needs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const needs = (file: string, text: string, env = {}): string[] => {
  writeFileSync(join(folder, file), text);
  return findNeeds(folder, env).map(({ name, variable, why }) => `${name} by ${variable}: ${why}`);
};

describe('the services that a project seems to need', () => {
  it.each([
    [
      'compose.yaml',
      'services:\n  x:\n    image: postgres:17\n',
      ['db by DATABASE_URL: compose.yaml: an image'],
    ],
    ['.env', 'PG_DSN="postgresql://me:secret@db/shop"\n', ['db by PG_DSN: .env: PG_DSN']],
    ['.env.example', 'REDIS_URL=redis://localhost\n', ['cache by REDIS_URL: .env.example: REDIS_URL']],
    ['.example-env', 'PG_DSN=postgres://db/shop\n', ['db by PG_DSN: .example-env: PG_DSN']],
    [
      'docker-compose.yml',
      'image: docker.io/library/redis:8',
      ['cache by REDIS_URL: docker-compose.yml: an image'],
    ],
    ['.env', 'DATABASE_URL=sqlite:///shop.db\n', []],
    ['README.md', 'image: postgres', []],
  ])('are, by %s with %j, %j', (file, text, found) => {
    expect(needs(file, text)).toEqual(found);
  });

  it('are none if the environment gives the address', () => {
    expect(needs('.env', 'DATABASE_URL=postgres://db/shop', { DATABASE_URL: 'postgres://here/x' })).toEqual(
      [],
    );
  });
});
