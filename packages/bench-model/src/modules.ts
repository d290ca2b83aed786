import { createRequire } from 'node:module';

/**
 * Requires a module of a package without others that it loads, and that are not used here: they would take longer than what
 * is used. While it is loaded, these objects stand in for them.
 */
export function requireWithout(require: NodeJS.Require, name: string, standIns: Record<string, object>) {
  const { resolve } = createRequire(require.resolve(name));
  const paths = Object.keys(standIns).map((other) => [other, resolve(other)] as const);
  const added = paths.filter(([, path]) => require.cache[path] === undefined);
  for (const [other, path] of added)
    require.cache[path] = { exports: standIns[other], loaded: true } as NodeJS.Module;
  const loaded: unknown = require(name);
  for (const [, path] of added) delete require.cache[path];
  return loaded;
}
