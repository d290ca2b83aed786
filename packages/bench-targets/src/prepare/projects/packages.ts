/** The packages of environments: a comparison of interpreters must not be one of packages. */
import { basename, relative } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import { BenchError, ToolchainError } from 'bench-model/errors';
import type { Lock } from 'bench-model/stack';
import type { Target } from 'bench-model/target';
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

/** The list of the dependencies of a project, and what was installed from it. */
interface Installed {
  /** The folder of the project. */
  root: string;
  lock: Lock;
  /** The day on which it was installed. */
  day: string;
  /** The number of packages whose versions the list does not fix; undefined if it fixes all, or none. */
  open?: { count: number; of: number } | undefined;
}

/** Describes the list from which packages were installed: a lock, or that their versions were chosen, and when. */
export function describeLock({ root, lock, day, open }: Installed): string {
  const name = relative(root, lock.file);
  if (['pyproject.toml', 'package.json', 'Pipfile'].includes(basename(name)))
    return `no lock: packages of ${name}, versions chosen on ${day}`;
  if (open === undefined || open.count === 0) return `packages of ${name}`;
  return `packages of ${name} (${open.count} of ${open.of} versions are not pinned: chosen on ${day})`;
}

/** Environments below Python 3.12 have it unasked. */
const GIVEN = 'setuptools';
/** The difference between an environment without it and one with it. */
const ADDED = new RegExp(`^${GIVEN} \\S+$`);

/** Counts the packages that no list of requirements pins, without those that others than the list asked for. */
export function countOpen(
  { packages, changed }: { packages: readonly string[]; changed: readonly string[] },
  lists: readonly string[],
): { count: number; of: number } {
  const pin = /^\s*([\w.-]+)\s*(?:\[[^\]]*\]\s*)?===?\s*([^\s;#\\,]+)/gm;
  const pinned = new Set(
    lists.flatMap((file) =>
      [...(readTextFile(file) ?? '').matchAll(pin)].map(
        ([, name = '', version = '']) => `${normalise(name)}==${version}`,
      ),
    ),
  );
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
  const made = prepared.filter(({ packages }) => packages !== undefined);
  const byStack = Map.groupBy(made, ({ target }) => target.stack);
  return [...byStack.values()].flatMap(([first, ...others]) =>
    others.flatMap((other) => {
      const named = [first, other].flatMap((one) => one?.target.packages ?? []).flatMap(parsePackage);
      const found = differences(packagesIn(first), packagesIn(other)).filter(
        (line) => !named.some(({ name }) => line.startsWith(`${name} `)) && !ADDED.test(line),
      );
      if (found.length === 0) return [];
      return [`${other.target.id} differs from ${first?.target.id} in its packages too: ${found.join(', ')}`];
    }),
  );
}

function packagesIn(one: Equipped | undefined): string[] {
  return one?.packages ?? [];
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
