import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { Skips } from './packages/bench-lab/testing/skips.ts';
import { Passed } from './packages/bench-lab/testing/unchanged.ts';

/** A whole run prepares everything while its first files run. */
const isWhole = process.argv.slice(2).join(' ') === 'run';

const IS_CI = process.env['CI'] !== undefined;

/** A whole run outside of CI does not repeat what has passed and cannot have changed. */
const passed = isWhole && !IS_CI ? new Passed() : undefined;
const unchanged = passed?.list() ?? [];

/** Most tests wait for servers to start and stop: two files at a time would leave two cores idle, and six disturb what is measured. */
const maxWorkers = 4;

// The tests start hundreds of Node processes: none of them compiles the same file twice.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');

// Each run would wait for a second to see what else uses the machine: other tests do.
process.env['BENCH_OBSERVE_MS'] ??= '20';

// The hints say `pnpm`, whoever started the tests.
process.env['npm_config_user_agent'] = 'pnpm';

const all = globSync('packages/*/test/**/*.test.ts');
/** They replace modules or the environment before an import. */
const replacing = all.filter((file) => /\bvi\.(mock|hoisted)\(/.test(readFileSync(file, 'utf8')));
const sharing = all.filter((file) => !replacing.includes(file));

/**
 * The order of files: those that start no server run beside the preparation, those that wait for one most of their time come
 * before the others, which then fill the gaps, and long ones not last.
 */
const ORDER = [
  /\/bench-(model|statistics|analysis|report)\/test\//,
  /\/test\/known\//,
  /\/test\/contract\//,
  /\/test\/(faults|projects)\/|\/decide\./,
  /./,
];

const placeOf = ({ moduleId }: TestSpecification): number => ORDER.findIndex((one) => one.test(moduleId));

/** Sorts files by the first pattern that they match. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a sequencer is not an array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

export default defineConfig({
  test: {
    // Each of them starts servers and loads.
    maxConcurrency: 3,
    testTimeout: 180_000,
    hookTimeout: 240_000,
    setupFiles: ['packages/bench-lab/testing/ports.ts'],
    globalSetup: isWhole ? ['packages/bench-lab/testing/prepare.ts'] : [],
    reporters: ['default', new Skips(isWhole, IS_CI), ...(passed ? [passed] : [])],
    sequence: { sequencer: InOrder },
    exclude: unchanged,
    maxWorkers,
    projects: [
      // The files of a worker share its modules: importing them again for each file was a quarter of all work.
      { extends: true, test: { name: 'shared modules', include: sharing, isolate: false } },
      { extends: true, test: { name: 'own modules', include: replacing } },
    ],
  },
});
