/** The names of functions in programs of Go that were built without symbols, as by `go run` and `-ldflags "-s -w"`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { findOnPath, run } from 'bench-machine/subprocess';

/** Every program of Go contains these bytes (debug/buildinfo). */
const MAGIC = Buffer.from('\u{FF} Go buildinf:', 'latin1');

/**
 * Names what has no name in the output of `perf script -F ip,sym,dso`, by the table of lines that each program of Go holds. What
 * is not in it, and everything if go is not on PATH, stays nameless. `file` is the path of a draft.
 */
export async function nameGo(text: string, file: string): Promise<string> {
  const go = findOnPath('go');
  const nameless = [...text.matchAll(/^\s+([0-9a-f]+) \[unknown\] \((\/[^()]+)\)$/gm)];
  let named = text;
  for (const [program, calls] of Map.groupBy(nameless, ([, , path = '']) => path)) {
    if (go === undefined || !isGo(program)) continue;
    const names = await namesIn(go, program, new Set(calls.map(([, address = '']) => address)), file);
    named = named.replaceAll(/^(\s+)([0-9a-f]+) \[unknown\] (\(.+\))$/gm, (line, space, address, where) => {
      const name = where === `(${program})` ? names.get(address) : undefined;
      return name === undefined ? line : `${space}${address} ${name} ${where}`;
    });
  }
  return named;
}

function isGo(program: string): boolean {
  try {
    return readFileSync(program).includes(MAGIC);
  } catch {
    return false;
  }
}

/** Asks addr2line of Go, which prints two lines for each address: the function, or ?, and its place. */
async function namesIn(
  go: string,
  program: string,
  addresses: ReadonlySet<string>,
  file: string,
): Promise<Map<string, string>> {
  writeFileSync(file, [...addresses].join('\n'));
  const asked = await run(['sh', '-c', 'exec "$0" tool addr2line "$1" < "$2"', go, program, file]).catch(
    () => {
      return { stdout: '' };
    },
  );
  const lines = asked.stdout.split('\n');
  const names = [...addresses].map((address, index) => [address, lines[2 * index] ?? '?'] as const);
  return new Map(names.filter(([, name]) => name !== '?' && name !== ''));
}
