/** Memory that the process keeps is taken in pieces of this size, so that its sum is exact. */
const PIECE_BYTES = 2 ** 18;

/** The memory that a server keeps: a leak, a cache that fills, or garbage that a collector frees from time to time. */
export class Hoard {
  /** The bytes to keep so far, those that are too few for a piece included. */
  #owed = 0;
  #pieces: ArrayBuffer[] = [];
  readonly #mostBytes: number;
  readonly #isCollected: boolean;

  /** Keeps at most `mostBytes`; `isCollected` frees all of them then, otherwise they stay as they are. */
  constructor(mostBytes: number, isCollected: boolean) {
    this.#mostBytes = mostBytes;
    this.#isCollected = isCollected;
  }

  /** Keeps this many bytes more. */
  keep(bytes: number): void {
    this.#owed += bytes;
    while (this.#owed >= PIECE_BYTES) {
      this.#owed -= PIECE_BYTES;
      if ((this.#pieces.length + 1) * PIECE_BYTES > this.#mostBytes) {
        if (!this.#isCollected) continue;
        this.#free();
      }
      const piece = new ArrayBuffer(PIECE_BYTES);
      // The kernel provides a page only when it is written.
      new Uint8Array(piece).fill(0xb5);
      this.#pieces.push(piece);
    }
  }

  /** A transferred buffer is freed at once, without the collector of V8. */
  #free(): void {
    for (const piece of this.#pieces) piece.transfer(0);
    this.#pieces = [];
  }
}
