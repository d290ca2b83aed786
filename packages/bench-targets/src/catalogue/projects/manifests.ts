/** The manifests of users' projects. Other tools complain about what is wrong in them. */
import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isFile, readTextFile, showPath } from 'bench-machine/files';
import { orUndefined, UsageError } from 'bench-model/errors';
import type { TomlError } from 'smol-toml';
import { isPart, type Part, partOf, readJsonFile } from '../json-file.ts';

/** Loads the parsers of TOML and YAML for the first file: most runs read none. */
const require = createRequire(import.meta.url);

const HINT = 'correct the file';

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const textsOf = (value: unknown): Record<string, string> => {
  const texts = Object.entries(partOf(value)).filter(([, text]) => typeof text === 'string');
  return Object.fromEntries(texts) as Record<string, string>;
};
const listOf = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;

/** Reads the `package.json` of a folder; empty if there is none. Throws a usage error with file and line if it is not JSON. */
export function readNodeManifest(folder: string) {
  const { name, version, main, engines, scripts, workspaces, packageManager, dependencies, devDependencies } =
    readJson(join(folder, 'package.json'));
  return {
    name: textOf(name),
    version: textOf(version),
    main: textOf(main),
    engines: textsOf(engines),
    scripts: textsOf(scripts),
    workspaces: listOf(workspaces) ?? listOf(partOf(workspaces)['packages']),
    isOfPnpm: textOf(packageManager)?.startsWith('pnpm@') === true,
    dependencies: textsOf(dependencies),
    /** All, with those for development. */
    listed: { ...textsOf(devDependencies), ...textsOf(dependencies) },
  };
}

export const PNPM_WORKSPACE = 'pnpm-workspace.yaml';

/** Returns the folders that the `pnpm-workspace.yaml` of a folder names as members of its workspace. */
export function readPnpmMembers(folder: string): string[] {
  const { parse } = require('yaml') as typeof import('yaml');
  const text = readTextFile(join(folder, PNPM_WORKSPACE)) ?? '';
  const { packages } = partOf(orUndefined((): unknown => parse(text, { logLevel: 'silent' })));
  const globs = listOf(packages) ?? [];
  const exclude = globs.flatMap((one) => (one.startsWith('!') ? [one.slice(1)] : []));
  return globSync(globs, { cwd: folder, exclude });
}

/** Reads the version of a package in a `package-lock.json`; undefined if it has none. */
export function readLockedByNpm(file: string, name: string): string | undefined {
  const { packages } = readJson(file);
  return textOf(partOf(partOf(packages)[`node_modules/${name}`])['version']);
}

/** Reads the tasks of a `deno.json`; empty if there is none. Throws a usage error with file and line if it is not JSON. */
export function readDenoTasks(folder: string): Part {
  return partOf(readJson(join(folder, 'deno.json'))['tasks']);
}

function readJson(file: string): Part {
  return isFile(file) ? partOf(readJsonFile(file, { missing: HINT, wrong: HINT }).value) : {};
}

/** Reads the `pyproject.toml` of a folder; empty if there is none. Throws a usage error with file and line if it is not TOML. */
export function readPyproject(folder: string) {
  const { 'build-system': build, project, tool } = readToml(join(folder, 'pyproject.toml'));
  const { name, 'requires-python': python, dependencies, scripts } = partOf(project);
  const { poetry, uv } = partOf(tool);
  const own = partOf(poetry);
  return {
    isBuilt: isPart(build),
    isPackage: isPart(build) && partOf(uv)['package'] !== false && own['package-mode'] !== false,
    name: textOf(name) ?? textOf(own['name']),
    python: textOf(python) ?? textOf(partOf(own['dependencies'])['python']),
    dependencies: listOf(dependencies),
    scripts: { ...textsOf(own['scripts']), ...textsOf(scripts) },
  };
}

/** Reads the version of Python and the requirements of a `Pipfile`: with the versions of its lock if it has one. */
export function readPipfile(folder: string) {
  const { packages, requires } = readToml(join(folder, 'Pipfile'));
  const { default: locked } = readJson(join(folder, 'Pipfile.lock'));
  const listed = Object.entries(partOf(locked ?? packages)).map(([name, wanted]) => {
    const { version = wanted, extras } = partOf(wanted);
    const range = textOf(version)?.replace(/^\*$/, '') ?? '';
    return `${name}${listOf(extras) === undefined ? '' : `[${listOf(extras)?.join(',')}]`}${range}`;
  });
  return { python: textOf(partOf(requires)['python_version']), requirements: listed };
}

/** Reads the names in the `Cargo.toml` of a folder; empty if there is none. Throws a usage error with file and line if it is not TOML. */
export function readCargoManifest(folder: string) {
  const { package: own, bin } = readToml(join(folder, 'Cargo.toml'));
  return {
    name: textOf(partOf(own)['name']),
    bins: (Array.isArray(bin) ? bin : []).flatMap((one) => textOf(partOf(one)['name']) ?? []),
  };
}

function readToml(file: string): Part {
  const text = readTextFile(file);
  if (text === undefined) return {};
  const { parse } = require('smol-toml') as typeof import('smol-toml');
  try {
    return parse(text);
  } catch (error) {
    const { line, message } = error as TomlError;
    throw new UsageError(`${showPath(file)}:${line}: not TOML: ${message.split('\n')[0]}`, HINT);
  }
}
