/**
 * The Pythons that can be found without starting one. pyenv puts a shim of each program on PATH: a script that starts about 50
 * shells to find the version to run, and fails if no selected version has the program. Bench looks behind the shims.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { readNames } from 'bench-machine/procfs';
import { findProgram } from 'bench-machine/path';
import { tryRun } from 'bench-machine/subprocess';

const root = (): string => process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv');
const shims = (): string => join(root(), 'shims');

const versions = (): string => join(root(), 'versions');

/** Returns the interpreters that pyenv keeps of a version such as `3.13`, newest first. */
export function interpretersOf(version: string): string[] {
  // A glob would not follow symbolic links.
  return readNames(versions())
    .filter((name) => name === version || name.startsWith(`${version}.`))
    .map((name) => join(versions(), name, 'bin', 'python3'))
    .filter((path) => existsSync(path))
    .toSorted()
    .toReversed();
}

/** Returns the command that starts a program on PATH: its path behind a shim, or its name. */
export async function findBehindShim(name: string): Promise<string> {
  if (findProgram(name) !== join(shims(), name)) return name;
  return (await tryRun(['pyenv', 'which', name]))?.trim() ?? name;
}

/** Returns true if uv, pyenv or PATH has a Python of a line such as `3.14`. */
export function isPythonHere(line: string): boolean {
  const data = process.env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share');
  const ofUv = process.env['UV_PYTHON_INSTALL_DIR'] ?? join(data, 'uv', 'python');
  return (
    interpretersOf(line).length > 0 ||
    readNames(ofUv).some((name) => name.startsWith(`cpython-${line}.`)) ||
    ![undefined, join(shims(), `python${line}`)].includes(findProgram(`python${line}`))
  );
}

/** Returns PATH without the shims. */
export function pathWithoutShims(): string | undefined {
  return process.env['PATH']
    ?.split(delimiter)
    .filter((folder) => folder !== shims())
    .join(delimiter);
}
