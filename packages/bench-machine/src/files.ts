/** What is at a path. Nothing is at a path that no system can have: texts of others name such paths, too. */
import { statSync, type Stats } from 'node:fs';

export function isFile(path: string): boolean {
  return look(path)?.isFile() ?? false;
}

export function isFolder(path: string): boolean {
  return look(path)?.isDirectory() ?? false;
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
