import type { RequestSpec, RouteSpec } from './protocol.ts';

/** The requests of a route that are sent once: built before the load, in one buffer, which costs the load nothing. */
export class Packed {
  /** The place of the responses of the route among the shapes: each request has only one response. */
  readonly shape: number;
  readonly #first: number;
  readonly #bytes: Buffer;
  /** The end of each request. */
  readonly #ends: Float64Array;

  constructor(
    requests: readonly RequestSpec[],
    { first, count }: Pick<RouteSpec, 'first' | 'count'>,
    shape: number,
    build: (request: RequestSpec) => Buffer,
  ) {
    this.shape = shape;
    this.#first = first;
    const pieces = requests.slice(first, first + count).map(build);
    this.#ends = new Float64Array(pieces.length);
    let end = 0;
    for (const [index, { length }] of pieces.entries()) this.#ends[index] = end += length;
    this.#bytes = Buffer.concat(pieces, end);
  }

  /** Returns true if a request is of this route. */
  holds(request: number): boolean {
    return request >= this.#first && request < this.#first + this.#ends.length;
  }

  /** Returns the bytes of a request. */
  take(request: number): Buffer {
    const index = request - this.#first;
    return this.#bytes.subarray(index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
  }
}
