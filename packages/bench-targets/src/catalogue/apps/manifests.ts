/** The manifests of users' projects. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { TomlError } from 'smol-toml';
import { BenchError } from 'bench-model/errors';
import { readJsonFile, showPath } from '../json-file.ts';

/** Loads the parser of TOML for the first file: most runs read none. */
const require = createRequire(import.meta.url);

const HINT = 'correct the file';

/** The parts of a `package.json` that Bench reads. */
interface NodeManifest {
  name?: string;
  version?: string;
  engines?: { node?: string };
  scripts?: Record<string, string>;
  workspaces?: string[] | { packages?: string[] };
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** The parts of a `pyproject.toml` that Bench reads. */
interface Pyproject {
  'build-system'?: object;
  project?: {
    name?: string;
    'requires-python'?: string;
    dependencies?: string[];
    scripts?: Record<string, string>;
  };
  tool?: {
    poetry?: {
      name?: string;
      'package-mode'?: boolean;
      dependencies?: { python?: string };
      scripts?: Record<string, string>;
    };
    uv?: { package?: boolean };
  };
}

/** The parts of a `Cargo.toml` that Bench reads. */
interface CargoManifest {
  package?: { name?: string };
  bin?: { name: string }[];
  dependencies?: Record<string, unknown>;
}

/** Reads the `package.json` of a folder; empty if there is none. Throws a usage error with file and line if it is not JSON. */
export function readNodeManifest(folder: string): NodeManifest {
  return readJson(join(folder, 'package.json'));
}

/** Reads the tasks of a `deno.json`; empty if there is none. Throws a usage error with file and line if it is not JSON. */
export function readDenoTasks(folder: string): Record<string, unknown> {
  return readJson<{ tasks?: Record<string, unknown> }>(join(folder, 'deno.json')).tasks ?? {};
}

function readJson<T extends object>(file: string): T {
  return (existsSync(file) ? readJsonFile(file, { missing: HINT, wrong: HINT }).value : {}) as T;
}

/** Reads the `pyproject.toml` of a folder; empty if there is none. Throws a usage error with file and line if it is not TOML. */
export function readPyproject(folder: string): Pyproject {
  return readToml(join(folder, 'pyproject.toml'));
}

/** Reads the `Cargo.toml` of a folder; empty if there is none. Throws a usage error with file and line if it is not TOML. */
export function readCargoManifest(folder: string): CargoManifest {
  return readToml(join(folder, 'Cargo.toml'));
}

function readToml(file: string): object {
  if (!existsSync(file)) return {};
  const { parse } = require('smol-toml') as typeof import('smol-toml');
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const { line, message } = error as TomlError;
    throw new BenchError('usage', `${showPath(file)}:${line}: not TOML: ${message.split('\n')[0]}`, HINT);
  }
}
