import { existsSync, globSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ToolchainError } from 'bench-model/errors';
import { awaitLock } from 'bench-machine/filelock';
import { run, type SubprocessError } from 'bench-machine/subprocess';
import { findBehindShim } from '../catalogue/pyenv.ts';
import { lastLine } from './failures.ts';
import { requirementOf, UV } from './pins.ts';
import { unreachedError } from './unreached.ts';

/** The results by cache folder and PATH. */
const finds = new Map<string, Promise<string | undefined>>();

/** Returns the path of uv, on PATH or in the cache folder; undefined if it is in neither. */
export function findUv(cache: string): Promise<string | undefined> {
  const key = `${cache} ${process.env['PATH']}`;
  const finding = finds.get(key) ?? lookForUv(cache);
  finds.set(key, finding);
  return finding;
}

async function lookForUv(cache: string): Promise<string | undefined> {
  const onPath = await findBehindShim('uv');
  if (await answers(onPath)) return onPath;
  const own = ownUv(cache);
  return existsSync(own) && (await answers(own)) ? own : undefined;
}

/** Failures by cache folder: this process does not try again. */
const provided = new Map<string, Promise<string>>();

/**
 * Returns the path of uv, and installs the pinned one into the cache folder with `python3 -m pip` if it is missing. Throws a
 * toolchain error if that fails.
 */
export function provideUv(cache: string): Promise<string> {
  const providing = provided.get(cache) ?? fetchUv(cache);
  provided.set(cache, providing);
  return providing;
}

async function fetchUv(cache: string): Promise<string> {
  const found = await findUv(cache);
  if (found !== undefined) return found;
  using _ = await awaitLock(join(cache, 'uv.lock'));
  const made = await lookForUv(cache);
  if (made !== undefined) return made;
  try {
    const pinned = join(cache, 'uv.txt');
    writeFileSync(pinned, requirementOf(UV));
    const words = ['--quiet', '--upgrade', '--require-hashes', '--target', join(cache, 'uv')];
    // In the current folder, Python would take a pip.py for pip.
    const options = { cwd: cache, timeoutMs: 300_000 };
    await run(['python3', '-m', 'pip', 'install', ...words, '--requirement', pinned], options);
  } catch (error) {
    const { stderr = '', stdout = '' } = error as Partial<SubprocessError>;
    const said = lastLine(stderr.trim() === '' ? stdout : stderr);
    const why = unreachedError('pip', stderr)?.message ?? (said || (error as Error).message);
    throw new ToolchainError(
      `uv is not on PATH and python3 -m pip could not install it: ${why}`,
      'install uv, then run this again',
    );
  }
  return ownUv(cache);
}

function ownUv(cache: string): string {
  return join(cache, 'uv', 'bin', 'uv');
}

async function answers(uv: string): Promise<boolean> {
  return run([uv, '--version']).then(
    () => true,
    () => false,
  );
}

/** Returns the folder of the metadata of a distribution in a virtual environment; undefined if it is not installed. */
export function findDistribution(environment: string, name: string): string | undefined {
  const found = globSync('lib/python*/site-packages/*.dist-info', { cwd: environment }).find(
    (path) => normalise(/^.+(?=-[^-]+\.dist-info$)/.exec(basename(path))?.[0] ?? '') === normalise(name),
  );
  return found && join(environment, found);
}

/** Normalises a name: PyPI treats different spellings as equal (PEP 503). */
export function normalise(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}
