import { BenchError } from '../errors.ts';
import type { Attestation, ResolvedRuntime, RuntimeKind, RuntimeSpec } from '../model.ts';
import type { Stack } from './stack.ts';

/** The runtime of a target that asks for none, by kind. */
export const DEFAULT_RUNTIMES: Record<RuntimeKind, string | undefined> = {
  node: String(process.versions.node.split('.')[0]),
  python: '3.13',
  none: undefined,
};

/** A runtime that `pnpm stacks` looks for. */
export interface KnownRuntime extends RuntimeSpec {
  /** Why nobody has measured on it yet. */
  unverified?: string;
}

const NO_FREE_THREADED = 'no free-threaded build was at hand';

/** The runtimes that the documentation names; others are found as well when they are asked for. */
export const RUNTIMES: KnownRuntime[] = [
  { kind: 'python', spec: '3.12' },
  { kind: 'python', spec: '3.13' },
  { kind: 'python', spec: '3.14' },
  { kind: 'python', spec: '3.14t', unverified: NO_FREE_THREADED },
  { kind: 'python', spec: '3.15' },
  { kind: 'python', spec: '3.15t', unverified: NO_FREE_THREADED },
  { kind: 'node', spec: '22' },
  { kind: 'node', spec: '24' },
  { kind: 'node', spec: '26' },
  { kind: 'node', spec: 'bun' },
  { kind: 'node', spec: 'deno' },
];

/** A runtime specifier taken apart: `3.14t+jit{PYTHON_GIL=0}`. */
export interface ParsedRuntime {
  /** A version, `bun`, `deno`, or the path of an executable. */
  base: string;
  jit: boolean;
  env: Record<string, string>;
}

const SPECIFIER = /^(?<base>[^{}+]+?)(?<jit>\+jit)?(?:\{(?<env>[^{}]*)\})?$/;

/**
 * Takes a runtime specifier apart. Throws a usage error for one that its kind cannot mean.
 */
export function parseRuntime({ kind, spec }: RuntimeSpec): ParsedRuntime {
  const { base, jit, env } = SPECIFIER.exec(spec)?.groups ?? {};
  if (base === undefined || (kind === 'node' && jit !== undefined)) {
    throw new BenchError('usage', `@${spec} is no ${kind} runtime`, EXAMPLES[kind]);
  }
  const pattern = kind === 'python' ? /^(\d+(\.\d+){1,2}t?|.*\/.*)$/ : /^(\d+(\.\d+){0,2}|bun|deno|.*\/.*)$/;
  if (!pattern.test(base)) throw new BenchError('usage', `@${spec} is no ${kind} runtime`, EXAMPLES[kind]);
  const switches = (env ?? '').split(',').filter(Boolean);
  return {
    base,
    jit: jit !== undefined,
    env: Object.fromEntries(
      switches.map((text) => {
        const [, name, value] = /^(\w+)=(.*)$/.exec(text.trim()) ?? [];
        if (name === undefined || value === undefined) {
          throw new BenchError(
            'usage',
            `@${spec}: "${text}" is no switch`,
            'write {NAME=value}, e.g. {PYTHON_GIL=0}',
          );
        }
        return [name, value] as const;
      }),
    ),
  };
}

const EXAMPLES: Record<RuntimeKind, string> = {
  python: 'e.g. @3.13, @3.14t, @3.14+jit, @3.14{PYTHON_GIL=0}, @/opt/mine/bin/python',
  node: 'e.g. @22, @24, @26, @bun, @deno, @/opt/mine/bin/node',
  none: 'a binary has no runtime',
};

/** The environment variables that a runtime is started with: the JIT is on or off by name, never by chance. */
export function environmentOfRuntime(spec: RuntimeSpec): Record<string, string> {
  const { jit, env } = parseRuntime(spec);
  return spec.kind === 'python' ? { PYTHON_JIT: jit ? '1' : '0', ...env } : env;
}

/** What the live process has to say of itself when it really runs on this runtime. */
export function claimsOfRuntime(spec: RuntimeSpec): Attestation {
  if (spec.kind !== 'python') return {};
  const { base, jit, env } = parseRuntime(spec);
  const isFree = /^[\d.]+t$/.test(base) && env['PYTHON_GIL'] !== '1';
  return { jit, ...(isFree ? { gil: false } : {}) };
}

/** Throws a toolchain error for a runtime that a stack does not run on, with one that it does. */
export function refuseUnfit({ name, runtimes }: Stack, { kind, version }: ResolvedRuntime): void {
  const [first] = runtimes;
  if (first === undefined || runtimes.some((one) => version === one || version.startsWith(`${one}.`))) return;
  throw new BenchError(
    'toolchain',
    `${name} runs on ${kind} ${runtimes.join(', ')}, not on ${version}`,
    `${name}@${first}`,
  );
}
