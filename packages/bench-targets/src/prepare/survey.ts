/** A survey of everything to fetch and build before targets can be measured, with a rough duration. */

import { HOME } from 'bench-machine/home';
import { BenchError } from 'bench-model/errors';
import { refuseUnfit } from '../catalogue/runtimes.ts';
import type { Stack } from 'bench-model/stack';
import type { Target } from 'bench-model/target';
import { inspectBuild, isCompiled } from './builds.ts';
import { findStack, isMade, type FoundStack } from './prepare.ts';
import { findRuntime, type FoundRuntime } from './runtimes.ts';
import { findUv } from './uv.ts';
import { sum } from 'bench-statistics/numbers';

/** One thing to build. The seconds are those of a cold build on a virtual machine with two cores. */
export interface Work {
  kind: 'tool' | 'environment' | 'build';
  name: string;
  /** The tool that builds it, e.g. `cargo 1.90.0`. */
  by: string;
  seconds: number;
}

const UV_SECONDS = 10;
const INTERPRETER_SECONDS = 15;
const ENVIRONMENT_SECONDS = 3;
/** Build times of a compiled stack with all its dependencies, by tool. */
const BUILD_SECONDS: Record<string, number> = { cargo: 120, go: 45, dotnet: 45 };
const OTHER_BUILD_SECONDS = 30;

/**
 * Lists everything that is not yet available, each thing once. Omits things that cannot be built; preparing reports
 * them. Fetches nothing.
 */
export async function surveyWork(targets: readonly Target[], stacks: Stack[]): Promise<Work[]> {
  const found: Work[] = [];
  for (const target of targets) found.push(...(await surveyTarget(target, stacks)));
  return [...new Map(found.map((work) => [`${work.kind} ${work.name}`, work])).values()];
}

async function surveyTarget(target: Target, stacks: Stack[]): Promise<Work[]> {
  const known = findStack(target, stacks);
  if (isCompiled(known)) return surveyBuild(target, known);
  if (target.runtime?.kind !== 'python') return [];
  const uv = await findUv(HOME.cache);
  const environment: Work = {
    kind: 'environment',
    name: nameEnvironment(known),
    by: 'uv',
    seconds: ENVIRONMENT_SECONDS,
  };
  const tool: Work[] = uv === undefined ? [{ kind: 'tool', name: 'uv', by: 'pip', seconds: UV_SECONDS }] : [];
  try {
    const search = { cache: HOME.cache, uv, mayInstall: false };
    const found = await findRuntime(target.runtime, search);
    refuseUnfit(known.stack, found.runtime);
    return isLockedAndUnmade(target, known, found) ? [...tool, environment] : [];
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    const interpreter = `Python ${target.runtime.spec}`;
    return [
      ...tool,
      { kind: 'tool', name: interpreter, by: 'uv', seconds: INTERPRETER_SECONDS },
      environment,
    ];
  }
}

/**
 * Returns a name such as `fastapi (uvicorn + aiohttp)`: variants with the same dependency groups share an
 * environment.
 */
function nameEnvironment({ stack, variant: { groups } }: FoundStack): string {
  return groups.length === 0 ? stack.name : `${stack.name} (${groups.join(' + ')})`;
}

/** Also false if a lock is missing; preparing reports that. */
function isLockedAndUnmade(target: Target, known: FoundStack, found: FoundRuntime): boolean {
  try {
    return !isMade(target, known, found);
  } catch (error) {
    if (error instanceof BenchError) return false;
    throw error;
  }
}

async function surveyBuild(
  { stack: name, variant: of }: Target,
  { stack, variant }: ReturnType<typeof findStack>,
): Promise<Work[]> {
  try {
    const { isMade: isBuilt, tools } = await inspectBuild({ stack, variant, name: of }, HOME.cache);
    if (isBuilt) return [];
    const [tool = ''] = stack.build[0] ?? variant.build[0] ?? [];
    return [{ kind: 'build', name, by: tools, seconds: BUILD_SECONDS[tool] ?? OTHER_BUILD_SECONDS }];
  } catch (error) {
    if (error instanceof BenchError) return [];
    throw error;
  }
}

/** Describes the work in one line per kind, below its total duration. Empty if there is nothing to do. */
export function describeWork(work: readonly Work[]): string[] {
  if (work.length === 0) return [];
  const seconds = sum(work.map((one) => one.seconds));
  const namesOf = (kind: Work['kind']): string[] =>
    work.filter((one) => one.kind === kind).map(({ name }) => name);
  const builds = Map.groupBy(
    work.filter(({ kind }) => kind === 'build'),
    ({ by }) => by,
  );
  const lines = [
    ...labelled('tools', namesOf('tool')),
    ...labelled('Python environments', namesOf('environment')),
    ...[...builds].flatMap(([by, made]) =>
      labelled(
        `builds with ${by}`,
        made.map(({ name }) => name),
      ),
    ),
  ];
  return [`To build first, once: about ${aboutTime(seconds)}.`, ...lines];
}

function labelled(label: string, names: string[]): string[] {
  return names.length === 0 ? [] : [`  ${label}: ${names.join(', ')}`];
}

function aboutTime(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds / 10) * 10} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
