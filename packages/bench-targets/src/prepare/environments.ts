/** Environments and copies of projects in the cache. Each is made once: it is complete, or absent. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { awaitLock } from 'bench-machine/filelock';
import { HOME } from 'bench-machine/home';
import type { Stack } from 'bench-model/stack';
import type { ResolvedRuntime } from 'bench-model/target';

/** Marks a complete folder, and holds what its maker returned. */
const READY = 'bench-ready';

/** Returns the folder of an environment: one for each stack, runtime and digest of everything that decides its content. */
export function folderOf({ name }: Stack, { version }: ResolvedRuntime, digest: string): string {
  return join(HOME.cache, 'environments', `${name}-${version}-${digest}`);
}

/** Returns true if a folder is complete. */
export function isComplete(folder: string): boolean {
  return existsSync(join(folder, READY));
}

/** Returns the day on which a folder was made, as 2026-11-26. */
export function dayOf(folder: string): string {
  return statSync(join(folder, READY)).mtime.toISOString().slice(0, 10);
}

/**
 * Makes a folder unless it is complete, and returns what its maker returned, now or earlier. A failure leaves nothing behind.
 * `log` says if another process is making it.
 */
export async function provideFolder<Made>(
  folder: string,
  make: () => Promise<Made>,
  log?: (waiting: string) => void,
): Promise<Made> {
  if (!isComplete(folder)) {
    using _ = await awaitLock(`${folder}.lock`, log);
    if (!isComplete(folder)) await fill(folder, make);
  }
  const text = readFileSync(join(folder, READY), 'utf8');
  return (text === '' ? undefined : JSON.parse(text)) as Made;
}

async function fill(folder: string, make: () => Promise<unknown>): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  try {
    writeFileSync(join(folder, READY), JSON.stringify(await make()) ?? '');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
