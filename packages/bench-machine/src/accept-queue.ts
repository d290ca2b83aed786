import { closeSync, openSync, readSync } from 'node:fs';

/** The tables of the kernel. Both list listening sockets first. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTEN = '0A';
/** The read size: a few lines, because the kernel searches its whole table to fill a larger one. */
const READ_BYTES = 1024;

/** The accept queues of the listeners on one local port: connections that the server has not accepted yet. */
export class AcceptQueue implements Disposable {
  readonly #files: number[];
  readonly #suffix: string;
  readonly #bytes = Buffer.alloc(READ_BYTES);

  constructor(port: number) {
    this.#suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    this.#files = TABLES.flatMap((table) => openIfPresent(table));
  }

  /** Returns the connections in the longest of the queues; undefined if nothing listens. */
  readWaiting(): number | undefined {
    const seen = this.#files.flatMap((file) => parseWaiting(this.#readListeners(file), this.#suffix));
    return seen.length === 0 ? undefined : Math.max(...seen);
  }

  /** Reads a table up to the first socket that does not listen. */
  #readListeners(file: number): string {
    let text = '';
    for (let at = 0; ;) {
      const read = readSync(file, this.#bytes, 0, READ_BYTES, at);
      at += read;
      text += this.#bytes.toString('latin1', 0, read);
      const last = text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1) ?? '';
      const isHead = last.trimStart().startsWith('sl');
      if (read === 0 || (!isHead && last.trim().split(/\s+/)[3] !== LISTEN)) return text;
    }
  }

  [Symbol.dispose](): void {
    for (const file of this.#files.splice(0)) closeSync(file);
  }
}

/** Parses the lengths of the accept queues of one port from `/proc/net/tcp` or `tcp6`; `suffix` is the port in hex. */
export function parseWaiting(table: string, suffix: string): number[] {
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    if (fields[3] !== LISTEN || fields[1]?.endsWith(suffix) !== true) return [];
    return Number.parseInt(fields[4]?.split(':')[1] ?? '', 16);
  });
}

function openIfPresent(path: string): number[] {
  try {
    return [openSync(path, 'r')];
  } catch {
    return [];
  }
}
