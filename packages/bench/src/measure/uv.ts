import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BenchError } from '../errors.ts';

const run = promisify(execFile);

/**
 * The path of uv: from PATH, else from the cache folder, else put there through `python3 -m pip`.
 * Throws a toolchain error when none of these works.
 */
export async function findUv(cache: string): Promise<string> {
  const own = join(cache, 'uv', 'bin', 'uv');
  if (await answers('uv')) return 'uv';
  if (existsSync(own) && (await answers(own))) return own;
  try {
    await run('python3', ['-m', 'pip', 'install', '--quiet', '--upgrade', '--target', join(cache, 'uv'), 'uv'], { timeout: 300_000 });
  } catch (error) {
    const why = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error);
    throw new BenchError('toolchain', `uv is not on PATH and python3 -m pip could not install it: ${why}`, 'install uv, then run this again');
  }
  return own;
}

async function answers(uv: string): Promise<boolean> {
  return run(uv, ['--version']).then(
    () => true,
    () => false,
  );
}
