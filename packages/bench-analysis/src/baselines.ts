/** The baseline of each target of a run. */
import { compareVersions } from 'bench-targets/catalogue/releases';
import { suggest } from 'bench-model/suggest';
import { UsageError } from 'bench-model/errors';
import type { Plan } from 'bench-model/plan';
import { isDisturbed, nameOfRuntime } from 'bench-model/planned';
import type { Target } from 'bench-model/target';

/** The baseline that compares each target that has a background request with itself without one. */
export const UNDISTURBED = 'undisturbed';

/** The name of the baseline that compares each scaled target with itself of one worker. */
export const ONE_WORKER = 'one worker';

/**
 * The baseline of an upgrade: of a runtime without its GIL or with its JIT, the same version as it is; of any other version, the
 * oldest one; of packages, those of the lock.
 */
export const UPGRADE = 'upgrade';

/** A target, and its baseline. */
export type Pairing = [candidate: string, baseline: string];

/**
 * Pairs the targets of a plan with their baselines, by default those of the plan, and returns the name of the baseline. Throws a usage
 * error if no target has this one.
 */
export function pairTargets(
  plan: Pick<Plan, 'upgrade'>,
  targets: readonly Target[],
  baseline = defaultBaseline(plan, targets),
): { from: string; pairings: Pairing[] } {
  return { from: baseline, pairings: chooseBaselines(targets, baseline) };
}

/** Returns the baselines of a plan, each once. */
export function baselinesOf(plan: Plan): string[] {
  return [...new Set(pairTargets(plan, plan.targets).pairings.map(([, baseline]) => baseline))];
}

/**
 * Chooses the default baseline: one worker if targets are scaled; of an upgrade, what it replaces; `undisturbed` if targets have a
 * background request; the first copy of the project if several targets run in each of several copies; the first runtime if stacks run
 * on several; otherwise the first target.
 */
function defaultBaseline({ upgrade }: Pick<Plan, 'upgrade'>, targets: readonly Target[]): string {
  if (targets.some(({ id, scale }) => scale !== undefined && scale.of !== id)) return ONE_WORKER;
  if (upgrade) return UPGRADE;
  if (targets.some(isDisturbed)) return UNDISTURBED;
  const [first] = targets;
  const copies = new Set(targets.map(({ copy }) => copy?.name));
  if (copies.size > 1) return targets.length > copies.size ? (first?.copy?.name ?? '') : (first?.id ?? '');
  const others = targets.filter(({ stack, variant }) => stack === first?.stack && variant === first.variant);
  const runtimes = new Set(others.map(({ runtime }) => runtime && nameOfRuntime(runtime)));
  return runtimes.size > 1 && first?.runtime !== undefined
    ? `@${nameOfRuntime(first.runtime)}`
    : (first?.id ?? '');
}

/**
 * Pairs each target with its baseline: the target of that id, the same stack and variant on the runtime `@3.11` or in the named
 * copy, or itself undisturbed or with one worker. Targets without a baseline are omitted. Throws a usage error if no target matches.
 */
export function chooseBaselines(targets: readonly Target[], baseline: string): Pairing[] {
  const named = NAMED.get(baseline);
  const found = named === undefined ? [] : pairEach(targets, (target) => named(target, targets));
  if (found.length > 0 || baseline === UPGRADE) return found;
  const form = FORMS.find((one) => targets.some((target) => namesOf(target)[one] === baseline));
  if (form === undefined) {
    const all = targets.flatMap((target) => Object.values(namesOf(target)));
    const names = [...new Set(all.filter((name) => name !== undefined))];
    throw new UsageError(
      `the run has no target "${baseline}"`,
      suggest(baseline, names) ?? `name one of ${names.join(', ')}`,
    );
  }
  const chosen = targets.filter((target) => namesOf(target)[form] === baseline);
  return pairEach(
    targets,
    (target) => chosen.find((one) => form === 'target' || isSameBut(form, one, target))?.id,
  );
}

