/** The imports of source files, as their text shows them. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';

/** One import of a file. */
export interface Import {
  from: string;
  /** The file, or the module of a library. */
  to: string;
  /** As it is written. */
  path: string;
  /** Written as a path, so it must be a file of this package. */
  relative: boolean;
  /** Only types, which are erased at run time. */
  erased: boolean;
  /** Loaded when the code that needs it runs. */
  deferred: boolean;
}

/** Returns the imports of a file, with paths relative to `root`. */
export function importsOf(root: string, from: string): Import[] {
  const text = readFileSync(resolve(root, from), 'utf8');
  const statements = [
    ...text.matchAll(/^\s*(?:import|export)\s(?<clause>[^'";]*?)from\s*'(?<path>[^']+)'/gm),
    ...text.matchAll(/^\s*import\s*(?<clause>)'(?<path>[^']+)'/gm),
    ...text.matchAll(/\b(?:import|require)(?<clause>)\(\s*['"`](?<path>[^'"`]+)['"`]\s*\)/g),
  ];
  return statements.map(({ 0: statement, groups }) => {
    const { clause = '', path = '' } = groups ?? {};
    const relative = path.startsWith('.');
    return {
      from,
      to: relative ? normalize(join(dirname(from), path)) : fileOf(path),
      path,
      relative,
      erased: isErased(clause),
      deferred: statement.startsWith('import('),
    };
  });
}

/** Returns the file of a module of our packages, as seen from the root of the repository. */
function fileOf(path: string): string {
  const [name = '', ...rest] = path.split('/');
  if (rest.length === 0 || !/^bench-[a-z]+$/.test(name)) return path;
  return `packages/${name === 'bench-http' ? 'bench' : name}/src/${rest.join('/')}.ts`;
}

/** Checks if a clause such as `type { A } ` or `{ type A, type B } ` imports only types. */
function isErased(clause: string): boolean {
  if (/^type\s/.test(clause)) return true;
  const [, names = ''] = /^\{([^}]*)\}\s*$/.exec(clause) ?? [];
  const named = names.split(',').filter((name) => name.trim() !== '');
  return named.length > 0 && named.every((name) => /^\s*type\s/.test(name));
}

/**
 * Returns a file and all that it imports by path, also later and through others, relative to `root`. `read` keeps the
 * imports of the files that were read.
 */
export function reachedFrom(root: string, file: string, read: Map<string, Import[]>): string[] {
  const reached = new Set([file]);
  // The loop also visits the files that it adds to the set.
  for (const from of reached) {
    const found = read.get(from) ?? importsOf(root, from);
    read.set(from, found);
    for (const { to, erased } of found) if (!erased && existsSync(join(root, to))) reached.add(to);
  }
  return [...reached];
}
