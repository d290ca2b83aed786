/** The names of copies in tables. */
import type { Copy } from 'bench-model/target';

/** The length of a short hash. */
const SHORT = 7;

/** Returns the name of a copy as tables print it: `main 89c6f5c`, `working tree of 89c6f5c` or `./a`. */
export function labelOf({ kind, name, commit = '' }: Copy): string {
  const hash = commit.slice(0, SHORT);
  if (kind === 'folder' || kind === 'setting') return name;
  if (kind === 'working-tree') return `working tree of ${hash}`;
  return commit.startsWith(name) ? hash : `${name} ${hash}`;
}
