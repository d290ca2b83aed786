/** Upgrades of runtimes in a run, with the builds of both interpreters. */
import type { StoredRun } from './results/store.ts';
import { findUnlikeBuilds } from './builds.ts';
import { compareWithin, UPGRADE, type ComparedRow, type Question } from './compare.ts';
import type { Trial } from 'bench-model/record';
import { parseRuntime } from 'bench-targets/catalogue/runtimes';

/** A stack on a runtime, compared with itself on another one, in one run. */
export interface Upgrade extends ComparedRow {
  /** The stack with its variant, as in `fastapi/def`. */
  stack: string;
  /** The runtimes by their full versions: `3.14.10`, `3.14.10+jit`. */
  from: string;
  to: string;
  /** Whether the builds of the two interpreters are alike. If not, the difference is not that of the version alone. */
  builds: 'alike' | 'unlike' | 'unknown';
}

/** Compares the targets of a run with what they are upgrades of, as `upgrade` does, and returns those on another runtime. */
export function compareUpgrades(
  run: Pick<StoredRun, 'plan' | 'trials'>,
  question: Omit<Question, 'baseline'>,
): Upgrade[] {
  const measured = new Map(run.trials.map((trial) => [trial.target.id, trial]));
  return compareWithin(run, { ...question, baseline: UPGRADE }).rows.flatMap((row) => {
    const [to, from] = [row.candidate, row.baseline].map((id) => measured.get(id));
    if (to?.runtime === undefined || from?.runtime === undefined) return [];
    const { packages, repeats, scale } = to.target;
    if (repeats !== undefined || scale !== undefined) return [];
    // Packages are upgrades too, but not of a runtime.
    if (String(packages) !== String(from.target.packages)) return [];
    const names = { from: nameRuntime(from.runtime), to: nameRuntime(to.runtime) };
    const stack = to.target.id.replace(/@[^[{]*/, '');
    return [{ ...row, stack, ...names, builds: compareBuilds(to, from) }];
  });
}

function compareBuilds(...both: Trial[]): Upgrade['builds'] {
  const known = both.flatMap(({ target: { id: name }, interpreter }) =>
    interpreter === undefined ? [] : [{ name, interpreter }],
  );
  if (findUnlikeBuilds(known).length > 0) return 'unlike';
  // Not every CPython tells who built it.
  const isTold = known.every(
    ({ interpreter: { implementation, maker } }) => implementation !== 'CPython' || maker !== undefined,
  );
  return isTold && known.length === both.length ? 'alike' : 'unknown';
}

function nameRuntime(runtime: NonNullable<Trial['runtime']>): string {
  const isFree = runtime.build['freethreaded'] === 'true';
  return `${runtime.version}${isFree ? 't' : ''}${parseRuntime(runtime).jit ? '+jit' : ''}`;
}
