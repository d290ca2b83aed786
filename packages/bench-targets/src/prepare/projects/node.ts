/** The dependencies of a user's Node project, installed from its own lock in a copy of the project. */
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { parentsOf } from 'bench-machine/home';
import { present } from 'bench-model/options';
import type { Lock } from 'bench-model/stack';
import { ToolchainError } from 'bench-model/errors';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { readLockedByNpm, readNodeManifest } from '../../catalogue/projects/manifests.ts';
import { compareVersions } from '../../catalogue/releases.ts';
import { reasonIn } from '../failures.ts';
import { unreachedError } from '../unreached.ts';
import { isClassic } from './managers.ts';
import type { Release } from './python.ts';
import { copyProject } from './tree.ts';

const STEP_MS = 600_000;

/** A copy to make of a project. */
interface ProjectCopy {
  root: string;
  lock: Lock;
  /** The folder of the copy. */
  folder: string;
  /** The folders of the package managers and of the runtime, for which native modules are built. */
  bins: string[];
  /** The version of the runtime. */
  version: string;
  /** Packages to install on top of the lock, e.g. `fastify@5.1.0`. */
  packages: string[];
}

/** Returns the folder of the project in its copy: a workspace is copied as a whole. */
export function rootInCopy({ root, lock, folder }: Pick<ProjectCopy, 'root' | 'lock' | 'folder'>): string {
  return join(folder, relative(dirname(lock.file), root));
}

/**
 * Copies a project and installs its lock there. Install scripts of dependencies run, those of the project do not. Throws
 * a toolchain error with the reason of the package manager if that fails.
 */
export async function makeProjectCopy(spec: ProjectCopy): Promise<void> {
  const { lock, folder, packages } = spec;
  const { install, add, rebuild } = commandsFor(lock);
  copyProject(dirname(lock.file), folder);
  await runManager(spec, install, folder);
  if (packages.length > 0) await runManager(spec, [...add, ...packages], rootInCopy(spec));
  if (rebuild !== undefined) await runManager(spec, rebuild, folder);
}

const words = (line: string): string[] => line.split(' ');

/** Returns the commands of a package manager. Without one for its scripts, Yarn runs them when it installs. */
function commandsFor({ kind, file }: Lock): { install: string[]; add: string[]; rebuild?: string[] } {
  if (kind === 'yarn') {
    const asLocked = isClassic(file) ? '--frozen-lockfile --non-interactive' : '--immutable';
    return { install: words(`yarn install ${asLocked}`), add: ['yarn', 'add'] };
  }
  if (kind === 'pnpm') {
    const quiet = '--ignore-scripts --reporter=append-only';
    const asLocked = basename(file) === 'pnpm-lock.yaml' ? '--frozen-lockfile' : '--no-frozen-lockfile';
    const install = words(`pnpm install ${asLocked} ${quiet}`);
    return { install, add: words(`pnpm add ${quiet}`), rebuild: ['pnpm', 'rebuild'] };
  }
  // What npm fetches shows that it goes on.
  const quiet = '--no-audit --no-fund --ignore-scripts --loglevel=http';
  const install = words(`npm ${kind === 'npm' ? 'ci' : 'install'} ${quiet}`);
  return { install, add: words(`npm install ${quiet}`), rebuild: ['npm', 'rebuild'] };
}

/** Messages of package managers if a lock does not fit its manifest. */
const OUTDATED =
  /\bin sync\b|ERR_PNPM_(OUTDATED|FROZEN)_LOCKFILE|YN0028|needs to be updated|would have been modified/;

/** Runs a package manager for a project. Throws a toolchain error with its reason if it fails. */
export async function runManager(
  { root, lock, bins, version }: Omit<ProjectCopy, 'folder' | 'packages'>,
  argv: string[],
  cwd: string,
): Promise<void> {
  const env = {
    ...process.env,
    PATH: [...bins, process.env['PATH']].join(delimiter),
    NODE_ENV: undefined,
    CI: 'true',
    // A build script that the project does not allow is no reason to fail, as it is for pnpm itself. npm warns of the setting.
    ...(lock.kind === 'pnpm' && {
      pnpm_config_strict_dep_builds: 'false',
      npm_config_strict_dep_builds: 'false',
    }),
    YARN_NODE_LINKER: 'node-modules',
    // A project may name a file of its own as the Yarn that installs it.
    YARN_IGNORE_PATH: '1',
    YARN_ENABLE_TELEMETRY: '0',
  };
  await run(argv, { cwd, env, timeoutMs: STEP_MS }).catch((error: unknown) => {
    if (!(error instanceof SubprocessError)) throw error;
    const log = `${error.stdout}${error.stderr}`;
    const unreached = unreachedError(basename(argv[0] ?? ''), log);
    if (unreached !== undefined) throw unreached;
    const file = relative(root, lock.file);
    throw new ToolchainError(
      `${file} cannot be installed for Node ${version}: ${reasonIn(log) || error.message}`,
      OUTDATED.test(log)
        ? `update ${file} with its package manager, then try again`
        : `correct what ${argv[0]} says, or choose another version with --node`,
    );
  });
}

/**
 * Finds the newest release of a package that the manifest of a project admits, or of all if it admits none but the locked one. Throws
 * a toolchain error with the reason of npm if it finds none.
 */
export async function findRelease(root: string, lock: Lock | undefined, name: string): Promise<Release> {
  const asked = readNodeManifest(root).listed[name] ?? '';
  // A protocol such as `catalog:` names no range.
  const isRange = /^[\w.^~<>=|* -]+$/.test(asked);
  const admitted = await viewNewest(root, isRange ? `${name}@${asked}` : name, name);
  const locked =
    (lock?.kind === 'npm' ? readLockedByNpm(lock.file, name) : undefined) ?? versionInProject(root, name);
  if (!isRange || ![locked, asked].includes(admitted)) return { newest: admitted, ...present({ locked }) };
  return { newest: await viewNewest(root, name, name), locked: admitted, isBeyond: true };
}

/** Returns the newest release of those that npm finds for `express@^5`. */
async function viewNewest(root: string, wanted: string, name: string): Promise<string> {
  const none = new ToolchainError(`npm finds no ${wanted}`, `name a version: --with ${name}@…`);
  const { stdout } = await run(['npm', 'view', wanted, 'version', '--json'], { cwd: root }).catch(
    (error: unknown) => {
      if (!(error instanceof SubprocessError)) throw error;
      throw unreachedError('npm', error.stderr) ?? none;
    },
  );
  const versions = [JSON.parse(stdout) as string | string[]].flat();
  const newest = versions.toSorted(compareVersions).at(-1);
  if (newest === undefined) throw none;
  return newest;
}

/** Returns the installed version of a package; undefined if it is not installed. */
export function versionInProject(root: string, name: string): string | undefined {
  return parentsOf(root)
    .map((folder) => readNodeManifest(join(folder, 'node_modules', name)).version)
    .find((version) => version !== undefined);
}
