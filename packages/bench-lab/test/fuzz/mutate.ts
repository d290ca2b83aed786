/** Inputs near to right ones: a document with some of its values replaced, removed or added, or its text spoilt. */
import * as fc from 'fast-check';
import { expect } from 'vitest';

/** The inputs of each kind; a full run sets it, e.g. to 10000. */
const RUNS = Number(process.env['BENCH_FUZZ'] ?? 60);
/** The longest time for one input, in ms. A pause of a busy machine is shorter. */
const MOST_MS = 20_000;
const IS_FULL = process.env['BENCH_FUZZ'] !== undefined;
/** The inputs of a short run are the same each time. A full run takes others. */
const SEED = IS_FULL ? {} : { seed: 40 };

/** Values that parsers and formulas trip over. */
const ODD: unknown[] = [
  null,
  true,
  '',
  ' ',
  'a b',
  '\u0000',
  '\uD800',
  '__proto__',
  'constructor',
  '../../../etc/passwd',
  '{port}',
  '{',
  '@x',
  '$(id)',
  '%',
  'http://',
  '99999999999999999999',
  '1e999',
  'x'.repeat(5000),
  '\u001B[31m',
  '<script>',
  0,
  -1,
  -0.5,
  1e-9,
  1e21,
  Number.MAX_SAFE_INTEGER,
  [],
  {},
  [[]],
  [null],
  { '': 0 },
  ['a', 'a'],
];

interface Mutation {
  at: number;
  how: 'replace' | 'remove' | 'add' | 'repeat';
  value: unknown;
  key: string;
}

const value: fc.Arbitrary<unknown> = fc.oneof(fc.constantFrom(...ODD), fc.jsonValue({ maxDepth: 2 }));
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  how: fc.constantFrom('replace', 'replace', 'remove', 'add', 'repeat'),
  value,
  key: fc.constantFrom('__proto__', 'toString', '', 'x', 'schema', 'name', '0'),
});

/** A place in a document: a value in an object or a list. */
type Place = [parent: Record<string, unknown> | unknown[], key: string];

function placesIn(document: unknown): Place[] {
  if (!(document instanceof Object)) return [];
  const parent = document as Record<string, unknown>;
  return Object.keys(parent).flatMap((key): Place[] => [[parent, key], ...placesIn(parent[key])]);
}

/** Returns a copy of a document with these mutations. */
function mutate(document: unknown, mutations: readonly Mutation[]): unknown {
  const root = { root: structuredClone(document) };
  for (const { at, how, value: given, key } of mutations) {
    // Added to itself, it would be no JSON.
    const odd = structuredClone(given);
    const places = placesIn(root);
    const place = places[at % places.length];
    if (place === undefined) break;
    const [parent, name] = place as [Record<string, unknown>, string];
    const old = parent[name];
    if (how === 'replace') parent[name] = odd;
    else if (how === 'remove' && parent !== root) delete parent[name];
    else if (how === 'add' && old instanceof Object) define(old, key, odd);
    else if (Array.isArray(old)) old.push(...structuredClone(old));
  }
  return root.root;
}

/** Sets a field as a parser does, whatever its name. */
function define(object: object, key: string, odd: unknown): void {
  Object.defineProperty(object, key, { value: odd, enumerable: true, configurable: true, writable: true });
}

/** Documents near to one of these. */
export function documentsLike(samples: readonly unknown[]): fc.Arbitrary<unknown> {
  const near = fc
    .tuple(fc.constantFrom(...samples), fc.array(mutation, { minLength: 1, maxLength: 4 }))
    .map(([sample, mutations]) => mutate(sample, mutations));
  return fc.oneof({ weight: 9, arbitrary: near }, { weight: 1, arbitrary: value });
}

/** Texts near to one of these: cut, joined or with other characters in them. */
export function textsLike(samples: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom(
      '\n',
      '\r\n',
      '\t',
      '"',
      "'",
      '{',
      '}',
      '[',
      ']',
      ':',
      '=',
      ',',
      '#',
      '\\',
      '0',
      '-',
      '&a',
      '*a',
      '<<',
    ),
  );
  const near = fc
    .tuple(fc.constantFrom(...samples), fc.nat(), fc.nat(40), piece)
    .map(([text, at, length, odd]) => {
      const from = at % (text.length + 1);
      return text.slice(0, from) + odd + text.slice(from + length);
    });
  return fc.oneof({ weight: 9, arbitrary: near }, { weight: 1, arbitrary: fc.string({ unit: 'binary' }) });
}

/**
 * Takes the inputs that were found to fail, and many others. Fails with the smallest input for which `take` fails, and the seed that gives it again. A full run prints its
 * slowest input and the memory.
 */
export async function takeMany<T>(
  inputs: fc.Arbitrary<T>,
  take: (input: T) => unknown,
  { runs = RUNS, found = [] }: { runs?: number | undefined; found?: readonly T[] } = {},
): Promise<void> {
  let slowestMs = 0;
  const property = fc.asyncProperty(inputs, async (input) => {
    const beganMs = performance.now();
    await take(input);
    slowestMs = Math.max(slowestMs, performance.now() - beganMs);
  });
  const examples = found.map((input): [T] => [input]);
  await fc.assert(property, { numRuns: runs, timeout: MOST_MS, examples, ...SEED });
  if (!IS_FULL) return;
  const mebibytes = process.memoryUsage.rss() / 2 ** 20;
  const what = expect.getState().currentTestName;
  console.log(`${what}: ${runs} inputs, slowest ${slowestMs.toFixed(0)} ms, ${mebibytes.toFixed(0)} MiB`);
}
