import { defineConfig } from 'vitest/config';
import { SkipList } from './packages/bench/test/skips.ts';

/** Load servers and count what comes of it: two files at once on a small machine would measure each other. */
const KNOWN = 'packages/bench/test/known/*.test.ts';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: process.env['CI'] === undefined ? ['default'] : ['default', new SkipList()],
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['packages/*/test/**/*.test.ts'],
          exclude: [KNOWN],
          globalSetup: 'packages/bench/test/prepare.ts',
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'known', include: [KNOWN], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
