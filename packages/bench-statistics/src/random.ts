/** Random numbers that a seed reproduces: records keep the seed of every order, coin and resample. */

const TWO_32 = 2 ** 32;

/** One stream of pseudo-random numbers; every method advances it. */
export interface Random {
  /** Uniform in [0, 1), 53 bits. */
  float(): number;
  /** Uniform integer in [0, n), without modulo bias; throws RangeError unless n is an integer from 1 to 2³². */
  below(n: number): number;
  /** True or false with equal chance. */
  coin(): boolean;
  /** Standard normal (Box & Muller 1958). */
  normal(): number;
  /** A shuffled copy (Fisher & Yates; Durstenfeld 1964). */
  shuffle<T>(items: readonly T[]): T[];
}

/**
 * The stream of `seed`, the same on every machine: sfc32 (Doty-Humphrey, PractRand), seeded with the 53 bits of
 * a safe integer of at least 0. Throws RangeError for any other seed.
 */
export function createRandom(seed: number): Random {
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new RangeError(`a seed must be a safe integer of at least 0, not ${seed}`);
  }
  const next = sfc32(seed);

  const float = (): number => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
  const below = (n: number): number => {
    if (!Number.isInteger(n) || n < 1 || n > TWO_32) {
      throw new RangeError(`cannot draw an integer below ${n}`);
    }
    const limit = TWO_32 - (TWO_32 % n);
    let drawn = next();
    while (drawn >= limit) drawn = next();
    return drawn % n;
  };

  return {
    float,
    below,
    coin: () => next() >= TWO_32 / 2,
    normal: () => Math.sqrt(-2 * Math.log(1 - float())) * Math.cos(2 * Math.PI * float()),
    shuffle: <T>(items: readonly T[]): T[] => {
      const shuffled = [...items];
      for (let last = shuffled.length - 1; last > 0; last--) {
        const other = below(last + 1);
        [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
      }
      return shuffled;
    },
  };
}

function sfc32(seed: number): () => number {
  let a = 0;
  let b = (seed % TWO_32) | 0;
  let c = Math.floor(seed / TWO_32) | 0;
  let counter = 1;
  const next = (): number => {
    const out = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + out;
    c |= 0;
    return out >>> 0;
  };
  // Fifteen steps spread the seed over the whole state, so that neighbouring seeds give unrelated streams.
  for (let step = 0; step < 15; step++) next();
  return next;
}
