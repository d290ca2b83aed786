/** py-spy, a sampling profiler of Python: a program in a wheel of PyPI. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolchainError } from 'bench-model/errors';
import { HOME } from 'bench-machine/home';
import { run } from 'bench-machine/subprocess';
import { provideFolder } from '../prepare/environments.ts';
import { lastLine } from '../prepare/failures.ts';
import { PY_SPY, requirementOf } from '../prepare/pins.ts';
import { unreachedError } from '../prepare/unreached.ts';
import { provideUv } from '../prepare/uv.ts';

/** Returns the path of py-spy, and installs it into the cache if it is missing. Throws a toolchain error if that fails. */
export async function providePySpy(python: string, log: (line: string) => void): Promise<string> {
  const folder = join(HOME.cache, 'tools', `py-spy-${PY_SPY.version}`);
  await provideFolder(folder, () => install(folder, python), log);
  return join(folder, 'bin', 'py-spy');
}

async function install(folder: string, python: string): Promise<void> {
  const uv = await provideUv(HOME.cache);
  const lock = join(folder, 'requirements.txt');
  mkdirSync(folder);
  writeFileSync(lock, requirementOf(PY_SPY));
  const words = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '--python', python];
  try {
    await run([uv, 'pip', 'install', '--target', folder, ...words, '-r', lock], { timeoutMs: 120_000 });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw (
      unreachedError('uv', stderr) ??
      new ToolchainError(`py-spy cannot be installed: ${lastLine(stderr)}`, 'see what uv says')
    );
  }
}
