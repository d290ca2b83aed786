import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The one folder outside of results/ that a run may have, by the token that proves it to be its own. */
export function scratchOf(token: string): string {
  return join(tmpdir(), `bench-scratch-${token}`);
}
