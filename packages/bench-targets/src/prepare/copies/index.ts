/** The copies of a user's project that a plan measures, as folders. Disposing removes what was laid out. */
import { existsSync, lstatSync, realpathSync, rmSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { App } from 'bench-model/app';
import { readInCopy } from '../../catalogue/copies.ts';
import { labelOf } from '../../catalogue/copy-label.ts';
import type { Stack } from 'bench-model/stack';
import { UsageError } from 'bench-model/errors';
import type { Copy, Target } from 'bench-model/target';
import { digestOf } from '../digest.ts';
import { sourcesOf } from '../projects/sources.ts';
import { digestOfFiles, holdsSettings } from '../projects/tree.ts';
import { findRepository, folderOf, layOut } from './revisions.ts';

/** The stacks of the copies. */
export interface PlacedCopies extends Disposable {
  stacks: Stack[];
}

/** The sources of the copies. */
interface CopiesSpec {
  targets: readonly Target[];
  stacks: readonly Stack[];
  apps: readonly App[];
  /** The folder for revisions that are laid out. */
  cache: string;
  log: (line: string) => void;
}

/**
 * Lays out the revisions that targets are measured in, and reads their stacks in every copy. `log` takes what the user
 * must know. Throws a usage error if a copy does not exist or does not hold the stack.
 */
export async function placeCopies({ targets, stacks, apps, cache, log }: CopiesSpec): Promise<PlacedCopies> {
  const made = new Set<string>();
  const dispose = (): void => {
    for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const placed: Stack[] = [];
    for (const { copy, stack, app } of pairsOf(targets, stacks, apps)) {
      const root = await rootOf(copy, stack, { cache, made, log });
      const found = readInCopy(stack, app, copy, root);
      if (found.usesCurrentManifest === true)
        log(`${labelOf(copy)} has no ${stack.manifest}: the current one is used for it`);
      placed.push(found.stack);
    }
    for (const line of describeOdd(placed.filter(({ original }) => original !== undefined)))
      log(`warning: ${line}`);
    return { stacks: placed, [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

/** Returns each copy with each stack that is measured in it, once. */
function pairsOf(targets: readonly Target[], stacks: readonly Stack[], apps: readonly App[]) {
  const pairs = targets.flatMap(({ copy, stack: name }) => {
    const stack = stacks.find((one) => one.name === name);
    const app = apps.find((one) => one.name === name);
    return copy === undefined || stack === undefined ? [] : [{ copy, stack, app }];
  });
  return new Map(pairs.map((pair) => [`${pair.copy.name}\n${pair.stack.name}`, pair])).values();
}

/** Returns the folder of a stack in a copy. Lays a revision out unless that has been done. */
async function rootOf(
  copy: Copy,
  { root, name }: Stack,
  { cache, made, log }: Pick<CopiesSpec, 'cache' | 'log'> & { made: Set<string> },
): Promise<string> {
  if (copy.kind === 'setting') return root;
  if (copy.kind === 'folder') return resolve(copy.name);
  const top = await findRepository(root);
  // The names of all copies have the same length: that of a path can change the pace of a program.
  const own = join(folderOf(cache, top), digestOf([], `${copy.kind} ${copy.commit ?? ''}`));
  // Some servers write beside their project: each copy has a folder above it for itself.
  const folder = join(own, basename(top));
  if (!made.has(own)) {
    made.add(own);
    rmSync(own, { recursive: true, force: true });
    log(`copying the files of ${labelOf(copy)}`);
    const { linked, copied } = await layOut(copy, top, folder);
    if (linked.length > 0) log(`${labelOf(copy)} uses ${linked.join(', ')} of your checkout`);
    if (copied.length > 0) log(`${labelOf(copy)} has a copy of ${copied.join(', ')} of your checkout`);
  }
  const inside = relative(realpathSync(top), realpathSync(root));
  if (!inside.startsWith('..')) return refuseOutside(join(folder, inside), own, copy);
  throw new UsageError(`${name} is not in the repository ${top}`);
}

/** Returns a folder in the copy of a revision. Throws a usage error if a link leads out of that: builds and setups write there. */
function refuseOutside(root: string, own: string, copy: Copy): string {
  if (!existsSync(root) || relative(realpathSync(own), realpathSync(root)).split(sep)[0] !== '..')
    return root;
  throw new UsageError(
    `${labelOf(copy)} has a link at ${relative(own, root)}, which leads out of the repository, to ${realpathSync(root)}`,
    'compare commits in which it is a folder, or two checkouts: ./old ./new',
  );
}

/** Returns the digest of the files of a copy. Settings that are no links to those of the checkout are part of the revision. */
function digestOfCopy(stack: Stack): string {
  const sources = sourcesOf(stack);
  const settings = sources.filter(
    (file) => holdsSettings(basename(file)) && !lstatSync(file).isSymbolicLink(),
  );
  return digestOfFiles(stack.root, sources, digestOf(settings, ''));
}

/** Describes copies whose figures differ by noise alone, or by more than their code. */
function describeOdd(stacks: readonly Stack[]): string[] {
  const digests = new Map(stacks.map((stack) => [stack, digestOfCopy(stack)]));
  return stacks.flatMap((stack, index) => {
    const { copy, name, surroundings } = stack;
    const before = stacks.slice(0, index).filter((one) => one.name === name);
    const same = before.find((one) => digests.get(one) === digests.get(stack));
    const [first] = before;
    const lines: string[] = [];
    if (same !== undefined)
      lines.push(
        `${same.copy} and ${copy} hold the same files of ${name}: only noise makes their figures differ`,
      );
    if (first !== undefined && !isDeepStrictEqual(surroundings, first.surroundings))
      lines.push(
        `${first.copy} and ${copy} of ${name} declare different services or setups: their figures differ by these too`,
      );
    return lines;
  });
}
