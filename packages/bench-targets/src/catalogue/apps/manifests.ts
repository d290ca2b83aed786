/** The manifests of users' projects. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isFile, readTextFile } from 'bench-machine/files';
import type { TomlError } from 'smol-toml';
import { BenchError } from 'bench-model/errors';
import { readJsonFile, showPath } from '../json-file.ts';

/** Loads the parser of TOML for the first file: most runs read none. */
const require = createRequire(import.meta.url);

const HINT = 'correct the file';

/** The kind of a part: a field by its name, or all by `*`; a list; or what a function makes of it. */
export type Shape =
  | 'string'
  | 'boolean'
  | [Shape]
  | ((value: unknown) => unknown)
  | { [name: string]: Shape };

/** Returns the part of a value that has this shape; undefined if nothing has. Other tools complain about the rest. */
export function fit(value: unknown, shape: Shape): unknown {
  if (typeof shape === 'string') return typeof value === shape ? value : undefined;
  if (typeof shape === 'function') return shape(value);
  if (Array.isArray(shape)) {
    const [one] = shape;
    return Array.isArray(value) ? value.flatMap((part) => fit(part, one) ?? []) : undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = Object.entries(value).flatMap(([name, part]) => {
    const of = Object.hasOwn(shape, name) ? shape[name] : shape['*'];
    const fitted = of === undefined ? undefined : fit(part, of);
    return fitted === undefined ? [] : [[name, fitted] as const];
  });
  return Object.fromEntries(fields);
}

const TEXTS = { '*': 'string' } as const;

/** The parts of a `package.json` that Bench reads. */
interface NodeManifest {
  name?: string;
  version?: string;
  engines?: { node?: string };
  scripts?: Record<string, string>;
  workspaces?: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}
const NODE: Shape = {
  name: 'string',
  version: 'string',
  engines: TEXTS,
  scripts: TEXTS,
  workspaces: (value) =>
    fit(value, ['string']) ?? (fit(value, { packages: ['string'] }) as { packages?: string[] })?.packages,
  dependencies: TEXTS,
  devDependencies: TEXTS,
};

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
const PYTHON: Shape = {
  'build-system': {},
  project: { name: 'string', 'requires-python': 'string', dependencies: ['string'], scripts: TEXTS },
  tool: {
    poetry: { name: 'string', 'package-mode': 'boolean', dependencies: { python: 'string' }, scripts: TEXTS },
    uv: { package: 'boolean' },
  },
};

/** The parts of a `Cargo.toml` that Bench reads. */
interface CargoManifest {
  package?: { name?: string };
  bin?: { name: string }[];
  dependencies?: Record<string, unknown>;
}
const CARGO: Shape = {
  package: { name: 'string' },
  bin: [(value) => (fit(value, { name: 'string' }) as { name?: string })?.name && value],
  dependencies: { '*': (value) => value },
};

/** Reads the `package.json` of a folder; empty if there is none. Throws a usage error with file and line if it is not JSON. */
export function readNodeManifest(folder: string): NodeManifest {
  return readJson(join(folder, 'package.json'), NODE);
}

/** Reads the tasks of a `deno.json`; empty if there is none. Throws a usage error with file and line if it is not JSON. */
export function readDenoTasks(folder: string): Record<string, unknown> {
  const tasks: Shape = { '*': (value) => value };
  return readJson<{ tasks?: Record<string, unknown> }>(join(folder, 'deno.json'), { tasks }).tasks ?? {};
}

function readJson<T extends object>(file: string, shape: Shape): T {
  const value = isFile(file) ? readJsonFile(file, { missing: HINT, wrong: HINT }).value : {};
  return (fit(value, shape) ?? {}) as T;
}

/** Reads the `pyproject.toml` of a folder; empty if there is none. Throws a usage error with file and line if it is not TOML. */
export function readPyproject(folder: string): Pyproject {
  return readToml(join(folder, 'pyproject.toml'), PYTHON);
}

/** Reads the `Cargo.toml` of a folder; empty if there is none. Throws a usage error with file and line if it is not TOML. */
export function readCargoManifest(folder: string): CargoManifest {
  return readToml(join(folder, 'Cargo.toml'), CARGO);
}

function readToml(file: string, shape: Shape): object {
  const text = readTextFile(file);
  if (text === undefined) return {};
  const { parse } = require('smol-toml') as typeof import('smol-toml');
  try {
    return fit(parse(text), shape) ?? {};
  } catch (error) {
    const { line, message } = error as TomlError;
    throw new BenchError('usage', `${showPath(file)}:${line}: not TOML: ${message.split('\n')[0]}`, HINT);
  }
}
