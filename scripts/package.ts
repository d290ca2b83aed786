/**
 * Packs `bench-http`, bundled: Node runs no TypeScript below a `node_modules`. The folders of `dist` mirror `packages/`, so
 * that paths between them stay as they are.
 */
import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineCommand, option } from 'bench-http/cli/command';
import { text } from 'bench-http/cli/values';
import { bundlePage } from 'bench-http/conduct/bundle';
import { BUNDLE } from 'bench-http/conduct/page';
import { print } from 'bench-http/terminal/shell';
import { run } from 'bench-machine/subprocess';
import { pnpmCommand } from 'bench-targets/prepare/projects/managers';
import { bundlePackage } from './packing/bundle.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PACKAGES = join(ROOT, 'packages/');
const BENCH = join(PACKAGES, 'bench');
const DIST = join(BENCH, 'dist');

/** The files that a program reads beside the bundled modules. */
const ASSETS = [
  'bench*/src/**/*.{lua,js,cjs,py,c,json}',
  'bench-model/schema/*.{json,cjs}',
  'bench-report/page/*.css',
  'upstream/nginx.conf',
];

/** The documents for users. */
const DOCUMENTS = 'docs/{start,guides,concepts,reference,examples}/*';

export default defineCommand({
  name: 'package',
  about: 'Packs bench-http into one file, for machines without this repository. Prints its path.',
  options: {
    output: option('<folder>', text, { help: 'the folder of the file', usually: 'the current one' }),
  },
  async run({ output = '.' }) {
    rmSync(DIST, { recursive: true, force: true });
    await run(['tsc', '-b', 'packages/bench'], { cwd: ROOT });
    await bundlePackage(PACKAGES, DIST);
    for (const file of globSync(ASSETS, { cwd: PACKAGES })) cpSync(join(PACKAGES, file), join(DIST, file));
    for (const file of globSync(DOCUMENTS, { cwd: ROOT })) cpSync(join(ROOT, file), join(DIST, file));
    writeFileSync(join(DIST, 'bench-report', 'page', BUNDLE), await bundlePage());
    const pack = [...(await pnpmCommand()), 'pack', '--pack-destination', resolve(output)];
    const { stdout } = await run(pack, { cwd: BENCH });
    print(`${stdout.trim().split('\n').at(-1)}\n`);
  },
});
