/**
 * The package managers of Node projects. They run on the Node of Bench, and scripts on that of the project, which the
 * managers need not support.
 */
import { chmodSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { HOME } from 'bench-machine/home';
import { readTextFile } from 'bench-machine/files';
import { findProgram } from 'bench-machine/path';
import type { Lock } from 'bench-model/stack';
import { joinWords } from '../../catalogue/projects/words.ts';
import { digestOf } from '../digest.ts';
import { provideProgram } from '../npm.ts';
import { PNPM_12, PNPM_8, YARN_1, YARN_4 } from '../pins.ts';

/**
 * Returns a folder with `npm`, `npx` and the manager of the lock: each starts its program on the Node of Bench. Throws a toolchain
 * error if it cannot be fetched.
 */
export async function provideManagers(lock: Lock, cache: string): Promise<string> {
  const words: Record<string, string[]> = { npm: onOwnNode('npm'), npx: onOwnNode('npx') };
  if (lock.kind === 'pnpm') words['pnpm'] = await pnpmFor(lock.file, cache);
  if (lock.kind === 'yarn')
    words['yarn'] = await provideProgram(isClassic(lock.file) ? YARN_1 : YARN_4, cache);
  const folder = join(cache, 'managers', digestOf([], JSON.stringify(words)));
  mkdirSync(folder, { recursive: true });
  for (const [name, argv] of Object.entries(words)) {
    const part = join(folder, `.${name}-${process.pid}`);
    writeFileSync(part, `#!/bin/sh\nexec ${joinWords(argv)} "$@"\n`);
    chmodSync(part, 0o755);
    renameSync(part, join(folder, name));
  }
  return folder;
}

/** Returns true if a lock is that of Yarn 1. */
export function isClassic(file: string): boolean {
  return !/^__metadata:/m.test(readTextFile(file) ?? '');
}

/** The words that start a program of npm: its script on the Node of Bench, if it is one. */
function onOwnNode(name: string): string[] {
  const path = findProgram(name);
  const script = path === undefined ? '' : realpathSync(path);
  return /\.[cm]?js$/.test(script) ? [process.execPath, script] : [path ?? name];
}

/** The command that starts pnpm: the one that runs this script, else one that is fetched. */
export async function pnpmCommand(
  path = process.env['npm_execpath'] ?? '',
  cache = HOME.cache,
): Promise<string[]> {
  if (!/^pn(pm)?\b/.test(basename(path))) return provideProgram(PNPM_12, cache);
  return /\.[cm]?js$/.test(path) ? [process.execPath, path] : [path];
}

/** The pnpm that reads a lock: version 9 changed its form. */
async function pnpmFor(file: string, cache: string): Promise<string[]> {
  const [, version = '9.0'] = /^lockfileVersion:\s*'?([\d.]+)/m.exec(readTextFile(file) ?? '') ?? [];
  if (Number(version) < 9) return provideProgram(PNPM_8, cache);
  // The version that a project names in its manifest may not be published for this one to fetch.
  return ['env', 'pnpm_config_pm_on_fail=ignore', ...(await pnpmCommand())];
}
