import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComparedTable } from 'bench-analysis/compare';
import { environmentOfUser, git, runCommand } from '../../testing/user.ts';

/** A server that burns CPU for each request. */
const SERVER = `
const { loops } = require('./loops.cjs');
let x = 1;
require('node:http').createServer((request, response) => {
  for (let i = 0; i < loops; i++) x = (x * 1103515245 + 12345) & 0x7fffffff;
  response.end('ok');
}).listen(process.env.PORT, process.env.HOST);
`;
/** About 0.4 ms. */
const LOOPS = 200_000;
/** The slower one burns this many times as much: far more than a busy machine adds to either. */
const TIMES = 3;

let folder: string;
let shop: string;

function commit(branch: string, name: string, text: string): void {
  git(shop, 'switch', '--quiet', '--create', branch);
  writeFileSync(join(shop, name), text);
  git(shop, 'add', '.');
  git(shop, 'commit', '--quiet', '--message', `Change ${name}`);
}

function bench(...args: string[]): string {
  const ended = runCommand(args, shop, environmentOfUser(folder));
  if (ended.status !== 0) throw new Error(ended.stdout + ended.stderr);
  return ended.stdout;
}

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-burner-')));
  shop = join(folder, 'shop');
  mkdirSync(shop);
  git(shop, 'init', '--quiet', '--initial-branch=trunk');
  writeFileSync(join(shop, 'server.cjs'), SERVER);
  commit('main', 'loops.cjs', `exports.loops = ${LOOPS};`);
  commit('unchanged', 'NOTES.md', 'An order service.');
  git(shop, 'switch', '--quiet', 'main');
  commit('slower', 'loops.cjs', `exports.loops = ${TIMES * LOOPS};`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('branches of a burner', () => {
  // `pnpm bench:power` measures how small a difference is found.
  it('are slower if they burn more, and not if only a text has changed', { timeout: 240_000 }, () => {
    const revisions = ['main', 'unchanged', 'slower'].flatMap((name) => ['--rev', name]);
    // An exact amount: a short window can pass without an answer while other tests use both cores.
    const short = ['--rounds', '7', '--connections', '4', '--amount', '40', '--warmup', '0'];
    bench('--app', '.', '--run', 'node server.cjs', '--get', '/', ...revisions, ...short, '--json');
    const { rows } = JSON.parse(bench('compare', 'latest', '--threshold', '50%', '--json')) as ComparedTable;
    const verdicts = rows.map(({ candidate, comparison }) => [
      candidate.replace(/ \w{7}\]/, ']'),
      comparison.verdict,
    ]);
    expect(verdicts).toContainEqual(['shop[slower]', 'slower']);
    expect(verdicts).not.toContainEqual(['shop[unchanged]', 'slower']);
    expect(verdicts).toHaveLength(2);
  });
});
