/** The changes between the runs of a chart. Pure: the page finds them for the runs and targets that it shows. */

/** A version of a run: of the harness, the load driver, the kernel or a target. */
export interface Version {
  name: string;
  value: string;
  /** The target that it belongs to; absent for what all targets share. */
  target?: string;
}

/** The versions of one run. */
export interface Environment {
  run: string;
  versions: Version[];
}

/** The versions of a run that differ from those of the last earlier run that has them. */
export interface Change {
  run: string;
  /** One for each version: `kernel 6.17 → 6.18`. */
  texts: string[];
}

/** Finds the changes between runs in the order of time, of these targets and of what all targets share. */
export function findChanges(environments: readonly Environment[], targets: ReadonlySet<string>): Change[] {
  const last = new Map<string, string>();
  return environments.flatMap(({ run, versions }) => {
    const texts = versions.flatMap(({ name, value, target }) => {
      if (target !== undefined && !targets.has(target)) return [];
      const before = last.get(name);
      last.set(name, value);
      return before === undefined || before === value ? [] : [`${name} ${before} → ${value}`];
    });
    return texts.length === 0 ? [] : [{ run, texts }];
  });
}
