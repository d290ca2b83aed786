/** Runs that scale servers: one worker of one thread on one core, against more workers or more threads on more cores. */
import { takesThreads } from 'bench-targets/catalogue/stacks';
import type { Stack } from 'bench-model/stack';
import { UsageError } from 'bench-model/errors';
import { present, type BenchOptions } from 'bench-model/options';
import type { Scale, Target } from 'bench-model/target';
import type { Plan } from 'bench-model/plan';
import { nameSize } from 'bench-model/planned';

/** Returns the sizes to measure in ascending order: every speed-up refers to one core, so that is one of them. */
function sizesOf(sizes: readonly number[]): number[] {
  return [...new Set([1, ...sizes])].toSorted((a, b) => a - b);
}

/**
 * Returns each target in every size: with that many workers of one thread, and, if its threads can be chosen, with one worker
 * of that many threads. Both get as many cores.
 */
export function scaleTargets(
  targets: readonly Target[],
  scale: readonly number[],
  stacks: readonly Stack[],
): Target[] {
  const sizes = sizesOf(scale);
  return targets.flatMap((target) => {
    const hasThreads = takesThreads(target, stacks);
    const of = nameScaled(target, { workers: 1 });
    const scaled = (size: Pick<Scale, 'workers' | 'threads'>, cores: number): Target => ({
      ...target,
      id: nameScaled(target, size),
      scale: { of, ...size, cores },
    });
    const single = hasThreads ? { threads: 1 } : {};
    return sizes.flatMap((size) => [
      ...(size > 1 && hasThreads ? [scaled({ workers: 1, threads: size }, size)] : []),
      scaled({ workers: size, ...single }, size),
    ]);
  });
}

function nameScaled({ id }: Target, scale: Pick<Scale, 'workers' | 'threads'>): string {
  return `${id} (${nameSize(scale)})`;
}

/** Returns the plan of one target: that of the run, with the resources of its server if it has its own. */
export function planOf(plan: Plan, { scale }: Target): Plan {
  if (scale === undefined) return plan;
  const { threads: _, ...rest } = plan;
  const { workers, threads, cores } = scale;
  return { ...rest, workers, cores, ...(threads !== undefined && { threads }) };
}

/** Throws a usage error for a size that this machine cannot hold. */
function refuseSizes(sizes: readonly number[], machineCores: number): void {
  const tooLarge = sizes.filter((size) => size > machineCores);
  if (tooLarge.length === 0) return;
  const fitting = sizes.filter((size) => size <= machineCores);
  const cores = machineCores === 1 ? '1 core' : `${machineCores} cores`;
  throw new UsageError(
    `this machine has ${cores}; --scale ${tooLarge.join(',')} is not possible`,
    machineCores === 1
      ? 'scaling needs a machine with more cores'
      : `--scale ${[...new Set([...fitting, ...(fitting.length > 1 ? [] : [machineCores])])].join(',')}`,
  );
}

/**
 * Returns the cores of the largest server of a run, and its generators: of a scaled run, one for each of these cores, as far as
 * cores are left. Throws a usage error if the machine lacks cores.
 */
export function resourcesFor(options: BenchOptions): Pick<Plan, 'generators' | 'cores'> {
  const { scale, machineCores = Infinity, generators = 1, cores } = options;
  if (scale === undefined) return { generators, ...present({ cores }) };
  const sizes = sizesOf(scale);
  refuseSizes(sizes, machineCores);
  const largest = Math.max(...sizes);
  return { generators: Math.max(1, Math.min(largest, machineCores - largest)), cores: largest };
}
