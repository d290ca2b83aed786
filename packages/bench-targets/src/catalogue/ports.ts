/** Servers whose sources name their port. */
import { HOME } from 'bench-machine/home';
import { findProgram } from 'bench-machine/path';

/** The C compiler that makes what moves a port. */
export const COMPILER = 'cc';

/** True if this machine can move the port of a dynamically linked program. */
export function canMovePorts(): boolean {
  // LD_PRELOAD separates its paths by blanks and colons.
  return process.platform === 'linux' && !/[\s:]/.test(HOME.cache) && findProgram(COMPILER) !== undefined;
}
