/** The names of functions in programs of Go that were built without symbols, as by `go run` and `-ldflags "-s -w"`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { findOnPath, run } from 'bench-machine/subprocess';

/** Every program of Go contains these bytes (debug/buildinfo). */
const MAGIC = Buffer.from('\u{FF} Go buildinf:', 'latin1');
/** A segment of a program that is loaded, and one that is executed. */
const PT_LOAD = 1;
const PF_X = 1;

/**
 * Names what has no name in the output of `perf script -F ip,sym,dso`, by the table of lines that each program of Go holds. What
 * is not in it, and everything if go is not on PATH, stays nameless. `file` is the path of a draft.
 */
export async function nameGo(text: string, file: string): Promise<string> {
  const go = findOnPath('go');
  const nameless = [...text.matchAll(/^\s+([0-9a-f]+) \[unknown\] \((\/[^()]+)\)$/gm)];
  let named = text;
  for (const [program, calls] of Map.groupBy(nameless, ([, , path = '']) => path)) {
    const loaded = go === undefined ? undefined : loadedAt(program);
    if (go === undefined || loaded === undefined) continue;
    const offsets = [...new Set(calls.map(([, offset = '']) => offset))];
    const addresses = offsets.map((offset) => (Number.parseInt(offset, 16) + loaded).toString(16));
    const found = await namesIn(go, program, addresses, file);
    const names = new Map(offsets.map((offset, index) => [offset, found[index]]));
    named = named.replaceAll(/^(\s+)([0-9a-f]+) \[unknown\] (\(.+\))$/gm, (line, space, offset, where) => {
      const name = where === `(${program})` ? names.get(offset) : undefined;
      return name === undefined ? line : `${space}${offset} ${name} ${where}`;
    });
  }
  return named;
}

/**
 * Returns the address of the code of a program of Go less its offset in the file: perf prints offsets of what has no name. Undefined
 * for other programs. Reads the program headers of ELF (elf(5)), little-endian with 64 bits.
 */
function loadedAt(program: string): number | undefined {
  let elf: Buffer;
  try {
    elf = readFileSync(program);
  } catch {
    return undefined;
  }
  if (!elf.includes(MAGIC)) return undefined;
  const [first, bytes, count] = [Number(elf.readBigUInt64LE(32)), elf.readUInt16LE(54), elf.readUInt16LE(56)];
  const headers = Array.from({ length: count }, (_, index) => elf.subarray(first + index * bytes));
  const code = headers.find((header) => header.readUInt32LE(0) === PT_LOAD && header.readUInt32LE(4) & PF_X);
  return code && Number(code.readBigUInt64LE(16) - code.readBigUInt64LE(8));
}

/** Asks addr2line of Go, which prints two lines for each address: the function, or ?, and its place. */
async function namesIn(
  go: string,
  program: string,
  addresses: readonly string[],
  file: string,
): Promise<(string | undefined)[]> {
  writeFileSync(file, addresses.join('\n'));
  const asked = await run(['sh', '-c', 'exec "$0" tool addr2line "$1" < "$2"', go, program, file]).catch(
    () => {
      return { stdout: '' };
    },
  );
  const lines = asked.stdout.split('\n');
  return addresses.map((_, index) => lines[2 * index]).map((name) => (name === '?' ? undefined : name));
}
