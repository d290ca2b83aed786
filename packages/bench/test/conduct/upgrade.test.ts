import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { Stack } from 'bench-model/stack';
import type { InstalledPython } from 'bench-targets/prepare/installed';
import { spreadTargets } from 'bench-targets/catalogue/stacks';
import { chooseBuilds, findUpgrade } from '../../src/conduct/upgrade.ts';

function build(line: string, maker?: string): InstalledPython {
  const version = `${line}.1`;
  return {
    path: `/${maker}/python${line}`,
    line,
    hasJit: false,
    interpreter: { implementation: 'CPython', version, ...(maker === undefined ? {} : { maker }) },
  };
}

const paths = (builds: readonly InstalledPython[]): string[] => builds.map(({ path }) => path);

describe('the builds of an upgrade', () => {
  it('are those of the maker that has most lines, that of now among them', () => {
    const all = [
      build('3.13', 'pyenv'),
      build('3.14', 'pyenv'),
      build('3.13', 'Debian'),
      build('3.15', 'Debian'),
      build('3.14', 'Debian'),
    ];
    expect(chooseBuilds(all, '3.13')).toEqual({
      builds: [all[2], all[4], all[3]],
      words: [],
    });
  });

  it('are of another maker where theirs has none', () => {
    const all = [build('3.13', 'pyenv'), build('3.14', 'Debian'), build('3.15', 'pyenv')];
    expect(paths(chooseBuilds(all, '3.13').builds)).toEqual(paths(all));
  });

  it('leave out older lines and the first ones without the GIL, and name those that are not here', () => {
    const all = ['3.12', '3.13', '3.13t', '3.14t'].map((line) => build(line));
    const { builds, words } = chooseBuilds(all, '3.13');
    expect(builds.map(({ line }) => line)).toEqual(['3.13', '3.14t']);
    expect(words).toEqual([
      'not installed: Python 3.14 (uv python install 3.14)',
      'not installed: Python 3.15 (uv python install 3.15)',
    ]);
  });
});

const target = {
  id: 'a',
  stack: 'a',
  variant: 'a',
  class: 'raw',
  language: 'javascript',
  framework: 'none',
} as const;

describe('an upgrade of packages', () => {
  const node = { ...target, runtime: { kind: 'node', spec: '26' } as const };

  it('compares the versions that are named with the locked ones, on the runtime of now', async () => {
    const packages = ['fastify@5.1.0', 'fastify@5.6.0'];
    const { matrix } = await findUpgrade([node], [], packages);
    expect(matrix).toEqual({ python: [], node: [], packages, asLocked: true });
    expect(spreadTargets([node], matrix).map(({ id }) => id)).toEqual([
      'a',
      'a[fastify@5.1.0]',
      'a[fastify@5.6.0]',
    ]);
  });
});

describe('an upgrade of a package of npm to its newest release', () => {
  const root = mkdtempSync(join(tmpdir(), 'bench-upgrade-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  afterEach(() => vi.unstubAllEnvs());
  const find = (asked: string) => {
    writeFileSync(join(root, 'package.json'), JSON.stringify({ dependencies: { express: asked } }));
    const locked = { 'node_modules/express': { version: '5.1.0' } };
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: locked }));
    const script =
      '#!/bin/sh\ncase "$2" in *@5.1.0) echo \'"5.1.0"\';; *@*) echo \'["5.1.0","5.2.0"]\';; *) echo \'"6.0.0"\';; esac\n';
    writeFileSync(join(root, 'npm'), script, { mode: 0o755 });
    vi.stubEnv('PATH', `${root}:${process.env['PATH']}`);
    const lock = { kind: 'npm', file: join(root, 'package-lock.json') } as const;
    const stack = { name: 'a', root, project: { kind: 'node', lock } } as unknown as Stack;
    return findUpgrade([{ ...target, runtime: { kind: 'node', spec: '26' } }], [stack], ['express']);
  };

  it('takes the newest that the project admits, or the newest of all if it pins the locked one', async () => {
    expect(await find('^5.1.0')).toMatchObject({ matrix: { packages: ['express@5.2.0'] } });
    const { matrix, words } = await find('5.1.0');
    expect(matrix.packages).toEqual(['express@6.0.0']);
    expect(words.join()).toContain('although a admits only 5.1.0: express 6.0.0, locked 5.1.0');
  });
});

describe('an upgrade of Node', () => {
  it('is compared with each newer line', async () => {
    const { matrix } = await findUpgrade([{ ...target, runtime: { kind: 'node', spec: '22' } }], [], []);
    expect(matrix.node).toEqual(['22', '24', '26']);
  });

  it('is refused if nothing is newer, or the targets run on several runtimes', async () => {
    const newest = { ...target, runtime: { kind: 'node', spec: '26' } as const };
    await expect(findUpgrade([newest], [], [])).rejects.toThrow('found nothing newer than Node 26');
    const other = { ...target, runtime: { kind: 'python', spec: '3.13' } as const };
    await expect(findUpgrade([newest, other], [], [])).rejects.toThrow('run on node 26 and python 3.13');
  });
});
