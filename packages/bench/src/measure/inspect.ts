import { HOME } from 'bench-machine/home';
import type { KnownRuntime } from 'bench-targets/catalogue/runtimes';
import { BenchError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';
import type { Target } from 'bench-model/target';
import { inspectBuild, isCompiled } from 'bench-targets/prepare/builds';
import { findFitting, findStack, isMade, type FoundStack } from 'bench-targets/prepare/prepare';
import { findRuntime } from 'bench-targets/prepare/runtimes';
import { findUv } from 'bench-targets/prepare/uv';

/** Checks if a target can be launched: `ready`, made `on first use`, or `missing`, and why. Builds and fetches nothing. */
export async function inspectTarget(
  target: Target,
  stacks: Stack[],
): Promise<{ state: 'ready' | 'on first use' | 'missing'; why: string }> {
  const known = findStack(target, stacks);
  const isPython = known.stack.runtime === 'python';
  try {
    if (target.runtime === undefined) return await inspectBinary(target, known);
    const uv = isPython ? await findUv(HOME.cache) : undefined;
    const search = { cache: HOME.cache, uv, mayInstall: false };
    const found = await findFitting(known.stack, target.runtime, search);
    const name = `${found.runtime.kind} ${found.runtime.version}`;
    if (!isPython || isMade(target, known, found)) return { state: 'ready', why: name };
    return { state: 'on first use', why: `${name}${uv === undefined ? ', uv through pip' : ''}` };
  } catch (error) {
    return { state: 'missing', why: describeMissing(error) };
  }
}

async function inspectBinary(
  { variant: name }: Target,
  { stack, variant }: FoundStack,
): Promise<{ state: 'ready' | 'on first use'; why: string }> {
  if (!isCompiled({ stack, variant })) return { state: 'ready', why: '' };
  const build = await inspectBuild({ stack, variant, name }, HOME.cache);
  return { state: build.isMade ? 'ready' : 'on first use', why: build.tools };
}

/**
 * Checks if a runtime is `ready` or `missing`, with its version or the reason; `unverified` if Bench was never tested on
 * it. Fetches nothing.
 */
export async function inspectRuntime({
  unverified,
  ...spec
}: KnownRuntime): Promise<{ state: 'ready' | 'missing' | 'unverified'; why: string }> {
  const uv = spec.kind === 'python' ? await findUv(HOME.cache) : undefined;
  const seen = await findRuntime(spec, { cache: HOME.cache, uv, mayInstall: false }).then(
    ({ runtime: { kind, version } }) => ({ state: 'ready' as const, why: `${kind} ${version}` }),
    (error: unknown) => ({ state: 'missing' as const, why: describeMissing(error) }),
  );
  return unverified === undefined ? seen : { state: 'unverified', why: `${unverified}; ${seen.why}` };
}

/** Describes what is missing and how to get it. Rethrows any other error. */
function describeMissing(error: unknown): string {
  if (!(error instanceof BenchError)) throw error;
  return `${error.message} (${error.hint})`;
}
