import { describe, expect, it } from 'vitest';
import { pnpmCommand } from '../../src/prepare/pnpm.ts';

describe('pnpm', () => {
  it.each([
    ['/opt/pnpm/pnpm', ['/opt/pnpm/pnpm']],
    ['/opt/corepack/pnpm.cjs', [process.execPath, '/opt/corepack/pnpm.cjs']],
    ['/usr/lib/node_modules/npm/bin/npm-cli.js', ['npx', '--yes', 'pnpm@12']],
    ['', ['npx', '--yes', 'pnpm@12']],
  ])('is the pnpm that started the harness, otherwise one through npx: %j', (path, words) => {
    expect(pnpmCommand(path)).toEqual(words);
  });
});
