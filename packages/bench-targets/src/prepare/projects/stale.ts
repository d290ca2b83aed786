/** Programs in a project that are older than their sources. Bench cannot know whether the user has built them again. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { isFile } from 'bench-machine/files';
import { startsBuild } from '../../catalogue/apps/ways/node.ts';
import { filesOfProject } from './tree.ts';

/** The first bytes of ELF, Mach-O, .NET and jar files. */
const BINARY = /^(\x7fELF|\xcf\xfa\xed\xfe|MZ|PK)/;
const COMPILED = /(?<!_test)\.(go|rs|c|cc|cpp|h|hpp|zig|cs|fs|java|kt|scala|swift)$/;
const SCRIPT = /(?<![._](test|spec))\.[cm]?[jt]sx?$/;

/**
 * Returns a warning if a command starts a program of the project that is older than one of its sources; undefined otherwise. Only
 * for projects that Bench does not build.
 */
export function warnStale(root: string, command: readonly string[]): string | undefined {
  const isBuiltScript = startsBuild(root, command);
  const programs = command.flatMap((word) => {
    const path = resolve(root, word);
    const isScript = isBuiltScript && SCRIPT.test(word);
    return path.startsWith(root + sep) && (isScript || isBinary(path)) ? [{ path, isScript }] : [];
  });
  for (const { path, isScript } of programs) {
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs === undefined) continue;
    // The folder of a built script holds no sources.
    const [built = ''] = relative(root, path).split(sep);
    const newer = filesOfProject(root)
      .filter((file) =>
        isScript ? SCRIPT.test(file) && !file.startsWith(join(root, built, sep)) : COMPILED.test(file),
      )
      .find((file) => statSync(file).mtimeMs > mtimeMs);
    if (newer === undefined) continue;
    return `${relative(root, path)} is older than ${relative(root, newer)}, and Bench does not build it: build it again, or have bench-http init write a stack.json with "build"`;
  }
  return undefined;
}

function isBinary(path: string): boolean {
  if (!isFile(path)) return false;
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(4);
    readSync(file, start, 0, start.length, 0);
    return BINARY.test(start.toString('latin1'));
  } finally {
    closeSync(file);
  }
}
