/** What targets and runtimes still need before they can be measured. Builds and fetches nothing. */
import { HOME } from 'bench-machine/home';
import { BenchError } from 'bench-model/errors';
import type { RuntimeSpec, Target } from 'bench-model/target';
import type { Stack } from 'bench-model/stack';
import { sum } from 'bench-statistics/numbers';
import { findStack } from '../catalogue/found.ts';
import { newerRelease } from '../catalogue/releases.ts';
import { buildsOf } from './builds.ts';
import { inspectProgram } from './projects/programs.ts';
import { hasEnvironment } from './projects/venv.ts';
import { findFitting, findRuntime, NotInstalledError } from './runtimes.ts';
import { findUv } from './uv.ts';

/** One thing to fetch or to build. The seconds are those of a cold build on a virtual machine with two cores. */
export interface Work {
  kind: 'tool' | 'environment' | 'build';
  name: string;
  /** The tool that makes it, e.g. `cargo 1.90.0`. */
  by: string;
  seconds: number;
}

/** The state of a target here: `ready`, made `on first use`, or `missing`, and why. */
export interface Inspected {
  state: 'ready' | 'on first use' | 'missing';
  why: string;
  /** Everything that is not available yet. Empty if it cannot be made. */
  work: Work[];
}

const SECONDS = { uv: 10, interpreter: 15, environment: 3 };
/** Build times of a compiled stack with all its dependencies, by tool. */
const BUILD_SECONDS = new Map(Object.entries({ cargo: 120, go: 45, dotnet: 45 }));
const OTHER_BUILD_SECONDS = 30;

/** Inspects a target: its runtime, its environment and its build. */
export async function inspectTarget(target: Target, stacks: Stack[]): Promise<Inspected> {
  const known = findStack(target, stacks);
  const { stack, variant } = known;
  const { runtime } = target;
  try {
    if (runtime === undefined) {
      const { isMade: isBuilt, tools } = await inspectProgram(known);
      const why = tools.join(', ');
      if (isBuilt) return { state: 'ready', why, work: [] };
      const [tool = ''] = buildsOf(stack, variant)[0] ?? [];
      const seconds = BUILD_SECONDS.get(tool) ?? OTHER_BUILD_SECONDS;
      return { state: 'on first use', why, work: [{ kind: 'build', name: stack.name, by: why, seconds }] };
    }
    const uv = runtime.kind === 'python' ? await findUv(HOME.cache) : undefined;
    const found = await findFitting(stack, runtime, { mayInstall: false });
    const why = `${found.runtime.kind} ${found.runtime.version}`;
    if (runtime.kind !== 'python' || hasEnvironment(known, found)) return { state: 'ready', why, work: [] };
    const groups = variant.groups.length === 0 ? '' : ` (${variant.groups.join(' + ')})`;
    const name = `${stack.name}${groups}`;
    const environment: Work = { kind: 'environment', name, by: 'uv', seconds: SECONDS.environment };
    if (uv !== undefined) return { state: 'on first use', why, work: [environment] };
    return { state: 'on first use', why: `${why}, uv through pip`, work: [UV, environment] };
  } catch (error) {
    // What a stack refuses is not fetched.
    const work: Work[] =
      runtime?.kind === 'python' && error instanceof NotInstalledError
        ? [{ kind: 'tool', name: `Python ${runtime.spec}`, by: 'uv', seconds: SECONDS.interpreter }]
        : [];
    return { state: 'missing', why: describeMissing(error), work };
  }
}

const UV: Work = { kind: 'tool', name: 'uv', by: 'pip', seconds: SECONDS.uv };

/** Inspects a runtime: `ready` or `missing`, with its version and a newer release of its line, or the reason. */
export async function inspectRuntime(
  spec: RuntimeSpec,
): Promise<{ state: 'ready' | 'missing'; why: string }> {
  try {
    const { runtime } = await findRuntime(spec, { mayInstall: false });
    const program = spec.spec === 'bun' || spec.spec === 'deno' ? spec.spec : runtime.kind;
    const newer = program === 'none' ? undefined : newerRelease(program, runtime.version);
    const known = newer === undefined ? '' : `; ${newer} is out`;
    return { state: 'ready', why: `${program} ${runtime.version}${known}` };
  } catch (error) {
    return { state: 'missing', why: describeMissing(error) };
  }
}

/** Describes what is missing and how to get it. Rethrows any other error. */
function describeMissing(error: unknown): string {
  if (!(error instanceof BenchError)) throw error;
  return `${error.message} (${error.hint})`;
}

/** Lists everything that the targets still need, each thing once. Omits what cannot be made; preparing reports it. */
export async function surveyWork(targets: readonly Target[], stacks: Stack[]): Promise<Work[]> {
  const found: Work[] = [];
  for (const target of targets) found.push(...(await inspectTarget(target, stacks)).work);
  return [...new Map(found.map((work) => [`${work.kind} ${work.name}`, work])).values()];
}

/** Describes the work in one line per tool, below its total duration. Empty if there is nothing to do. */
export function describeWork(work: readonly Work[]): string[] {
  if (work.length === 0) return [];
  const byTool = Map.groupBy(work, ({ by }) => by);
  return [
    `To build first, once: about ${aboutTime(sum(work.map((one) => one.seconds)))}.`,
    ...[...byTool].map(([tool, made]) => `  with ${tool}: ${made.map(({ name }) => name).join(', ')}`),
  ];
}

function aboutTime(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds / 10) * 10} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
