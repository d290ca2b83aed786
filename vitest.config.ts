import { defineConfig } from 'vitest/config';
import { SkipList } from './packages/bench/test/skips.ts';

export default defineConfig({
  test: {
    include: ['packages/*/test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Process tests start real servers: two files at once on a small machine would measure each other.
    fileParallelism: false,
    reporters: process.env['CI'] === undefined ? ['default'] : ['default', new SkipList()],
  },
});
