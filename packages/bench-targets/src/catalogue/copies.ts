/** Copies of a user's project: commits, the working tree, other folders. Each target is measured in every copy. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { BenchError } from 'bench-model/errors';
import type { Copy, Target } from 'bench-model/target';
import { toStack } from './apps/app.ts';
import type { App } from 'bench-model/app';
import { readManifest } from './manifest.ts';
import { labelOf } from './copy-label.ts';
import type { Stack } from 'bench-model/stack';

/**
 * Returns every target in every copy. Throws a usage error for a stack of Bench: only the project of a user has copies.
 */
export function spreadCopies(targets: Target[], copies: readonly Copy[], stacks: readonly Stack[]): Target[] {
  if (copies.length === 0) return targets;
  const flag = copies.some(({ kind }) => kind === 'folder') ? '--copy' : '--rev';
  return targets.flatMap((target) => {
    const stack = stacks.find(({ name }) => name === target.stack);
    if (stack?.project === undefined) {
      throw new BenchError(
        'usage',
        `${flag} is for your own service, and ${target.stack} is a stack of Bench`,
        'name the service with --app and --run; for a stack of Bench, name the folder of a checkout: --with ./folder',
      );
    }
    return copies.map((copy): Target => ({ ...target, id: `${target.id}[${labelOf(copy)}]`, copy }));
  });
}

/** A stack in a copy of its project. */
interface StackInCopy {
  stack: Stack;
  /** True if the copy has no manifest, so that the current one describes it too. */
  usesCurrentManifest: boolean;
}

/**
 * Returns a stack as it is in a copy, whose folder for it is `root`. The app of a user keeps its command; otherwise the
 * manifest of the copy applies, or the current one if the copy has none. Throws a usage error if the folder does not
 * exist there or the manifest is not valid.
 */
export function readInCopy(stack: Stack, app: App | undefined, copy: Copy, root: string): StackInCopy {
  if (!existsSync(root)) {
    throw new BenchError(
      'usage',
      `${labelOf(copy)} has no folder ${basename(root)}, where ${stack.name} is`,
      copy.kind === 'folder' ? 'name the folder of the project' : 'name a commit that has the service',
    );
  }
  const mark = { name: stack.name, copy: copy.name, original: stack.root };
  if (app !== undefined) {
    return { stack: { ...toStack({ ...app, folder: root }), ...mark }, usesCurrentManifest: false };
  }
  const own = join(root, basename(stack.manifest));
  const usesCurrentManifest = !existsSync(own);
  const found = usesCurrentManifest ? readManifest(resolve(stack.manifest), root) : readManifest(own);
  return { stack: { ...found, ...mark }, usesCurrentManifest };
}
