/** The stack of a target, in the copy of the project that it is measured in. */
import { UsageError } from 'bench-model/errors';
import type { Stack, Variant } from 'bench-model/stack';
import type { Target } from 'bench-model/target';

/** A target with its stack and its variant. */
export interface FoundTarget {
  target: Target;
  stack: Stack;
  variant: Variant;
}

/** Returns a target with its stack. Throws a usage error if the stack or the variant does not exist. */
export function findStack(target: Target, stacks: Stack[]): FoundTarget {
  const stack = stacks.find(({ name, copy }) => name === target.stack && copy === target.copy?.name);
  const variant = stack?.variants[target.variant];
  if (stack !== undefined && variant !== undefined) return { target, stack, variant };
  throw new UsageError(`the stack of ${target.id} no longer exists`);
}
