import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the programs that modules of the package start by `programBeside`, relative to the folder of the packages. */
export function findPrograms(packages: string): string[] {
  const started = globSync('bench*/src/**/*.ts', { cwd: packages }).flatMap((file) => {
    const text = readFileSync(join(packages, file), 'utf8');
    const calls = text.matchAll(/programBeside\(import\.meta\.url, '([^']+)'\)/g);
    return [...calls].map(([, name = '']) => join(dirname(file), `${name}.ts`));
  });
  return [...new Set(started)];
}
