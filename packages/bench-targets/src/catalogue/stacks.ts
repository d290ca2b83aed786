import { present, type Matrix } from 'bench-model/options';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from 'bench-model/errors';
import { toStack } from './projects/app.ts';
import type { App } from 'bench-model/app';
import { HOME, commandLine } from 'bench-machine/home';
import { suggest } from 'bench-model/suggest';
import type { Stack, Variant } from 'bench-model/stack';
import { nameOfRuntime } from 'bench-model/planned';
import type { RuntimeSpec, Target } from 'bench-model/target';
import { readManifest } from './manifest.ts';
import { parsePackage, refuseStray } from './packages.ts';
import { parseRuntime, readRuntime, usualRuntime } from './runtimes.ts';

/** The folder of the repository, or of the user's project. */
export const ROOT = HOME.root;

/** The default targets of `pnpm bench`. */
export const FIRST_FIVE = ['vanilla', 'fastify', 'fastapi', 'litestar', 'uvicorn'];

/**
 * Returns every stack of the repository, or that of the user's project, those of the given manifests and the apps, by name.
 * An app replaces the manifest of its name in its folder. Throws a usage error for a manifest that violates the contract, and for a name that is taken.
 */
export function readStacks(own: string[] = [], apps: App[] = []): Stack[] {
  const stacks: Stack[] = [];
  const given = apps.map(toStack);
  const read = [...readAtHome(), ...own.map((file) => readManifest(file))];
  const others = read.filter((one) => !given.some((app) => app.name === one.name && app.root === one.root));
  for (const stack of [...others, ...given]) {
    const taken = stacks.find(({ name }) => name === stack.name);
    if (taken === undefined) stacks.push(stack);
    else if (taken.root !== stack.root || taken.manifest !== stack.manifest)
      throw new UsageError(
        `${stack.manifest}: the name "${stack.name}" is taken by ${taken.manifest}`,
        'choose another "name"',
      );
  }
  return stacks.toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The stacks of the repository by manifest: a command asks for them several times. */
const builtIn = new Map<string, Stack>();

function readAtHome(): Stack[] {
  if (HOME.kind !== 'repository')
    return [join(ROOT, 'stack.json')].filter((file) => existsSync(file)).map((file) => readManifest(file));
  const found = globSync('{packages,python}/*/stack.json', { cwd: ROOT }).toSorted();
  return found.map((path) => {
    const file = join(ROOT, path);
    const stack = builtIn.get(file) ?? readManifest(file);
    builtIn.set(file, stack);
    return stack;
  });
}

/** The stacks of the repository: outside of it, their names are known, but they are not there. */
const BUILT_IN =
  'actix aiohttp express fastapi fastapi-sqlalchemy fastapi-sqlalchemy-2021 fastify fiber flask gin hono kestrel litestar rocket sanic starlette uvicorn vanilla';

/** Says where a built-in stack is if this word names one. */
export function locateBuiltIn(word: string): string | undefined {
  const [name = ''] = word.split(/[/@]/);
  return BUILT_IN.split(' ').includes(name)
    ? `${name} is a built-in stack: compare it in a clone of Bench`
    : undefined;
}

const PATTERN = /^(?<stack>[^/@]+)(?:\/(?<variant>[^@]+))?(?:@(?<runtime>.+))?$/;

/**
 * Expands patterns such as `fastify`, `fastapi/*` or `fastapi@3.12` to targets, in the given order and without
 * duplicates. Throws a usage error for an unknown name, with the nearest ones, and for a target named in full that
 * does not offer the workload. Without a workload, every variant fits.
 */
export function expandTargets(patterns: string[], stacks: Stack[], workload: string | undefined): Target[] {
  const targets = new Map<string, Target>();
  for (const pattern of patterns) {
    for (const target of expand(pattern, stacks, workload)) targets.set(target.id, target);
  }
  return [...targets.values()];
}

function expand(pattern: string, stacks: Stack[], workload: string | undefined): Target[] {
  const { stack: name = '', variant, runtime } = PATTERN.exec(pattern)?.groups ?? {};
  const known = stacks.filter((stack) => matches(name, stack.name));
  if (stacks.length === 0)
    throw new UsageError(
      'no server is named, and this folder has no stack.json',
      `${commandLine('init')} writes one; or name a server: --run 'uvicorn app:app --port {port}', or http://127.0.0.1:3000/orders`,
    );
  if (known.length === 0)
    throw new UsageError(`unknown stack "${name || pattern}"`, suggestTargets(pattern, stacks));
  const isGlob = pattern.includes('*');
  const targets = known.flatMap((stack) => {
    const names =
      variant === undefined
        ? [stack.default]
        : Object.keys(stack.variants).filter((one) => matches(variant, one));
    if (names.length === 0 && !name.includes('*'))
      throw new UsageError(`${stack.name} has no variant "${variant}"`, suggestTargets(pattern, stacks));
    if (runtime !== undefined && stack.runtime === 'none') {
      if (isGlob) return [];
      throw new UsageError(`${stack.name} is a binary and has no runtime`, `omit @${runtime}`);
    }
    return names.flatMap((one) => {
      const found = stack.variants[one] as Variant;
      if (workload === undefined || found.workloads.includes(workload))
        return [toTarget(stack, one, found, runtime)];
      if (isGlob) return [];
      if (found.workloads.length === 0)
        throw new UsageError(`${pattern} has no request to send`, "e.g. --get '/orders?limit=20'");
      const offers = `${stack.name}/${one} offers ${found.workloads.join(', ')}`;
      throw new UsageError(`${pattern} does not offer the workload "${workload}"`, offers);
    });
  });
  if (targets.length > 0) return targets;
  const message = `no target of "${pattern}" offers the workload "${workload}"`;
  throw new UsageError(message, `${commandLine('list')} lists the workloads of each target`);
}

/** Returns true if the number of threads of a target can be chosen. */
export function takesThreads({ stack: name, variant }: Target, stacks: readonly Stack[]): boolean {
  const { command = [] } = stacks.find((stack) => stack.name === name)?.variants[variant] ?? {};
  return command.some((word) => word.includes('{threads}'));
}

/** Throws a usage error if a target does not support `--threads`. The hint names those that do. */
export function refuseThreads(targets: Target[], stacks: Stack[], workload: string): void {
  const other = targets.find((target) => !takesThreads(target, stacks));
  if (other === undefined) return;
  const takers = stacks
    .flatMap((stack) =>
      targetsOf(stack).filter((one) => stack.variants[one.variant]?.workloads.includes(workload)),
    )
    .filter((target) => takesThreads(target, stacks));
  throw new UsageError(
    `${other.id} does not support --threads`,
    takers.length === 0
      ? `omit it: no target of ${workload} does`
      : `targets of ${workload} that do: ${takers.map(({ id }) => id).join(', ')}`,
  );
}

/** Returns every variant of a stack as a target on its default runtime. */
export function targetsOf(stack: Stack): Target[] {
  return Object.entries(stack.variants).map(([name, variant]) => toTarget(stack, name, variant, undefined));
}

function toTarget(stack: Stack, variant: string, found: Variant, runtime: string | undefined): Target {
  const named = variant === stack.default ? stack.name : `${stack.name}/${variant}`;
  const spec = runtimeOf(stack, runtime);
  return {
    id: runtime === undefined || spec === undefined ? named : `${named}@${nameOfRuntime(spec)}`,
    stack: stack.name,
    variant,
    class: found.class,
    language: stack.language,
    framework: stack.framework,
    ...present({ runtime: spec }),
  };
}

/** Returns the runtime of a stack: the one that is named, the one that it or its project pins, or the usual one. */
function runtimeOf({ runtime: kind, runtimes, project }: Stack, named?: string): RuntimeSpec | undefined {
  const asked = named ?? runtimes[0] ?? project?.version;
  if (asked !== undefined) return readRuntime(kind, asked);
  return kind === 'none' ? undefined : { kind, spec: usualRuntime(kind), byDefault: true };
}

function matches(glob: string, text: string): boolean {
  const source = glob
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(text);
}

function suggestTargets(pattern: string, stacks: Stack[]): string {
  const [bare = ''] = pattern.split('@');
  const names = stacks.flatMap((stack) => [
    stack.name,
    ...Object.keys(stack.variants).map((one) => `${stack.name}/${one}`),
  ]);
  return `${suggest(bare, names) ?? ''} ${commandLine('list')} lists them all`.trimStart();
}

/**
 * Returns every target on every runtime of its kind and with every package of its language. Throws a usage error
 * for an invalid runtime, and for a package that fits no target.
 */
export function spreadTargets(
  targets: Target[],
  { python, node, packages, asLocked = false }: Matrix,
  stacks: readonly Stack[] = [],
): Target[] {
  const runtimes: Record<Stack['runtime'], string[]> = { python, node, none: [] };
  refuseStray({ python, node, packages }, targets, stacks);
  return targets.flatMap((target) => {
    const { runtime } = target;
    const specs = runtime === undefined || target.id.includes('@') ? [] : runtimes[runtime.kind];
    const spread = specs.map((text): Target => {
      const spec = readRuntime(runtime?.kind ?? 'none', text);
      return { ...target, id: `${target.id}@${nameOfRuntime(spec)}`, runtime: spec };
    });
    const onRuntimes = spread.length > 0 ? spread : [target];
    for (const one of onRuntimes) if (one.runtime !== undefined) parseRuntime(one.runtime);
    const fitting = packages.filter((text) => parsePackage(text).some(({ kind }) => kind === runtime?.kind));
    if (fitting.length === 0) return onRuntimes;
    const changed = fitting.flatMap((name) =>
      onRuntimes.map((one): Target => ({ ...one, id: `${one.id}[${name}]`, packages: [name] })),
    );
    return asLocked ? [...onRuntimes, ...changed] : changed;
  });
}
