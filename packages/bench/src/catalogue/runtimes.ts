import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import { BenchError } from '../errors.ts';
import type { ResolvedRuntime, RuntimeKind, RuntimeSpec } from '../model.ts';

const run = promisify(execFile);

/** The runtime of a target that asks for none, by kind. */
export const DEFAULT_RUNTIMES: Record<RuntimeKind, string | undefined> = {
  node: String(process.versions.node.split('.')[0]),
  python: '3.13',
  none: undefined,
};

/** A runtime on this machine: what it is, and the path to start it by. */
export interface FoundRuntime {
  runtime: ResolvedRuntime;
  path: string;
}

/**
 * Finds the runtime on this machine; a Python that is not here is installed through uv unless `mayInstall`
 * is false. Throws a toolchain error that says what is missing and how to get it.
 */
export async function findRuntime(
  spec: RuntimeSpec,
  uv: string | undefined,
  mayInstall = true,
): Promise<FoundRuntime> {
  if (spec.kind === 'node') return findNode(spec);
  return findPython(spec, uv, mayInstall);
}

async function findNode(spec: RuntimeSpec): Promise<FoundRuntime> {
  if (spec.spec !== DEFAULT_RUNTIMES.node) {
    throw new BenchError(
      'toolchain',
      `node ${spec.spec} is not here`,
      `this project runs Node ${DEFAULT_RUNTIMES.node}: leave @${spec.spec} away`,
    );
  }
  const { node: version, v8 } = process.versions;
  return { runtime: { ...spec, version, build: { v8 } }, path: process.execPath };
}

const ASK_PYTHON = `
import json, platform, sys, sysconfig
print(json.dumps({
    "version": platform.python_version(),
    "implementation": platform.python_implementation(),
    "compiler": platform.python_compiler(),
    "flags": sysconfig.get_config_var("CONFIG_ARGS") or "",
    "freethreaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "executable": sys.executable,
}))`;

async function findPython(
  spec: RuntimeSpec,
  uv: string | undefined,
  mayInstall: boolean,
): Promise<FoundRuntime> {
  for (const path of await pythonCandidates(spec.spec, uv, mayInstall)) {
    const asked = await run(path, ['-c', ASK_PYTHON]).catch(() => undefined);
    if (asked === undefined) continue;
    const told = JSON.parse(asked.stdout) as Record<
      'version' | 'implementation' | 'compiler' | 'flags' | 'executable',
      string
    > & {
      freethreaded: boolean;
    };
    const build = {
      implementation: told.implementation,
      compiler: told.compiler,
      flags: withoutPaths(told.flags),
      freethreaded: String(told.freethreaded),
    };
    return { runtime: { ...spec, version: told.version, build }, path: told.executable };
  }
  throw new BenchError(
    'toolchain',
    `CPython ${spec.spec} is not here, and uv could not install it`,
    `uv python install ${spec.spec}, or pyenv install ${spec.spec}`,
  );
}

/** Interpreters to try, best first: what uv finds, what pyenv keeps, what uv can install. */
async function pythonCandidates(
  spec: string,
  uv: string | undefined,
  mayInstall: boolean,
): Promise<string[]> {
  if (spec.includes('/')) return [spec];
  const found =
    uv === undefined
      ? undefined
      : await run(uv, ['python', 'find', '--no-python-downloads', spec]).catch(() => undefined);
  if (found !== undefined) return [found.stdout.trim()];
  const pyenv = process.env['PYENV_ROOT'] ?? `${homedir()}/.pyenv`;
  const kept = globSync(`${pyenv}/versions/${spec}{.*,}/bin/python3`);
  if (kept.length > 0) return kept.toSorted().toReversed();
  if (uv === undefined || !mayInstall) return [];
  await run(uv, ['python', 'install', spec]).catch(() => undefined);
  const installed = await run(uv, ['python', 'find', spec]).catch(() => undefined);
  return installed === undefined ? [] : [installed.stdout.trim()];
}

/** Configure flags without the folders of the machine they were set on. */
function withoutPaths(flags: string): string {
  return flags
    .split(/\s+/)
    .filter((flag) => flag !== '' && !flag.includes('/'))
    .join(' ');
}
