/** The stack of a target, in the copy that it is measured in. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from 'bench-model/errors';
import type { Stack, Variant } from 'bench-model/stack';
import type { Target } from 'bench-model/target';
import { readManifest } from './manifest.ts';
import { isCopyOf, packagesOf } from './packages.ts';

/** A target with its stack and its variant. */
export interface FoundTarget {
  target: Target;
  stack: Stack;
  variant: Variant;
}

/**
 * Returns a target with its stack. If the folder of `--with` is a copy of the stack, it is the stack in that copy, whose own
 * manifest applies if it has one. Throws a usage error if the stack or the variant does not exist there.
 */
export function findStack(target: Target, stacks: Stack[]): FoundTarget {
  const stack = stacks.find(({ name, copy }) => name === target.stack && copy === target.copy?.name);
  const variant = stack?.variants[target.variant];
  if (stack === undefined || variant === undefined)
    throw new UsageError(`the stack of ${target.id} no longer exists`);
  const root = packagesOf(target).find((one) => isCopyOf(one, stack))?.folder;
  if (root === undefined) return { target, stack, variant };
  const original = stack.root;
  if (!existsSync(join(root, 'stack.json'))) return { target, stack: { ...stack, root, original }, variant };
  const own = readManifest(join(root, 'stack.json'));
  const found = own.variants[target.variant];
  if (found !== undefined) return { target, stack: { ...own, name: stack.name, original }, variant: found };
  throw new UsageError(
    `${own.manifest} has no variant "${target.variant}"`,
    `add it, as in ${stack.manifest}`,
  );
}
