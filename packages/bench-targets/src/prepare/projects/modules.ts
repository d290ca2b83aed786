/** The modules of a Node target, and its builds beside them. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isFile } from 'bench-machine/files';
import { HOME, parentsOf } from 'bench-machine/home';
import { ToolchainError, UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { RuntimeSpec } from 'bench-model/target';
import { readNodeManifest } from '../../catalogue/apps/manifests.ts';
import type { FoundTarget } from '../../catalogue/found.ts';
import { showPath } from '../../catalogue/json-file.ts';
import type { NamedPackage } from '../../catalogue/packages.ts';
import { buildsOf, runBuild } from '../builds.ts';
import { digestOf } from '../digest.ts';
import { dayOf, folderOf, provideFolder } from '../environments.ts';
import { findFitting, type FoundRuntime } from '../runtimes.ts';
import { provideManagers } from './managers.ts';
import { makeProjectCopy, rootInCopy, versionInProject } from './node.ts';
import { addedTo, cannotAdd, describeLock, filesOfCheckouts } from './packages.ts';
import { copyIn, provideRoot } from './programs.ts';
import { pathOf, runOn, type ReadyProject } from './ready.ts';
import { sourcesOf } from './sources.ts';
import { digestOfFiles } from './tree.ts';
import { copyOf, findModule, installCopy, WORKSPACE_LOCK, workspaceOf } from './workspace.ts';

/** Prepares a Node target. Throws a toolchain error if its runtime or its modules cannot be provided. */
export async function prepareNode(
  known: FoundTarget,
  spec: RuntimeSpec,
  log: (line: string) => void,
): Promise<ReadyProject> {
  const { stack } = known;
  const isAnyNode = stack.project !== undefined;
  const search = { cache: HOME.cache, uv: undefined, mayInstall: true, isAnyNode };
  const found = await findFitting(stack, spec, search);
  const lock = stack.project?.lock;
  const added = addedTo(known);
  const packages = [
    ...(stack.project?.packages ?? []),
    ...added.map(({ name, wanted }) => `${name}@${wanted}`),
  ];
  const files = [...sourcesOf(stack), ...filesOfCheckouts(added)];
  const digest = digestOfFiles(stack.root, files, packages.join(' '));
  const needs = { packages, added, digest, log };
  const { root, origin, environment } = await (isAnyNode ? provideModules : provideWorkspace)(
    known,
    found,
    needs,
  );
  const runtime = { kind: 'node' as const, argv: found.argv };
  const place = { root, bins: [...binsOf(root), dirname(found.argv[0] ?? '')], runtime };
  return {
    ...runOn(known, found, place, { list: root === stack.root ? undefined : lock?.file }),
    digest,
    ...present({ origin, environment }),
    installed: added.flatMap(({ name }) => {
      const module = environment === undefined ? undefined : findModule(environment, name);
      const version = module === undefined ? versionInProject(root, name) : readNodeManifest(module).version;
      return version === undefined ? [] : [`${name} ${version}`];
    }),
  };
}

/** What the modules of a Node project are made from. */
interface NodeNeeds {
  /** Packages to install on top of the lock, e.g. `fastify@5.1.0`; and those of them that `--with` names. */
  packages: string[];
  added: NamedPackage[];
  digest: string;
  log: (line: string) => void;
}

/** The folder of a Node project that has its dependencies and its builds. */
interface FoundModules {
  root: string;
  /** The list that they are from. */
  origin?: string;
  /** The workspace that a stack of Bench is copied into. */
  environment?: string;
}

/** Returns a Node stack of Bench: itself in its workspace, or with `--with` a copy in another workspace. */
async function provideWorkspace(
  { target, stack }: FoundTarget,
  found: FoundRuntime,
  { packages, added, digest, log }: NodeNeeds,
): Promise<FoundModules> {
  const { root, original } = stack;
  const isCopyAlone = original !== undefined && workspaceOf(original).size === 1;
  if (isCopyAlone) requireModules(root);
  if (target.packages === undefined || isCopyAlone) return { root };
  if (!isFile(join(root, 'package.json'))) {
    if (packages.length > 0) throw cannotAdd(packages, 'a package.json');
    return { root };
  }
  const environment = folderOf(stack, found, digestOf([], [digest, ...found.argv].join(' ')));
  const make = async (): Promise<void> => {
    const bins = [await provideManagers(WORKSPACE_LOCK, HOME.cache), dirname(found.argv[0] ?? '')];
    const { version } = found.runtime;
    await installCopy(stack, { folder: environment, bins, version }, added);
  };
  await provideFolder(environment, make, log);
  return { root: copyOf(stack, environment).root, environment };
}

/** Throws a toolchain error if the dependencies of a copy are not installed. */
function requireModules(root: string): void {
  const { dependencies = {} } = readNodeManifest(root);
  if (Object.keys(dependencies).length === 0 || binsOf(root, '').length > 0) return;
  throw new ToolchainError(
    `${showPath(root)} has no node_modules`,
    `npm install --prefix ${showPath(root)}, then try again`,
  );
}

/**
 * Returns the folder in which the project of a user has its dependencies and its builds: a copy, unless the project has none of them.
 */
async function provideModules(
  known: FoundTarget,
  found: FoundRuntime,
  { packages, digest, log }: NodeNeeds,
): Promise<FoundModules> {
  const { target, stack, variant } = known;
  const { argv } = found;
  const lock = stack.project?.lock;
  const { dependencies = {}, devDependencies = {} } = readNodeManifest(stack.root);
  const builds = buildsOf(stack, variant);
  const hasNone = Object.keys({ ...dependencies, ...devDependencies }).length === 0;
  if (lock === undefined && builds.length > 0) {
    throw new UsageError(
      `${stack.name} has a "build", but no package.json`,
      `add one, or omit "build" in ${stack.manifest}`,
    );
  }
  if (lock === undefined || (hasNone && packages.length + builds.length === 0))
    return { root: await provideRoot(known, digest, log) };
  const key = digestOf([], [digest, stack.root, ...argv, ...builds.flat(), 'copy'].join(' '));
  const folder = folderOf(stack, found, key);
  const copied = copyIn(folder, dirname(lock.file));
  const root = rootInCopy({ root: stack.root, lock, folder: copied });
  const make = async (): Promise<void> => {
    const managers = await provideManagers(lock, HOME.cache);
    const bin = dirname(argv[0] ?? '');
    const { version } = found.runtime;
    await makeProjectCopy({
      root: stack.root,
      lock,
      folder: copied,
      bins: [managers, bin],
      version,
      packages,
    });
    const env = { ...process.env, ...pathOf([managers, ...binsOf(root), bin]) };
    for (const words of builds) {
      const located = words.map((word) => word.replaceAll('{root}', root));
      await runBuild(located, { ...stack, root }, target.variant, env);
    }
  };
  await provideFolder(folder, make, log);
  return { root, origin: describeLock({ root: stack.root, lock, day: dayOf(folder) }) };
}

/** The folders of programs of a Node project and of its workspace, nearest first. */
function binsOf(root: string, inside = '.bin'): string[] {
  return parentsOf(root)
    .map((folder) => join(folder, 'node_modules', inside))
    .filter((bin) => existsSync(bin));
}
