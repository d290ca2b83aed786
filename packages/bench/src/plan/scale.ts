/** Runs that scale servers: one worker of one thread on one core, against more workers or more threads on more cores. */
import { takesThreads } from 'bench-targets/catalogue/stacks';
import type { Stack } from 'bench-model/stack';
import { UsageError } from 'bench-model/errors';
import type { Scale, Target } from 'bench-model/target';
import type { Plan } from 'bench-model/plan';
import { nameSize } from 'bench-model/planned';

/** Returns the sizes to measure in ascending order: every speed-up refers to one core, so that is one of them. */
export function sizesOf(sizes: readonly number[]): number[] {
  return [...new Set([1, ...sizes])].toSorted((a, b) => a - b);
}

/**
 * Returns each target in every size: with that many workers of one thread, and, if its threads can be chosen, with one worker
 * of that many threads. Both get as many cores.
 */
export function scaleTargets(
  targets: readonly Target[],
  sizes: readonly number[],
  stacks: readonly Stack[],
): Target[] {
  return targets.flatMap((target) => {
    const hasThreads = takesThreads(target, stacks);
    const of = nameScaled(target, { workers: 1 });
    const scaled = (scale: Pick<Scale, 'workers' | 'threads'>, cores: number): Target => ({
      ...target,
      id: nameScaled(target, scale),
      scale: { of, ...scale, cores },
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
export function refuseSizes(sizes: readonly number[], machineCores: number): void {
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

/** Returns the default number of generators of a scaled run: one for each core of the largest server, as far as cores are left. */
export function generatorsFor(sizes: readonly number[], machineCores: number): number {
  const largest = Math.max(...sizes);
  return Math.max(1, Math.min(largest, machineCores - largest));
}
