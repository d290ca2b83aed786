/** Bundles the scripts of the pages, and the package for users. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** A page with a separate script: the report of a run, or the index over all runs. */
export type PageName = 'report' | 'site';

/** The entry of each script, in the folder of the pages. */
const ENTRIES: Readonly<Record<PageName, string>> = { report: 'main.ts', site: 'site/main.ts' };

const FOLDER = fileURLToPath(new URL('../../../bench-report/page/', import.meta.url));

/** Returns the script of a page as one text that is safe inside a script element, with the licences of its libraries. */
export async function bundlePage(name: PageName): Promise<string> {
  const { output } = await build({
    input: join(FOLDER, ENTRIES[name]),
    platform: 'browser',
    write: false,
    logLevel: 'warn',
    output: { format: 'iife', minify: true, comments: false },
  });
  const [chunk] = output;
  const licences = licencesOf(chunk.moduleIds);
  return `/*! Contains:\n${licences}\n*/\n${chunk.code}`.replaceAll(/<(?=\/script|!--)/gi, '\\x3C');
}

/** The modules that the package starts from: the command, the library, and the programs that run as processes of their own. */
const PROGRAMS = [
  'bench/src/cli/main.ts',
  'bench/src/commands/*.ts',
  'bench/src/measure/reference-server.ts',
  'bench-cluster/src/cluster-package.ts',
  'bench-load/src/{alarm-worker,generator,rival-plain,rival-stock}.ts',
  'upstream/src/server.ts',
];
const LIBRARY = 'bench/src/api.ts';

/** The declarations of all packages, as `tsc -b` writes them. */
const TYPES = fileURLToPath(new URL('../../../../.cache/types/', import.meta.url));

/** Ours are bundled, all others are dependencies of the package. */
const isExternal = (id: string): boolean => !/^(?:[./]|bench-|@bench\/)/.test(id);

/**
 * Bundles the package into a folder. Its modules stay apart and lie as in `packages`, because some find files and programs
 * beside themselves. `tsc -b` has written their declarations.
 */
export async function bundlePackage(packages: string, folder: string): Promise<void> {
  const programs = globSync([...PROGRAMS, LIBRARY], { cwd: packages }).map((file) => join(packages, file));
  const modules = { preserveModules: true, preserveModulesRoot: packages } as const;
  const checks = { pluginTimings: false };
  const common = { platform: 'node', external: isExternal, logLevel: 'warn', checks } as const;
  await build({
    ...common,
    input: programs,
    plugins: [besideModules],
    output: { dir: folder, format: 'esm', entryFileNames: '[name].js', ...modules },
  });
  await build({
    ...common,
    input: { api: join(TYPES, LIBRARY.replace('/src/', '/').replace(/\.ts$/, '.d.ts')) },
    plugins: [declarations, dts({ dtsOnly: true })],
    output: { dir: join(folder, dirname(LIBRARY)), format: 'esm' },
  });
}

/** Turns the files of other packages, which a module asks Node for, into paths beside it. */
const besideModules: Plugin = {
  name: 'beside-modules',
  transform(code, id) {
    if (!code.includes('import.meta.resolve(')) return null;
    return code.replaceAll(/import\.meta\.resolve\('(@bench\/[^']+)'\)/g, (_, name: string) => {
      const file = fileURLToPath(import.meta.resolve(name)).replace(/\.ts$/, '.js');
      return `import.meta.resolve('${relative(dirname(id), file)}')`;
    });
  },
};

/** Finds the declarations of our modules where the compiler writes them. */
const declarations: Plugin = {
  name: 'declarations',
  resolveId: {
    order: 'pre',
    handler(id, importer) {
      if (id.startsWith('.') && importer?.startsWith(TYPES) === true)
        return join(dirname(importer), id.replace(/\.ts$/, '.d.ts'));
      const [name = '', ...rest] = id.split('/');
      return /^bench-[a-z]+$/.test(name) ? join(TYPES, name, `${rest.join('/')}.d.ts`) : null;
    },
  },
};

/** Returns the licences of the packages of these modules; packages with the same licence share its text. */
function licencesOf(modules: readonly string[]): string {
  const roots = new Set(
    modules.flatMap((module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module)?.[0] ?? []),
  );
  const found = [...roots].map((root) => {
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt']
      .map((name) => join(root, name))
      .find((one) => existsSync(one));
    const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name: string };
    return { name, text: file === undefined ? '' : readFileSync(file, 'utf8').trim() };
  });
  return [...Map.groupBy(found, ({ text }) => text)]
    .map(([text, all]) => `${all.map(({ name }) => name).join(', ')}:\n${text.replaceAll('*/', '* /')}`)
    .join('\n\n');
}
