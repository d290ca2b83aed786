/** The packages of environments: a comparison of interpreters must not be one of packages. */
import { parsePackage } from '../../catalogue/packages.ts';
import type { Target } from 'bench-model/target';

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
        (line) => !named.some(({ name }) => line.startsWith(`${name} `)),
      );
      if (found.length === 0) return [];
      return [`${other.target.id} differs from ${first?.target.id} in its packages too: ${found.join(', ')}`];
    }),
  );
}

function packagesIn(one: Equipped | undefined): string[] {
  return one?.packages ?? [];
}
