/** The names of interpreters that are given by path: tables show versions, not the folders of this machine. */
import { homedir } from 'node:os';
import { BenchError, UsageError } from 'bench-model/errors';
import type { BenchOptions } from 'bench-model/options';
import type { RuntimeKind } from 'bench-model/target';
import { parseRuntime, readRuntime } from '../catalogue/runtimes.ts';
import { findRuntime } from './runtimes.ts';

/**
 * Gives each interpreter that is named by path the name of its version, unless it has one: `/a/python` becomes `3.15.2=/a/python`,
 * a free-threaded build `3.15.2t=…`. A build whose JIT is on by default is asked for with it: `3.15.2+jit=/a/python+jit`. Throws a usage
 * error if two get the same name, and a toolchain error if one is no interpreter.
 */
export async function nameRuntimes<Options extends Pick<BenchOptions, 'targets' | 'matrix'>>(
  options: Options,
): Promise<Options> {
  const { python, node } = options.matrix;
  const targets = await Promise.all(options.targets.map(nameTarget));
  const named = {
    python: await Promise.all(python.map((text) => nameOne('python', text))),
    node: await Promise.all(node.map((text) => nameOne('node', text))),
  };
  const inTargets = targets.flatMap((target) => /@(.+)$/.exec(target)?.[1] ?? []);
  for (const specs of [inTargets, named.python, named.node]) refuseSameNames(specs);
  return { ...options, targets, matrix: { ...options.matrix, ...named } };
}

/** Names the interpreter of a target such as `fastapi@/a/python`. */
async function nameTarget(target: string): Promise<string> {
  const [, stack = '', text = ''] = /^([^@]+)@(.*)$/.exec(target) ?? [];
  if (!text.includes('/')) return target;
  const naming = nameOne('python', text).catch(() => nameOne('node', text));
  const named = await naming.catch((error: unknown) => {
    if (!(error instanceof BenchError)) throw error;
    throw new BenchError(error.code, `${target}: ${error.message}`, error.hint);
  });
  return `${stack}@${named}`;
}

/** Names an interpreter that is given by path. Any other stays as it is. */
async function nameOne(kind: RuntimeKind, text: string): Promise<string> {
  const { name, spec: given } = readRuntime(kind, text);
  const spec = given.replace(/^~(?=\/)/, homedir());
  const { base, jit, env } = parseRuntime({ kind, spec });
  if (!base.includes('/')) return text;
  const { runtime } = await findRuntime({ kind, spec }, { mayInstall: false, isAnyNode: true });
  const isOn = runtime.build['jit'] === 'on by default' && env['PYTHON_JIT'] === undefined;
  const wanted = isOn && !jit ? spec.replace(/(?=\{|$)/, '+jit') : spec;
  const { version, build } = runtime;
  const isFree = build['freethreaded'] === 'true';
  return `${name ?? `${version}${isFree ? 't' : ''}${wanted.slice(base.length)}`}=${wanted}`;
}

function refuseSameNames(texts: readonly string[]): void {
  const paths = new Map<string, string>();
  for (const text of new Set(texts)) {
    const { name = text, spec } = readRuntime('python', text);
    const other = paths.get(name);
    paths.set(name, spec);
    if (other === undefined) continue;
    const message = `two interpreters are called ${name}: ${other} and ${spec}`;
    throw new UsageError(message, `name them, e.g. old=${other},new=${spec}`);
  }
}
