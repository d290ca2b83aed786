import { HOME } from 'bench-machine/home';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { folderOf, scaffold, type Language } from '../../../../scripts/new-stack/scaffold.ts';
import type { Stack } from 'bench-model/stack';
import { ROOT } from 'bench-targets/catalogue/stacks';

/** Rust has a template, too, but a separate workspace would compile all crates again. */
const GENERATED: Language[] = ['typescript', 'python', 'go'];

/** Beside the environments, so that an environment is made only once. */
const PLACE = join(HOME.cache, 'generated');

/** Writes stacks as `pnpm new stack` does, in folders outside the workspace, and returns them. */
export function generateStacks(): Stack[] {
  rmSync(PLACE, { recursive: true, force: true });
  for (const shared of ['packages/gocontract', 'python/contract']) {
    cpSync(join(ROOT, shared), join(PLACE, shared), { recursive: true });
  }
  return GENERATED.map((language) => {
    const name = `new-${language}`;
    const folder = join(PLACE, folderOf({ name, language }));
    for (const { path, text } of scaffold(PLACE, { name, language, packages: [] }, []).files)
      write(join(PLACE, path), text);
    if (language === 'typescript') linkContract(folder);
    if (language === 'python') write(join(folder, 'requirements.txt'), lockOfUvicorn());
    return readManifest(join(folder, 'stack.json'));
  });
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Does what `pnpm install` does in the workspace. */
function linkContract(folder: string): void {
  mkdirSync(join(folder, 'node_modules', '@bench'), { recursive: true });
  symlinkSync(join(ROOT, 'packages/contract'), join(folder, 'node_modules', '@bench', 'contract'));
}

/** Returns the lock that `python/lock.sh` makes of the same dependencies. */
function lockOfUvicorn(): string {
  const locks = ['requirements', 'requirements-uvloop', 'requirements-httptools'];
  return locks.map((lock) => readFileSync(join(ROOT, 'python/uvicorn', `${lock}.txt`), 'utf8')).join('');
}
