/** The environment of a Python target, and its builds there. */
import { basename, dirname } from 'node:path';
import { HOME } from 'bench-machine/home';
import type { Lock } from 'bench-model/stack';
import type { RuntimeSpec } from 'bench-model/target';
import { readPyproject } from '../../catalogue/projects/manifests.ts';
import type { FoundTarget } from '../../catalogue/found.ts';
import { packagesOf } from '../../catalogue/packages.ts';
import { buildsOf, runBuilds } from '../builds.ts';
import { dayOf, folderOf, isComplete, provideFolder } from '../environments.ts';
import { findFitting, type FoundRuntime } from '../runtimes.ts';
import { provideUv } from '../uv.ts';
import { dependsOnPlace, filesOfLock, lockOf } from './locks.ts';
import { cannotAdd, countOpen, describeLock, filesOfCheckouts } from './packages.ts';
import { provideRoot } from './programs.ts';
import { bytecodeIn, makeProjectEnvironment, pythonIn, type MadeEnvironment } from './python.ts';
import { runOn, type Place, type ReadyProject } from './ready.ts';
import { besideStack, filesOfLocalPackages, sourcesOf } from './sources.ts';
import { digestOfFiles, filesOfProject } from './tree.ts';

/** Prepares a Python target. Throws a toolchain error if its interpreter or its environment cannot be provided. */
export async function preparePython(
  known: FoundTarget,
  spec: RuntimeSpec,
  log: (line: string) => void,
): Promise<ReadyProject> {
  const { stack } = known;
  const needs = needsOf(known);
  const { lock, listed, checkouts, packages } = needs;
  const digest = digestOfFiles(stack.root, [...sourcesOf(stack, listed), ...checkouts], packages.join(' '));
  const root = await provideRoot(known, digest, log);
  const uv = await provideUv(HOME.cache);
  const found = await findFitting(stack, spec, { mayInstall: true });
  const [python = ''] = found.argv;
  if (lock === undefined && packages.length > 0)
    throw cannotAdd(packages, 'a requirements.txt or a pyproject.toml');
  const made = lock && (await provideEnvironment(known, { ...needs, lock }, { ...found, uv }, log));
  // The server may compile its modules, but not into the project.
  if (made === undefined) {
    const env = { PYTHONDONTWRITEBYTECODE: '1' };
    return { ...runOn(known, found, placeIn(root, python), { env }), digest, installed: [] };
  }
  const { folder: environment, origin, changed, packages: all } = made;
  const env = { VIRTUAL_ENV: environment, PYTHONPYCACHEPREFIX: bytecodeIn(environment, stack.root, lock) };
  return {
    ...runOn(known, found, placeIn(root, pythonIn(environment)), { list: lock?.file, env }),
    digest,
    installed: changed,
    origin,
    ...(stack.project !== undefined && { packages: all }),
  };
}

/** The place of a program beside an interpreter. */
function placeIn(root: string, python: string): Place & Required<Pick<Place, 'runtime'>> {
  return { root, bins: [dirname(python)], runtime: { kind: 'python', argv: [python] } };
}

type PythonNeeds = ReturnType<typeof needsOf>;

/**
 * Returns what the environment of a Python project is made from: its lock, the files that this consists of, the files of the
 * checkouts of `--with`, and the packages to install on top of the lock.
 */
function needsOf({ target, stack, variant }: FoundTarget) {
  const lock = stack.project === undefined ? lockOf(stack, variant) : stack.project.lock;
  const listed = lock === undefined ? [] : filesOfLock(stack.root, lock);
  const added = packagesOf(target);
  const packages = [...(stack.project?.packages ?? []), ...added.map(({ wanted }) => wanted)];
  return { lock, listed, checkouts: filesOfCheckouts(added), packages };
}

/** Returns true if the environment of a Python target exists. */
export function hasEnvironment(known: FoundTarget, found: FoundRuntime): boolean {
  const { lock, ...needs } = needsOf(known);
  return lock === undefined || isComplete(environmentOf(known, { ...needs, lock }, found));
}

/** Returns the folder of the environment of a Python project. Copies of a project, and variants, with the same lock share one. */
function environmentOf(
  { stack, variant }: FoundTarget,
  { lock, listed, checkouts, packages }: PythonNeeds & { lock: Lock },
  found: FoundRuntime,
): string {
  const { root } = stack;
  // The environment of a package contains it.
  const own = readPyproject(root).isPackage ? filesOfProject(root) : [];
  const beside = besideStack(stack).flatMap(filesOfProject);
  const files = new Set([...listed, ...own, ...filesOfLocalPackages(root, listed), ...beside, ...checkouts]);
  const words = [
    ...(dependsOnPlace(root, listed) ? [root] : []),
    ...found.argv,
    ...[lock.kind, ...(lock.groups ?? [])].map((name) => basename(name)),
    ...packages,
    stack.project?.packagesUntil ?? '',
    ...buildsOf(stack, variant).flat(),
  ];
  return folderOf(stack, found.runtime, digestOfFiles(root, [...files], words.join(' ')));
}

/** Makes the environment of a Python project, with its builds. */
async function provideEnvironment(
  known: FoundTarget,
  needs: PythonNeeds & { lock: Lock },
  { uv, ...found }: FoundRuntime & { uv: string },
  log: (line: string) => void,
): Promise<MadeEnvironment & { folder: string; origin: string }> {
  const { target, stack } = known;
  const { root } = stack;
  const { lock, listed, packages } = needs;
  const { version } = found.runtime;
  const [python = ''] = found.argv;
  const folder = environmentOf(known, needs, found);
  const beside = besideStack(stack);
  const { packagesUntil: until } = stack.project ?? {};
  const spec = { target: target.id, root, lock, folder, python, version, uv, packages, beside };
  const make = async (): Promise<MadeEnvironment> => {
    const made = await makeProjectEnvironment({ ...spec, until }, log);
    await runBuilds(known, placeIn(root, pythonIn(folder)));
    return made;
  };
  const made = await provideFolder(folder, make, log);
  const open = lock.kind === 'requirements' ? countOpen(made, listed) : undefined;
  return { ...made, folder, origin: describeLock(root, lock, until ?? dayOf(folder), open) };
}
