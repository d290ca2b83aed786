/** uv, which makes the environments of Python. */
import { tryRun } from 'bench-machine/subprocess';
import { findBehindShim } from '../catalogue/pyenv.ts';
import { isComplete } from './environments.ts';
import { UV } from './pins.ts';
import { folderOfWheel, programOfWheel, provideWheel } from './wheels.ts';

/** The uv of each PATH. */
const onPath = new Map<string, Promise<string | undefined>>();

/** Returns the path of uv, on PATH or in the cache folder; undefined if it is in neither. */
export async function findUv(cache: string): Promise<string | undefined> {
  const path = process.env['PATH'] ?? '';
  const asking = onPath.get(path) ?? askPath();
  onPath.set(path, asking);
  return (await asking) ?? (isComplete(folderOfWheel(cache, UV)) ? programOfWheel(cache, UV) : undefined);
}

async function askPath(): Promise<string | undefined> {
  const uv = await findBehindShim('uv');
  return (await tryRun([uv, '--version'])) === undefined ? undefined : uv;
}

/** Returns the path of uv, and installs the pinned one into the cache folder if it is missing. Throws a toolchain error if that fails. */
export async function provideUv(cache: string): Promise<string> {
  return (await findUv(cache)) ?? provideWheel(cache, UV, ['python3', '-m', 'pip', 'install']);
}
