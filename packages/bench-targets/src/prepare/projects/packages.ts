/** The packages of environments: a comparison of interpreters must not be one of packages. */
import { basename, relative } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import { BenchError, ToolchainError } from 'bench-model/errors';
import type { Lock } from 'bench-model/stack';
import type { Target } from 'bench-model/target';
import { PNPM_WORKSPACE } from '../../catalogue/projects/manifests.ts';
import { parsePackage, type NamedPackage } from '../../catalogue/packages.ts';
import { filesOfProject } from './tree.ts';

/** Normalises a name: PyPI treats different spellings as equal (PEP 503). */
export function normalise(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

/**
 * Describes the versions that one list of `name==version` has and the other has not. Names are alike as for an index. Of two versions before, the
 * last one counts.
 */
export function differences(before: readonly string[], after: readonly string[]): string[] {
  const versions = new Map(
    before.map((line) => {
      const [name = '', version = ''] = line.split('==');
      return [normalise(name), version];
    }),
  );
  return after.flatMap((line) => {
    const [name = '', version = ''] = line.split('==');
    const old = versions.get(normalise(name));
    if (old === version) return [];
    return [`${name} ${version}${old === undefined ? '' : ` instead of ${old}`}`];
  });
}

/**
 * Describes the list from which the packages of a project were installed on a day: a lock, or that their versions were chosen.
 * `open` is the number of those whose versions it does not fix.
 */
export function describeLock(root: string, { file }: Lock, day: string, open = { count: 0, of: 0 }): string {
  const name = relative(root, file);
  if (['pyproject.toml', 'package.json', PNPM_WORKSPACE, 'Pipfile'].includes(basename(name)))
    return `no lock: packages of ${name}, versions chosen on ${day}`;
  if (open.count === 0) return `packages of ${name}`;
  return `packages of ${name} (${open.count} of ${open.of} versions are not pinned: chosen on ${day})`;
}

/** Environments below Python 3.12 have it unasked. */
const GIVEN = 'setuptools';
/** The difference between an environment without it and one with it. */
const ADDED = new RegExp(`^${GIVEN} \\S+$`);

/** Returns the versions that a list of requirements pins, by the normalised names of their packages. */
export function pinnedIn(file: string): [name: string, version: string][] {
  const pins = (readTextFile(file) ?? '').matchAll(
    /^\s*([\w.-]+)\s*(?:\[[^\]]*\]\s*)?===?\s*([^\s;#\\,]+)/gm,
  );
  return [...pins].map(([, name = '', version = '']) => [normalise(name), version]);
}

/** Counts the packages that no list of requirements pins, without those that others than the list asked for. */
export function countOpen(
  { packages, changed }: { packages: readonly string[]; changed: readonly string[] },
  lists: readonly string[],
): { count: number; of: number } {
  const pinned = new Set(lists.flatMap(pinnedIn).map((pin) => pin.join('==')));
  const listed = packages
    .map((line) => line.split('=='))
    .filter(([name]) => !changed.some((one) => one.startsWith(`${name} `)) && name !== GIVEN);
  const open = listed.filter(([name = '', version = '']) => !pinned.has(`${normalise(name)}==${version}`));
  return { count: open.length, of: listed.length };
}

/** A target, with the packages of its environment if it belongs to a project of a user. */
interface Equipped {
  target: Target;
  packages?: string[];
}

/** Describes the targets of one project whose packages differ from those of its first target, apart from `--with`. */
export function describeOtherPackages(prepared: readonly Equipped[]): string[] {
  const made = prepared.flatMap(({ target, packages }) =>
    packages === undefined ? [] : { target, packages },
  );
  const byStack = Map.groupBy(made, ({ target }) => target.stack);
  return [...byStack.values()].flatMap((group) => {
    const { target: first, packages: before } = group[0]!;
    return group.slice(1).flatMap(({ target, packages }) => {
      const named = [first, target].flatMap((one) => one.packages ?? []).flatMap(parsePackage);
      const found = differences(before, packages).filter(
        (line) => !named.some(({ name }) => line.startsWith(`${name} `)) && !ADDED.test(line),
      );
      if (found.length === 0) return [];
      return [`${target.id} differs from ${first.id} in its packages too: ${found.join(', ')}`];
    });
  });
}

/** Returns the files of the packages that are folders. */
export function filesOfCheckouts(packages: readonly NamedPackage[]): string[] {
  return packages.flatMap(({ folder }) => (folder === undefined ? [] : filesOfProject(folder)));
}

/** The error for packages that no list of dependencies can hold. */
export function cannotAdd(packages: readonly string[], missing: string): BenchError {
  return new ToolchainError(
    `the project lists no dependencies, so ${packages.join(', ')} cannot be added to them`,
    `add ${missing}, or omit --with`,
  );
}
