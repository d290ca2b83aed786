import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { Skips } from './packages/bench-lab/testing/skips.ts';
import { Passed } from './packages/bench-lab/testing/unchanged.ts';

/** A whole run prepares everything first, so that no test waits for a compiler or runs beside one. */
const isWhole = process.argv.slice(2).join(' ') === 'run';

const IS_CI = process.env['CI'] !== undefined;

/** A whole run outside of CI does not repeat what has passed and cannot have changed. */
const passed = isWhole && !IS_CI ? new Passed() : undefined;
const unchanged = passed?.list() ?? [];

/** Most tests wait for servers to start and stop: two files at a time would leave two cores idle. */
const maxWorkers = 4;

// The tests start hundreds of Node processes: none of them compiles the same file twice.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');

// The hints say `pnpm`, whoever started the tests.
delete process.env['npm_config_user_agent'];

/** Returns the project of these files; none if there are none. */
function projectOf(name: string, include: string[], isolate: boolean): TestProjectInlineConfiguration[] {
  const test = { name, include, exclude: unchanged, isolate, maxWorkers };
  return include.length === 0 ? [] : [{ extends: true, test }];
}

/** Returns the projects of a package: its tests, and those that replace modules or the environment before an import. */
function projectsOf(name: string): TestProjectInlineConfiguration[] {
  const all = globSync(`packages/${name}/test/**/*.test.ts`);
  const replacing = all.filter((file) => /\bvi\.(mock|hoisted)\(/.test(readFileSync(file, 'utf8')));
  return [
    // The files of a worker share its modules: importing them again for each file was a quarter of all work.
    ...projectOf(
      name,
      all.filter((file) => !replacing.includes(file)),
      false,
    ),
    ...projectOf(`${name}, own modules`, replacing, true),
  ];
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
    projects: globSync('packages/*/test').flatMap((folder) => projectsOf(folder.split('/')[1] ?? '')),
  },
});
