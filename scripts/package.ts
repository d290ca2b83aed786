/**
 * Bundles the harness into `packages/bench/dist`, as `pnpm pack` needs it: Node runs no TypeScript below a `node_modules`.
 * The folders mirror `packages/`, so that paths between them stay as they are.
 */
import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineCommand } from 'bench-http/cli/command';
import { bundlePackage, bundlePage } from 'bench-http/conduct/bundle';
import { bundleOf } from 'bench-http/conduct/page';
import { run } from 'bench-machine/subprocess';

const PACKAGES = fileURLToPath(new URL('../packages/', import.meta.url));
const DIST = join(PACKAGES, 'bench', 'dist');

/** The files that a program reads beside the bundled modules. */
const ASSETS = [
  'bench*/src/**/*.{lua,js,cjs,py,json}',
  'bench-model/schema/*.json',
  'bench-report/page/*.css',
  'upstream/nginx.conf',
];

export default defineCommand({
  name: 'package',
  options: {},
  read: () => ({}),
  async run() {
    rmSync(DIST, { recursive: true, force: true });
    await run(['tsc', '-b', 'packages/bench'], { cwd: join(PACKAGES, '..') });
    await bundlePackage(PACKAGES, DIST);
    for (const file of globSync(ASSETS, { cwd: PACKAGES })) cpSync(join(PACKAGES, file), join(DIST, file));
    for (const name of ['report', 'site'] as const)
      writeFileSync(join(DIST, 'bench-report', 'page', bundleOf(name)), await bundlePage(name));
  },
});
