/** Servers whose sources name their port. */
import { findProgram } from 'bench-machine/path';

/** The C compiler that makes what moves a port. */
export const COMPILER = 'cc';

/** True if this machine can move the port of a dynamically linked program. */
export function canMovePorts(): boolean {
  return process.platform === 'linux' && findProgram(COMPILER) !== undefined;
}
