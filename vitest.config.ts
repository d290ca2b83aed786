import { defineConfig } from 'vitest/config';
import { Skips } from './packages/bench/test/skips.ts';

/** Load servers and count what comes of it: two files at once on a small machine would measure each other. */
const KNOWN = 'packages/bench/test/known/*.test.ts';
/** All that a whole run needs is made before it, so that no test waits for compilers, or is measured beside them. */
const isWhole = process.argv.slice(2).join(' ') === 'run';

/** Of the other files: they wait for servers to start and stop for most of their time, and leave two cores idle by two. */
const TOGETHER = 4;

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ['default', new Skips(isWhole, process.env['CI'] !== undefined)],
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['packages/*/test/**/*.test.ts'],
          exclude: [KNOWN],
          globalSetup: isWhole ? ['packages/bench/test/prepare.ts'] : [],
          maxWorkers: TOGETHER,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: [KNOWN], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
