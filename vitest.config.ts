import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { Skips } from './packages/bench/test/skips.ts';
import { Passed } from './packages/bench/test/unchanged.ts';

const ALL = 'packages/*/test/**/*.test.ts';
/** These files replace modules or the environment before an import: they need modules of their own. */
const REPLACING = globSync(ALL).filter((file) => /\bvi\.(mock|hoisted)\(/.test(readFileSync(file, 'utf8')));
/** These files take longest, in this order. */
const LONGEST = [
  'known/cluster',
  'projects/projects',
  'contract/stacks-python',
  'contract/stacks-fastapi',
  'cli/killed',
  'cli/services',
  'workflow',
  'cli/leftovers',
  'cli/requests',
  'cli/interrupt',
  'known/counts',
  'known/revisions',
  'known/saturated',
  'contract/stacks-other',
  'cli/decide',
  'known/warm',
  'known/upstream',
  'known/database',
  'page/browser',
].map((name) => `/packages/bench/test/${name}.test.ts`);

function rankOf({ moduleId, project }: TestSpecification): number {
  if (project.name === 'replacing') return LONGEST.length + 1;
  const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return place === -1 ? LONGEST.length : place;
}

/**
 * The longest files begin first: one that began last would leave a core idle. Those with modules of their own come last:
 * between the others, each would end a worker that has loaded all modules.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is that of the sequencer
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

/** A whole run prepares everything first, so that no test waits for a compiler or runs beside one. */
const isWhole = process.argv.slice(2).join(' ') === 'run';

const IS_CI = process.env['CI'] !== undefined;

/** A whole run outside of CI does not repeat what has passed and cannot have changed. */
const passed = isWhole && !IS_CI ? new Passed() : undefined;
const unchanged = passed?.list() ?? [];

/** Most tests wait for servers to start and stop: two files at a time would leave two cores idle. */
const TOGETHER = 5;

// The tests start hundreds of Node processes: none of them compiles the same file twice.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new Skips(isWhole, IS_CI), ...(passed ? [passed] : [])],
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: [ALL],
          exclude: [...REPLACING, ...unchanged],
          globalSetup: isWhole ? ['packages/bench/test/prepare.ts'] : [],
          // The files of a worker share its modules: importing them again for each file was a quarter of all work.
          isolate: false,
          maxWorkers: TOGETHER,
        },
      },
      {
        extends: true,
        test: { name: 'replacing', include: REPLACING, exclude: unchanged, maxWorkers: TOGETHER },
      },
    ],
  },
});
