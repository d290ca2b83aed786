import { closeSync, openSync, readSync } from 'node:fs';
import { orUndefined } from 'bench-model/errors';
import { LISTEN, parseListening } from './procfs.ts';

/** The tables of the kernel. Both list listening sockets first. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** The read size: a few lines, because the kernel searches its whole table to fill a larger one. */
const READ_BYTES = 1024;

/** The accept queues of the listeners on one local port: connections that the server has not accepted yet. */
export class AcceptQueue implements Disposable {
  readonly #files: number[];
  readonly #port: number;
  readonly #bytes = Buffer.alloc(READ_BYTES);

  constructor(port: number) {
    this.#port = port;
    this.#files = TABLES.flatMap((table) => orUndefined(() => openSync(table, 'r')) ?? []);
  }

  /** Returns the connections in the longest of the queues; undefined if nothing listens. */
  readWaiting(): number | undefined {
    const seen = this.#files.flatMap((file) => parseListening(this.#readListeners(file), this.#port));
    return seen.length === 0 ? undefined : Math.max(...seen.map(({ waiting }) => waiting));
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
