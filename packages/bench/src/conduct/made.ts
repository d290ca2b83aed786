/** The versions and the sources that a target runs, in words. They are printed before its first trial. */
import type { ResolvedRuntime } from 'bench-model/target';
import type { Prepared } from 'bench-targets/prepare/prepare';

/** Describes what a server is made from: its runtime, its packages, its sources. */
export function describeMade({ runtime, origin, installed, digest }: Prepared): string {
  return [
    ...(runtime === undefined ? [] : [describeRuntime(runtime)]),
    ...(origin === undefined ? [] : [origin]),
    ...installed,
    `sources ${digest}`,
  ].join(', ');
}

function describeRuntime({ kind, spec, version, build }: ResolvedRuntime): string {
  const name = kind === 'python' ? build['implementation'] : ['bun', 'deno'].includes(spec) ? spec : 'Node';
  return `${name} ${version}`;
}
