import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBeside } from '../../src/conduct/baseline.ts';
import { BenchError } from 'bench-model/errors';
import type { Copy } from 'bench-model/target';
import type { StoredRun } from 'bench-analysis/results/store';
import { samplePlan, sampleStack } from '../../../bench-lab/testing/samples.ts';
import { git } from '../../../bench-lab/testing/user.ts';

let folder: string;
let first: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-baseline-')));
  git(folder, 'init', '--quiet', '--initial-branch=main');
  for (const text of ['one', 'two']) {
    writeFileSync(join(folder, 'server.cjs'), text);
    git(folder, 'add', '.');
    git(folder, 'commit', '--quiet', '--message', `Serve ${text}`);
  }
  first = git(folder, 'rev-parse', 'HEAD~1');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A stored run of a service in these copies. */
function storedRun(copies: (Copy | undefined)[]): Pick<StoredRun, 'plan'> {
  const { id, ...target } = { ...samplePlan('vanilla').targets[0]!, stack: sampleStack('shop').name };
  const app = { name: 'shop', folder, command: ['node', 'server.cjs'] };
  const targets = copies.map((copy, index) => ({
    ...target,
    id: `${id}${index}`,
    ...(copy === undefined ? {} : { copy }),
  }));
  return { plan: { ...samplePlan('vanilla'), run: 'old', apps: [app], targets } };
}

async function refusal(copies: (Copy | undefined)[], revisions: string[]): Promise<string> {
  try {
    await findBeside(storedRun(copies) as StoredRun, revisions);
  } catch (error) {
    if (error instanceof BenchError) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a stored run as a baseline', () => {
  it('is its commit, also if the branch has moved on', async () => {
    const main: Copy = { kind: 'revision', name: 'main', commit: first };
    const run = storedRun([main]) as StoredRun;
    expect(await findBeside(run, ['main'])).toMatchObject([
      { kind: 'revision', name: 'baseline', commit: first, subject: 'Serve one' },
      { kind: 'revision', name: 'main', commit: git(folder, 'rev-parse', 'main'), subject: 'Serve two' },
    ]);
    // A job may run on the commit of the baseline itself.
    expect(await findBeside(run, [first], { mayRepeat: true })).toMatchObject([{ name: 'baseline' }]);
  });

  it('is refused if the run does not say which commit it measured', async () => {
    expect(await refusal([undefined], ['HEAD'])).toMatch(/^usage: run old did not measure a commit/);
    const tree: Copy = { kind: 'working-tree', name: '.', commit: first };
    expect(await refusal([tree], ['HEAD'])).toMatch(/^usage: run old did not measure a commit/);
    const two = ['HEAD~1', 'HEAD'].map((name): Copy => ({
      kind: 'revision',
      name,
      commit: git(folder, 'rev-parse', name),
    }));
    expect(await refusal(two, ['HEAD'])).toMatch(/^usage: run old measured 2 revisions/);
  });

  it('is refused if the repository lacks its commit', async () => {
    const lost: Copy = { kind: 'revision', name: 'main', commit: 'a'.repeat(40) };
    expect(await refusal([lost], ['HEAD'])).toBe(
      'usage: run old measured the commit aaaaaaa, which is not in this repository',
    );
  });

  it('does not share its name with a revision', async () => {
    const main: Copy = { kind: 'revision', name: 'main', commit: first };
    expect(await refusal([main], ['baseline'])).toMatch(/^usage: --rev baseline: /);
  });
});
