/** The interpreter for a user's Python project that pins none. */
import { HOME } from 'bench-machine/home';
import { BenchError } from 'bench-model/errors';
import type { Lock } from 'bench-model/stack';
import { admittedBy } from '../../catalogue/projects/pinned.ts';
import { findRuntime, type FoundRuntime } from '../runtimes.ts';
import { provideUv } from '../uv.ts';
import { packagesWithoutWheel } from './python.ts';

/** Returns a Python of this machine; undefined if it has none of this version. */
export async function findHere(version: string): Promise<FoundRuntime | undefined> {
  const spec = { kind: 'python', spec: version } as const;
  return findRuntime(spec, { mayInstall: false }).catch((error: unknown) => {
    if (error instanceof BenchError) return undefined;
    throw error;
  });
}

/**
 * Returns the newest Python on this machine that a project admits and for which no package of its lock must be built that
 * another Python has as a wheel, such as `3.12`, and the packages for which newer ones have none. Undefined if none is here.
 */
export async function findVersion(
  root: string,
  lock: Lock | undefined,
): Promise<{ version: string; without: string[] } | undefined> {
  const uv = await provideUv(HOME.cache);
  const found: { version: string; missing: string[] }[] = [];
  for (const version of admittedBy(root, 'python')) {
    const runtime = await findHere(version);
    if (runtime === undefined) continue;
    const [python = ''] = runtime.argv;
    const spec = { target: root, root, python, version: runtime.runtime.version, uv };
    const missing = lock === undefined ? [] : await packagesWithoutWheel({ ...spec, lock });
    if (missing !== undefined) found.push({ version, missing });
  }
  // A package without any wheel is built on each.
  const isAlways = (name: string): boolean => found.every(({ missing }) => missing.includes(name));
  const at = found.findIndex(({ missing }) => missing.every(isAlways));
  if (at < 0) return undefined;
  const newer = new Set(found.slice(0, at).flatMap(({ missing }) => missing));
  return { version: found[at]!.version, without: [...newer].filter((name) => !isAlways(name)) };
}
