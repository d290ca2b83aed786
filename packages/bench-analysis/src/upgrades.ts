/** Upgrades of runtimes: each stack on one version, compared with itself on the version before. */
import type { RuntimeKind, Target } from 'bench-model/target';
import type { Trial } from 'bench-model/record';
import { placesOf } from 'bench-model/planned';
import { compareVersions } from 'bench-targets/catalogue/releases';
import { parseRuntime } from 'bench-targets/catalogue/runtimes';
import type { StoredRun } from './results/store.ts';
import { findUnlikeBuilds } from './builds.ts';
import { contestRun, type ComparedRow, type Question } from './compare.ts';
import { contestedOf, type Contestants } from './contest.ts';

/** A stack on a runtime, compared with itself on the version before, in one run. */
export interface Upgrade extends Omit<ComparedRow, 'rank'> {
  /** The stack with its variant, as in `fastapi/def`. */
  stack: string;
  /** The runtimes by their full versions: `3.14.10`, `3.14.10+jit`. */
  from: string;
  to: string;
  /** Whether the builds of the two interpreters are alike. If not, the difference is not that of the version alone. */
  builds: 'alike' | 'unlike' | 'unknown';
}

/** A measured target on a known version of a runtime. */
interface OnRuntime {
  id: string;
  stack: string;
  /** The properties in which it must equal a target of another version. */
  alike: string;
  version: string;
  /** Switches of the interpreter that are not its defaults: `t`, `+jit`. */
  switches: string[];
  interpreter: Trial['interpreter'];
}

/**
 * Compares each target of a run with itself on the version before: the next lower one with the same switches. A target with
 * switches that its build allows, such as the JIT, is compared with the same version without them if the run has it.
 */
export function compareUpgrades(run: Pick<StoredRun, 'plan' | 'trials'>, question: Question): Upgrade[] {
  const targets = readTargets(run);
  const steps = targets.flatMap((target) => {
    const before = findBefore(target, targets);
    return before === undefined ? [] : [[target, before] as const];
  });
  if (steps.length === 0) return [];
  const pairs = placesOf(run.plan).flatMap((place) =>
    steps.map(([to, from]) => ({ to, from, pair: { ...place, candidate: to.id, baseline: from.id } })),
  );
  const contested = contestRun(
    run,
    question,
    pairs.map(({ pair }): Contestants => pair),
  );
  return pairs.flatMap(({ to, from, pair }) => {
    const found = contestedOf(contested, pair);
    if (found === undefined) return [];
    const { stack } = to;
    const names = { from: nameOf(from), to: nameOf(to) };
    return [{ ...pair, comparison: found.comparison, stack, ...names, builds: compareBuilds(to, from) }];
  });
}

function compareBuilds(...both: OnRuntime[]): Upgrade['builds'] {
  const known = both.flatMap(({ id: name, interpreter }) =>
    interpreter === undefined ? [] : [{ name, interpreter }],
  );
  if (findUnlikeBuilds(known).length > 0) return 'unlike';
  // Records of earlier versions do not tell who built a CPython.
  const isTold = known.every(
    ({ interpreter: { implementation, maker } }) => implementation !== 'CPython' || maker !== undefined,
  );
  return isTold && known.length === both.length ? 'alike' : 'unknown';
}

function nameOf({ version, switches }: OnRuntime): string {
  return version + switches.join('');
}

function readTargets({ plan, trials }: Pick<StoredRun, 'plan' | 'trials'>): OnRuntime[] {
  const measured = new Map(trials.map((trial) => [trial.target.id, trial]));
  return plan.targets.flatMap((target): OnRuntime[] => {
    const { runtime, interpreter } = measured.get(target.id) ?? {};
    if (runtime === undefined || target.repeats !== undefined || target.scale !== undefined) return [];
    const { base, jit, env } = parseRuntime(runtime);
    const isFree = runtime.build['freethreaded'] === 'true' || /^[\d.]+t$/.test(base);
    const stack = nameOfStack(target);
    const implementation = interpreter?.implementation ?? implementationOf(runtime.kind, base);
    return [
      {
        id: target.id,
        stack,
        alike: JSON.stringify([stack, target.copy, implementation, env]),
        version: runtime.version,
        switches: [...(isFree ? ['t'] : []), ...(jit ? ['+jit'] : [])],
        interpreter,
      },
    ];
  });
}

function implementationOf(kind: RuntimeKind, base: string): string {
  return /^(bun|deno)$/.test(base) ? base : kind;
}

function nameOfStack({ id, runtime }: Target): string {
  return runtime === undefined ? id : id.replace(/@[^[{]*/, '');
}

function findBefore(target: OnRuntime, targets: readonly OnRuntime[]): OnRuntime | undefined {
  const others = targets.filter(({ id, alike }) => alike === target.alike && id !== target.id);
  const plain = others.find(
    ({ version, switches }) =>
      version === target.version && switches.length === 0 && target.switches.length > 0,
  );
  const lower = others
    .filter(
      ({ version, switches }) =>
        String(switches) === String(target.switches) && compareVersions(version, target.version) < 0,
    )
    .toSorted((a, b) => compareVersions(b.version, a.version));
  return plain ?? lower[0];
}
