/** The modules of a Node target, and its builds beside them. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HOME, parentsOf } from 'bench-machine/home';
import { UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { RuntimeSpec } from 'bench-model/target';
import { readNodeManifest } from '../../catalogue/projects/manifests.ts';
import type { FoundTarget } from '../../catalogue/found.ts';
import { packagesOf, type NamedPackage } from '../../catalogue/packages.ts';
import { buildsOf, runBuilds } from '../builds.ts';
import { digestOf } from '../digest.ts';
import { dayOf, folderOf, provideFolder } from '../environments.ts';
import { findFitting, type FoundRuntime } from '../runtimes.ts';
import { provideManagers } from './managers.ts';
import { makeProjectCopy, rootInCopy, versionInProject } from './node.ts';
import { cannotAdd, describeLock, filesOfCheckouts } from './packages.ts';
import { copyIn, provideRoot } from './programs.ts';
import { runOn, type ReadyProject } from './ready.ts';
import { sourcesOf } from './sources.ts';
import { digestOfFiles } from './tree.ts';
import { findModule, installCopy, WORKSPACE_LOCK } from './workspace.ts';

/** Prepares a Node target. Throws a toolchain error if its runtime or its modules cannot be provided. */
export async function prepareNode(
  known: FoundTarget,
  spec: RuntimeSpec,
  log: (line: string) => void,
): Promise<ReadyProject> {
  const { stack, target } = known;
  const { project } = stack;
  const found = await findFitting(stack, spec, { mayInstall: true, isAnyNode: project !== undefined });
  const added = packagesOf(target);
  const packages = [...(project?.packages ?? []), ...added.map(({ name, wanted }) => `${name}@${wanted}`)];
  const files = [...sourcesOf(stack), ...filesOfCheckouts(added)];
  const digest = digestOfFiles(stack.root, files, packages.join(' '));
  const { root, folder, origin } = await provideModules(known, found, { packages, added, digest, log });
  const runtime = { kind: 'node' as const, argv: found.argv };
  const place = { root, bins: [...binsOf(root), dirname(found.argv[0] ?? '')], runtime };
  return {
    ...runOn(known, found, place, { list: folder && project?.lock?.file }),
    digest,
    ...present({ origin }),
    installed: added.flatMap(({ name }) => {
      const module = folder && findModule(folder, name);
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

/**
 * Provides the dependencies of a Node project, and its builds, in a copy of it in a folder of the cache. A project without them runs
 * in place, and so does a stack of Bench without `--with`: its workspace is installed.
 */
async function provideModules(
  known: FoundTarget,
  { argv, runtime }: FoundRuntime,
  { packages, added, digest, log }: NodeNeeds,
): Promise<{ root: string; folder?: string; origin?: string }> {
  const { stack, variant } = known;
  const { root, project } = stack;
  const builds = buildsOf(stack, variant);
  const ofBench = existsSync(join(root, 'package.json')) ? WORKSPACE_LOCK : undefined;
  const lock = project === undefined ? ofBench : project.lock;
  if (lock === undefined && packages.length > 0) throw cannotAdd(packages, 'a package.json');
  if (lock === undefined && builds.length > 0) {
    const cure = `add one, or omit "build" in ${stack.manifest}`;
    throw new UsageError(`${stack.name} has a "build", but no package.json`, cure);
  }
  const isInstalled = project === undefined || Object.keys(readNodeManifest(root).listed).length === 0;
  if (lock === undefined || (isInstalled && packages.length + builds.length === 0))
    return { root: await provideRoot(known, digest, log) };
  const key = digestOf([], [digest, root, ...argv, ...builds.flat(), 'copy'].join(' '));
  const folder = folderOf(stack, runtime, key);
  const copied = copyIn(folder, dirname(lock.file));
  const place =
    project === undefined
      ? join(folder, 'packages', basename(root))
      : rootInCopy({ root, lock, folder: copied });
  const make = async (): Promise<void> => {
    const { version } = runtime;
    const [managers, own] = [await provideManagers(lock, HOME.cache), dirname(argv[0] ?? '')];
    const tools = { bins: [managers, own], version };
    if (project === undefined) await installCopy(stack, { folder, ...tools }, added);
    else await makeProjectCopy({ root, lock, folder: copied, packages, ...tools });
    const bins = [managers, ...binsOf(place), own];
    await runBuilds(known, { root: place, bins, runtime: { kind: 'node', argv } });
  };
  await provideFolder(folder, make, log);
  const origin = project && describeLock(root, lock, dayOf(folder));
  return { root: place, folder, ...present({ origin }) };
}

/** The folders of programs of a Node project and of its workspace, nearest first. */
function binsOf(root: string): string[] {
  return parentsOf(root)
    .map((folder) => join(folder, 'node_modules', '.bin'))
    .filter((bin) => existsSync(bin));
}
