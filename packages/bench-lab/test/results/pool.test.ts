import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HOME } from 'bench-machine/home';
import { readPool } from '../../src/results/pool.ts';

const PUBLISHED = join(HOME.root, 'results/published/20261121-221151-power');
const [test = ''] = readFileSync(join(PUBLISHED, 'pool.jsonl'), 'utf8').split('\n');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-pool-'));
  cpSync(join(PUBLISHED, 'pool.json'), join(folder, 'pool.json'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it.each([
  ['a test without a verdict', test.replace('"verdict"', '"word"'), 'verdict is missing'],
  [
    'a string instead of a number',
    test.replace('"differences":[', '"differences":["0.1",'),
    'differences.0 has none',
  ],
  ['an unknown kind', test.replace('sequential-test', 'seance'), 'kind'],
  ['a line that is not an object', '[]', 'kind is missing'],
])('a pool with %s is rejected, naming file and line', (_, line, problem) => {
  writeFileSync(join(folder, 'pool.jsonl'), `${test}\n${line}\n`);
  expect(() => readPool(folder)).toThrow(`pool.jsonl:2: not part of a pool: ${problem}`);
});

it('a pool of another version is rejected', () => {
  const file = join(folder, 'pool.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"schema": 1', '"schema": 99'));
  expect(() => readPool(folder)).toThrow(
    'pool.json: has schema 99, and this version of Bench reads only schema 1',
  );
});
