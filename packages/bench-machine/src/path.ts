/** Programs on PATH. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The folders of PATH. */
export function foldersOnPath(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}

/** Returns the path of the first program of this name in these folders; undefined if there is none. */
export function findProgram(name: string, folders: readonly string[] = foldersOnPath()): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** True for a file that may be run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
