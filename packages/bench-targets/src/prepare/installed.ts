/** The Pythons on this machine. */
import { HOME } from 'bench-machine/home';
import { tryRun } from 'bench-machine/subprocess';
import type { Interpreter } from 'bench-model/target';
import { askPython, describePython } from './interpreters.ts';
import { interpretersOf, pathWithoutShims } from '../catalogue/pyenv.ts';
import { provideUv } from './uv.ts';

/** A Python on this machine. */
export interface InstalledPython {
  path: string;
  /** The line of its version, with a `t` if it has no GIL: `3.14t`. */
  line: string;
  hasJit: boolean;
  interpreter: Interpreter;
}

/** Lists the CPythons that uv and pyenv keep, and those on PATH. One that does not answer is left out. */
export async function listPythons(): Promise<InstalledPython[]> {
  const uv = await provideUv(HOME.cache);
  const env = { ...process.env, PATH: pathWithoutShims() };
  const words = [uv, 'python', 'list', '--only-installed', '--output-format', 'json'];
  const listed = JSON.parse((await tryRun(words, { env })) ?? '[]') as { path: string }[];
  const found = new Map<string, InstalledPython>();
  for (const path of [...listed.map((one) => one.path), ...interpretersOf('3')]) {
    const said = await askPython(path).catch(() => undefined);
    if (said === undefined || said.implementation !== 'CPython' || found.has(said.executable)) continue;
    const { executable, version, isFreeThreaded, hasJit } = said;
    const line = `${version.split('.').slice(0, 2).join('.')}${isFreeThreaded ? 't' : ''}`;
    found.set(executable, { path: executable, line, hasJit, interpreter: describePython(said) });
  }
  return [...found.values()];
}
