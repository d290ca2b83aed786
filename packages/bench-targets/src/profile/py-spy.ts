/** py-spy, a sampling profiler of Python: a program in a wheel of PyPI. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { HOME } from 'bench-machine/home';
import { run } from 'bench-machine/subprocess';
import { provideFolder } from '../prepare/environments.ts';
import { lastLine } from '../prepare/failures.ts';
import { unreachedError } from '../prepare/unreached.ts';
import { provideUv } from '../prepare/uv.ts';

export const PY_SPY_VERSION = '0.4.3';

/** The wheels of this version, one for each platform. */
const HASHES = [
  '65ac4319f8c20dcd1e2ea219935c6b4fd98179b0b7faf59181eae2680a85fad4',
  '7de40c2903602a7cca888c26cc5d37aed004a7fd07b5258d1a14356c00540974',
  '885d61020f763792e99cb3ad0788ae424b73cef45d5420ec9683f30e270b5d75',
  '89ccab893c89b65f8f45bd51f8173294eaeebefbfc4252345681de8048420437',
  '8a4277225f470d394a85cca0cdd944bef87f0097b6f20150a6dd3ac2e92806b8',
  'a21b6958bf1200ff225c4f360834a77f7e12556ac11dcd863e26c9345b468783',
  'b14e00fddd4bfb12628e5c04b7d22c6754ae4c31bdfad0728adbe091ed26445f',
  'b4e22d1fbc22bffa7d8e43c8b13daf47f56f14dbdbc813590093df81f0a971c6',
  'bbcec46930d464b3bfc142d6d02ade4dd8ad5627823263b3eff0280e80c7c132',
];

/** Returns the path of py-spy, and installs it into the cache if it is missing. Throws a toolchain error if that fails. */
export async function providePySpy(python: string, log: (line: string) => void): Promise<string> {
  const folder = join(HOME.cache, 'tools', `py-spy-${PY_SPY_VERSION}`);
  await provideFolder(folder, () => install(folder, python), log);
  return join(folder, 'bin', 'py-spy');
}

async function install(folder: string, python: string): Promise<void> {
  const uv = await provideUv(HOME.cache);
  const lock = join(folder, 'requirements.txt');
  const pin = [`py-spy==${PY_SPY_VERSION}`, ...HASHES.map((hash) => `--hash=sha256:${hash}`)].join(
    ' \\\n    ',
  );
  mkdirSync(folder);
  writeFileSync(lock, `${pin}\n`);
  const words = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '--python', python];
  try {
    await run([uv, 'pip', 'install', '--target', folder, ...words, '-r', lock], { timeoutMs: 120_000 });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw (
      unreachedError('uv', stderr) ??
      new BenchError('toolchain', `py-spy cannot be installed: ${lastLine(stderr)}`, 'see what uv says')
    );
  }
}
