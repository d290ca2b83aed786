/** The packages of environments: a comparison of interpreters must not be one of packages. */
import { parsePackage } from '../../catalogue/packages.ts';
import type { Launchable } from '../prepare.ts';

/** Describes the versions that one list of `name==version` has and the other has not. */
export function differences(before: readonly string[], after: readonly string[]): string[] {
  const versions = new Map(before.map((line) => line.split('==') as [string, string]));
  return after.flatMap((line) => {
    const [name = '', version = ''] = line.split('==');
    const old = versions.get(name);
    if (old === version) return [];
    return [`${name} ${version}${old === undefined ? '' : ` instead of ${old}`}`];
  });
}

/** Describes the targets of one project whose packages differ from those of its first target, apart from `--with`. */
export function describeOtherPackages(prepared: readonly Launchable[]): string[] {
  const made = prepared.filter((one) => 'packages' in one && one.packages !== undefined);
  const byStack = Map.groupBy(made, ({ target }) => target.stack);
  return [...byStack.values()].flatMap(([first, ...others]) =>
    others.flatMap((other) => {
      const named = [first, other].flatMap((one) => one?.target.packages ?? []).flatMap(parsePackage);
      const found = differences(packagesIn(first), packagesIn(other)).filter(
        (line) => !named.some(({ name }) => line.startsWith(`${name} `)),
      );
      if (found.length === 0) return [];
      return [`${other.target.id} differs from ${first?.target.id} in its packages too: ${found.join(', ')}`];
    }),
  );
}

function packagesIn(one: Launchable | undefined): string[] {
  return one !== undefined && 'packages' in one ? (one.packages ?? []) : [];
}
