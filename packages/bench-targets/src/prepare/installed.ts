/** The Pythons on this machine. */
import { HOME } from 'bench-machine/home';
import { run } from 'bench-machine/subprocess';
import type { Interpreter } from 'bench-model/target';
import { askPython, describePython, makerOf } from './interpreters.ts';
import { interpretersOf, pathWithoutShims } from '../catalogue/pyenv.ts';
import { provideUv } from './uv.ts';

/** A Python on this machine. */
export interface InstalledPython {
  path: string;
  /** Its whole version, e.g. `3.14.2`, and that of its line, with a `t` if it has no GIL: `3.14t`. */
  version: string;
  line: string;
  hasJit: boolean;
  maker?: string;
  interpreter: Interpreter;
}

/** Lists the CPythons that uv and pyenv keep, and those on PATH. One that does not answer is left out. */
export async function listPythons(): Promise<InstalledPython[]> {
  const uv = await provideUv(HOME.cache);
  const env = { ...process.env, PATH: pathWithoutShims() };
  const words = [uv, 'python', 'list', '--only-installed', '--output-format', 'json'];
  const listed = await run(words, { env }).then(
    ({ stdout }) => (JSON.parse(stdout) as { path: string }[]).map(({ path }) => path),
    () => [],
  );
  const found = new Map<string, InstalledPython>();
  for (const path of [...listed, ...interpretersOf('3')]) {
    const said = await askPython(path).catch(() => undefined);
    if (said === undefined || said.implementation !== 'CPython' || found.has(said.executable)) continue;
    const { executable, version, isFreeThreaded, hasJit } = said;
    const line = `${version.split('.').slice(0, 2).join('.')}${isFreeThreaded ? 't' : ''}`;
    const maker = makerOf(said);
    found.set(executable, {
      path: executable,
      version,
      line,
      hasJit,
      interpreter: describePython(said),
      ...(maker === undefined ? {} : { maker }),
    });
  }
  return [...found.values()];
}
