import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { ToolchainError, UsageError } from 'bench-model/errors';
import type { Attestation, ResolvedRuntime, RuntimeKind, RuntimeSpec } from 'bench-model/target';
import type { Stack } from 'bench-model/stack';
import { isPythonHere } from './pyenv.ts';
import { FREE_FROM, newestFirst, USUAL_LINES } from './releases.ts';

/** The line of the Node that runs Bench. */
export const OWN_NODE = String(process.versions.node.split('.')[0]);

/**
 * Returns the runtime of a target for which nothing else is named or pinned. Node is fetched only on Linux; elsewhere it is the
 * one that runs Bench, unless nvm or fnm has the usual line.
 */
export function usualRuntime(kind: 'python' | 'node'): string {
  if (kind === 'python') return USUAL_LINES.python.find(isPythonHere) ?? USUAL_LINES.python[0];
  const [line] = USUAL_LINES.node;
  return process.platform === 'linux' || findNodes(line).length > 0 ? line : OWN_NODE;
}

/** Returns the Nodes of a line that nvm and fnm keep, oldest first. */
export function findNodes(line: string): string[] {
  const folders = `${homedir()}/.{nvm/versions/node,local/share/fnm/node-versions}`;
  return globSync(`${folders}/v${line}.*/{bin,installation/bin}/node`).toSorted();
}

/** The documented runtimes. Any other is found as well when a target names it. */
export const RUNTIMES: RuntimeSpec[] = [
  ...newestFirst('python')
    .toReversed()
    .flatMap((line) => (Number(line.split('.')[1]) < FREE_FROM ? [line] : [line, `${line}t`]))
    .map((spec) => ({ kind: 'python' as const, spec })),
  ...[...newestFirst('node').filter(runsTypeScript).toReversed(), 'bun', 'deno'].map((spec) => ({
    kind: 'node' as const,
    spec,
  })),
];

/** Returns true for a Node that runs TypeScript itself, as the built-in servers need it: 22.18 or newer. */
export function runsTypeScript(version: string): boolean {
  const [major = 0, minor = Infinity] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** A parsed runtime specifier, e.g. `3.14t+jit{PYTHON_GIL=0}`. */
interface ParsedRuntime {
  /** A version, `bun`, `deno`, or the path of an executable. */
  base: string;
  jit: boolean;
  env: Record<string, string>;
}

const SPECIFIER = /^(?<base>[^{}+]+?)(?<jit>\+jit)?(?:\{(?<env>[^{}]*)\})?$/;

/** Parses a runtime specifier. Throws a usage error if it is not valid for this kind. */
export function parseRuntime({ kind, spec }: RuntimeSpec): ParsedRuntime {
  const { base, jit, env } = SPECIFIER.exec(spec)?.groups ?? {};
  const pattern = kind === 'python' ? /^(\d+(\.\d+){1,2}t?|.*\/.*)$/ : /^(\d+(\.\d+){0,2}|bun|deno|.*\/.*)$/;
  if (base === undefined || (kind === 'node' && jit !== undefined) || !pattern.test(base))
    throw new UsageError(`@${spec} is not a ${kind} runtime`, EXAMPLES[kind]);
  const switches = (env ?? '').split(',').filter(Boolean);
  const read = switches.map((text) => {
    const [, name, value = ''] = /^(\w+)=(.*)$/.exec(text.trim()) ?? [];
    if (name !== undefined) return [name, value] as const;
    throw new UsageError(`@${spec}: unknown switch "${text}"`, 'write {NAME=value}, e.g. {PYTHON_GIL=0}');
  });
  return { base, jit: jit !== undefined, env: Object.fromEntries(read) };
}

/** Reads a runtime as it is typed: a specifier, or `name=/path/of/an/executable`. */
export function readRuntime(kind: RuntimeKind, text: string): RuntimeSpec {
  const [, name, spec = text] = /^([\w.+-]+(?:\{[^{}]*\})?)=(.*\/.*)$/.exec(text) ?? [];
  return { kind, spec, ...(name === undefined ? {} : { name }) };
}

const EXAMPLES: Record<RuntimeKind, string> = {
  python:
    'e.g. @3.13, @3.14t, @3.14+jit, @3.14{PYTHON_GIL=0}, @/opt/mine/bin/python, @mine=/opt/mine/bin/python',
  node: 'e.g. @22, @24, @26, @bun, @deno, @/opt/mine/bin/node, @mine=/opt/mine/bin/node',
  none: 'omit it: a binary has no runtime',
};

/** Returns the environment variables of a runtime. They always switch the JIT on or off explicitly. */
export function environmentOfRuntime(spec: RuntimeSpec): Record<string, string> {
  const { jit, env } = parseRuntime(spec);
  return spec.kind === 'python' ? { PYTHON_JIT: jit ? '1' : '0', ...env } : env;
}

/** Returns the attestation that proves that a process runs on this runtime. The build decides for one that is given by path. */
export function claimsOfRuntime(spec: RuntimeSpec | ResolvedRuntime): Attestation {
  if (spec.kind !== 'python') return {};
  const { base, jit, env } = parseRuntime(spec);
  const isFreeBuild =
    base.includes('/') && 'build' in spec ? spec.build['freethreaded'] === 'true' : /^[\d.]+t$/.test(base);
  const isFree = isFreeBuild && env['PYTHON_GIL'] !== '1';
  return { jit, ...(isFree ? { gil: false } : {}) };
}

/** Throws a toolchain error if a stack does not support this runtime. The hint names one that it supports. */
export function refuseUnfit({ name, runtimes }: Stack, { kind, version }: ResolvedRuntime): void {
  const [first] = runtimes;
  if (first === undefined || runtimes.some((one) => version === one || version.startsWith(`${one}.`))) return;
  throw new ToolchainError(
    `${name} runs on ${kind} ${runtimes.join(', ')}, not on ${version}`,
    `${name}@${first}`,
  );
}
