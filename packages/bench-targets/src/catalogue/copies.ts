/** Copies of a user's project: commits, the working tree, other folders, other settings. Each target is measured in every copy. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { UsageError } from 'bench-model/errors';
import type { Copy, Target } from 'bench-model/target';
import { startOf, toStack } from './projects/app.ts';
import type { App } from 'bench-model/app';
import { readManifest } from './manifest.ts';
import { labelOf } from './copy-label.ts';
import type { Stack } from 'bench-model/stack';

/** Returns every target in every copy. Throws a usage error for a stack of Bench, which has no copies. */
export function spreadCopies(targets: Target[], copies: readonly Copy[], stacks: readonly Stack[]): Target[] {
  if (copies.length === 0) return targets;
  return targets.flatMap((target) => {
    const stack = stacks.find(({ name }) => name === target.stack);
    if (stack?.project === undefined)
      throw new UsageError(
        `${labelOf(copies[0] as Copy)} is a version of your own service, and ${target.stack} is a stack of Bench`,
        'omit one of them; for another version of a package: --with fastapi==0.115',
      );
    return copies.map((copy): Target => ({ ...target, id: `${target.id}[${labelOf(copy)}]`, copy }));
  });
}

/**
 * Returns a stack as it is in a copy, whose folder for it is `root`. The app of a user keeps its command; otherwise the
 * manifest of the copy applies, or the current one if the copy has none, which `usesCurrentManifest` tells. Throws a usage error if
 * the folder does not exist there or the manifest is not valid.
 */
export function readInCopy(
  stack: Stack,
  app: App | undefined,
  copy: Copy,
  root: string,
): { stack: Stack; usesCurrentManifest?: boolean } {
  if (copy.kind === 'setting') return { stack: applySetting(stack, copy) };
  if (!existsSync(root))
    throw new UsageError(
      `${labelOf(copy)} has no folder ${basename(root)}, where ${stack.name} is`,
      copy.kind === 'folder' ? 'name the folder of the project' : 'name a commit that has the service',
    );
  const mark = { name: stack.name, copy: copy.name, original: stack.root };
  if (app !== undefined) return { stack: { ...toStack({ ...app, folder: root }), ...mark } };
  const own = join(root, basename(stack.manifest));
  const usesCurrentManifest = !existsSync(own);
  const found = usesCurrentManifest ? readManifest(resolve(stack.manifest), root) : readManifest(own);
  return { stack: { ...found, ...mark }, usesCurrentManifest };
}

/** Returns a stack whose variants run with the command and the variables of a setting. */
function applySetting(stack: Stack, { name, command, env }: Copy): Stack {
  const own =
    command === undefined ? {} : { command: startOf({ words: command, env: {} }, stack.root).words };
  const variants = Object.entries(stack.variants).map(([id, variant]) => {
    return [id, { ...variant, ...own, env: { ...variant.env, ...env } }] as const;
  });
  return { ...stack, copy: name, variants: Object.fromEntries(variants) };
}