function pairEach(targets: readonly Target[], baselineOf: (target: Target) => string | undefined): Pairing[] {
  const pairs = targets.map((target) => [target.id, baselineOf(target)] as const);
  return pairs.flatMap(([id, own]) => (own === undefined || own === id ? [] : [[id, own]]));
}

/**
 * The baselines with a name of their own. The one of an upgrade has the packages of the lock, no switch on the same line of its
 * runtime, or the oldest version with the same switches, or without any.
 */
const NAMED = new Map<string, (target: Target, targets: readonly Target[]) => string | undefined>([
  [ONE_WORKER, ({ scale }) => scale?.of],
  [UNDISTURBED, (target) => (isDisturbed(target) ? target.repeats?.targetId : undefined)],
  [
    UPGRADE,
    (target, targets) =>
      (lockedOf(target, targets) ?? plainOf(target, targets) ?? oldestOf(target, targets))?.id,
  ],
]);

/** The forms of a baseline: a copy of the project, a runtime, or one target. */
const FORMS = ['copy', 'runtime', 'target'] as const;

/** Returns the names that choose a target as a baseline, by their form. */
function namesOf({ id, runtime, copy }: Target) {
  return { target: id, copy: copy?.name, runtime: runtime && `@${nameOfRuntime(runtime)}` };
}

function lockedOf(target: Target, targets: readonly Target[]): Target | undefined {
  if (target.packages === undefined) return undefined;
  return targets.find((other) => other.packages === undefined && isSameBut('packages', other, target));
}

/** Returns the same target on the same line of Python with its GIL and without its JIT; undefined if it is that itself. */
export function plainOf(target: Target, targets: readonly Target[]): Target | undefined {
  const { line, switches } = readVersion(target) ?? {};
  if (line === undefined || switches === '') return undefined;
  return versionsOf(target, targets).find((other) => other.line === line && other.switches === '')?.target;
}

function oldestOf(target: Target, targets: readonly Target[]): Target | undefined {
  const own = readVersion(target);
  if (own === undefined) return undefined;
  const older = versionsOf(target, targets)
    .filter(({ version }) => compareVersions(version, own.version) < 0)
    .toSorted((a, b) => compareVersions(a.version, b.version));
  return (
    older.find(({ switches }) => switches === own.switches) ?? older.find(({ switches }) => switches === '')
  )?.target;
}

/** A target on a version of a runtime, as its name tells. */
interface OnVersion {
  target: Target;
  /** `3.15.2`, its line `3.15`, and the switches of its build: `t`, `+jit`. */
  version: string;
  line: string;
  switches: string;
  /** The variables that its name sets, as in `{PYTHON_GIL=0}`. */
  variables: string;
}

/** Reads the name of a runtime: `26`, `3.15`, `3.15.2t` or `3.15.2+jit`. Undefined for one without a version, such as a path. */
function readVersion(target: Target): OnVersion | undefined {
  const { runtime } = target;
  const [, version, switches = '', variables = ''] =
    /^(\d+(?:\.\d+)*)(t?(?:\+jit)?)(\{.*\})?$/.exec(runtime ? nameOfRuntime(runtime) : '') ?? [];
  if (version === undefined) return undefined;
  return { target, version, line: version.split('.', 2).join('.'), switches, variables };
}

/** Lists the same target on other versions of its runtime. */
function versionsOf(target: Target, targets: readonly Target[]): OnVersion[] {
  const variables = readVersion(target)?.variables;
  return targets
    .filter((other) => isSameBut('runtime', other, target))
    .flatMap((other) => readVersion(other) ?? [])
    .filter((other) => other.variables === variables);
}

function isSameBut(factor: 'copy' | 'runtime' | 'packages', a: Target, b: Target): boolean {
  return (
    (factor === 'copy' || a.copy?.name === b.copy?.name) &&
    (factor === 'runtime' || a.runtime?.spec === b.runtime?.spec) &&
    (factor === 'packages' || String(a.packages) === String(b.packages)) &&
    a.stack === b.stack &&
    a.variant === b.variant &&
    isDisturbed(a) === isDisturbed(b)
  );
}
