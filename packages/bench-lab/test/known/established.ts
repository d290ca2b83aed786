import { parseAddress, readText } from 'bench-machine/procfs';

const ESTABLISHED = '01';

/** A connection to a port of this machine, as the end that opened it. */
export interface Opened {
  /** Its own address. */
  source: string;
  inode: string;
}

/** Returns the established connections to an IPv4 port of this machine, each once; empty where `/proc` has no table. */
export function listConnectionsTo(port: number): Opened[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const opened = new Map<string, Opened>();
  // The kernel may repeat or leave out rows of a table that changes while it is read.
  for (let reads = 0; reads < 3; reads++) {
    for (const line of (readText('/proc/net/tcp') ?? '').split('\n')) {
      const [, local = '', remote = '', state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state !== ESTABLISHED || !remote.endsWith(suffix)) continue;
      opened.set(local, { source: parseAddress(local.split(':')[0] ?? ''), inode });
    }
  }
  return [...opened.values()];
}
