/**
 * Compiles the harness into `packages/bench/dist`, as `pnpm pack` needs it: Node runs no TypeScript below a
 * `node_modules`. The folders mirror `packages/`, so that paths between them stay as they are.
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePage } from 'bench-http/commands/bundle';
import { bundleOf } from 'bench-http/commands/page';
import { run } from 'bench-http/machine/subprocess';

const PACKAGES = fileURLToPath(new URL('../packages/', import.meta.url));
const BENCH = join(PACKAGES, 'bench');
const DIST = join(BENCH, 'dist');

/** The files that a program reads beside the compiled modules. */
const ASSETS = [
  'bench/src/**/*.{lua,js,cjs,py}',
  'bench/schema/*.json',
  'bench/page/*.css',
  'upstream/nginx.conf',
];

rmSync(DIST, { recursive: true, force: true });
await run(['tsc', '-p', 'tsconfig.dist.json'], { cwd: BENCH });
for (const file of globSync(ASSETS, { cwd: PACKAGES })) cpSync(join(PACKAGES, file), join(DIST, file));
for (const name of ['report', 'site'] as const)
  writeFileSync(join(DIST, 'bench', 'page', bundleOf(name)), await bundlePage(name));
for (const file of globSync('*/src/**/*.{js,d.ts}', { cwd: DIST })) relink(join(DIST, file));

/** Points imports of workspace packages, and those of declarations, to the compiled files. */
function relink(file: string): void {
  const text = readFileSync(file, 'utf8');
  const linked = text
    .replaceAll(/'(@bench\/[^']+)'/g, (_, name: string) => `'${pathTo(name, file)}'`)
    .replaceAll(/(from |import\()'(\.[^']+)\.ts'/g, "$1'$2.js'");
  if (linked !== text) writeFileSync(file, linked);
}

/** Returns the relative path of a module of a workspace package, from a compiled file. */
function pathTo(name: string, file: string): string {
  const [scope, folder = '', ...rest] = name.split('/');
  const manifest = join(PACKAGES, folder, 'package.json');
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: Record<string, string> };
  const target = exports[rest.length === 0 ? '.' : `./${rest.join('/')}`];
  if (target === undefined) throw new Error(`${scope}/${folder} has no export for ${name}`);
  const path = relative(dirname(file), join(DIST, folder, target)).replace(/\.ts$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
}
