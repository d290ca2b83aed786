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

it('a pool is read without a last line that is cut', () => {
  writeFileSync(join(folder, 'pool.jsonl'), `${test}\n${test.slice(0, 40)}`);
  expect(readPool(folder)?.entries).toEqual([JSON.parse(test)]);
});

it('a pool of another version is rejected', () => {
  const file = join(folder, 'pool.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"schema": 1', '"schema": 99'));
  expect(() => readPool(folder)).toThrow('pool.json is of another version');
});
