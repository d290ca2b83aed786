/** Bundles the package for users. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { findPrograms } from './programs.ts';

/** The modules that the package starts from, without the programs that `findPrograms` finds. */
const ENTRIES = [
  'bench/src/cli/main.ts',
  'bench/src/commands/*.ts',
  'bench-cluster/src/cluster-package.ts',
  'upstream/src/server.ts',
];
const LIBRARY = 'bench/src/api.ts';

/** The declarations of all packages, as `tsc -b` writes them. */
const TYPES = fileURLToPath(new URL('../../.cache/types/', import.meta.url));

/** Ours are bundled, and the helpers that the bundler adds. All others are dependencies of the package. */
const isExternal = (id: string): boolean => !/^(?:[./]|bench-|@bench\/|@oxc-project\/runtime\/)/.test(id);

/**
 * Bundles the package into a folder. Its modules stay apart and lie as in `packages`, because some find files and programs
 * beside themselves. `tsc -b` has written their declarations.
 */
export async function bundlePackage(packages: string, folder: string): Promise<void> {
  const { engines } = JSON.parse(readFileSync(join(packages, 'bench/package.json'), 'utf8')) as {
    engines: { node: string };
  };
  // The oldest Node that it allows does not know `using`, for example.
  const transform = { target: engines.node.replace('>=', 'node') };
  const entries = [...globSync([...ENTRIES, LIBRARY], { cwd: packages }), ...findPrograms(packages)];
  const modules = { preserveModules: true, preserveModulesRoot: packages } as const;
  const checks = { pluginTimings: false };
  const common = { platform: 'node', external: isExternal, logLevel: 'warn', checks } as const;
  await build({
    ...common,
    input: entries.map((file) => join(packages, file)),
    plugins: [besideModules],
    transform,
    output: { dir: folder, format: 'esm', entryFileNames: '[name].js', ...modules },
  });
  await build({
    ...common,
    input: { api: join(TYPES, LIBRARY.replace('/src/', '/').replace(/\.ts$/, '.d.ts')) },
    // Nothing is generated: the inputs are declarations already.
    plugins: [declarations, dts({ dtsOnly: true, generator: 'oxc' })],
    output: { dir: join(folder, dirname(LIBRARY)), format: 'esm' },
  });
}

/** Turns the files of other packages, which a module asks Node for, into paths beside it. */
const besideModules: Plugin = {
  name: 'beside-modules',
  async transform(code, id) {
    let rewritten = code;
    for (const [call, name = ''] of code.matchAll(/import\.meta\.resolve\('(@bench\/[^']+)'\)/g)) {
      const file = (await this.resolve(name, id))?.id.replace(/\.ts$/, '.js');
      if (file === undefined) throw new Error(`${id}: ${name} is not found`);
      rewritten = rewritten.replace(call, `import.meta.resolve('${relative(dirname(id), file)}')`);
    }
    return rewritten === code ? null : rewritten;
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
