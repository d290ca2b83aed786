import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PNPM_12 } from '../../../src/prepare/pins.ts';
import { pnpmCommand } from '../../../src/prepare/projects/managers.ts';

describe('pnpm', () => {
  it.each([
    ['/opt/pnpm/pnpm', ['/opt/pnpm/pnpm']],
    ['/opt/corepack/pnpm.cjs', [process.execPath, '/opt/corepack/pnpm.cjs']],
  ])('is the pnpm that started the harness: %j', async (path, words) => {
    expect(await pnpmCommand(path)).toEqual(words);
  });

  it.each(['/usr/lib/node_modules/npm/bin/npm-cli.js', ''])(
    'is otherwise the pinned one in the cache: %j',
    async (path) => {
      const cache = mkdtempSync(join(tmpdir(), 'bench-pnpm-'));
      const folder = join(cache, 'managers', PNPM_12.wanted.replaceAll(/\W+/g, '-'));
      const program = join(folder, 'node_modules', 'pnpm', PNPM_12.file);
      mkdirSync(dirname(program), { recursive: true });
      writeFileSync(program, '');
      expect(await pnpmCommand(path, cache)).toEqual([process.execPath, program]);
      rmSync(cache, { recursive: true });
    },
  );
});
