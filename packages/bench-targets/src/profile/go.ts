/** The lines of functions in programs of Go, and their names if they were built without symbols, as by `go run` and `-ldflags "-s -w"`. */
import { writeFileSync } from 'node:fs';
import { readBytes } from 'bench-machine/files';
import type { Waited } from 'bench-model/why';
import { findProgram } from 'bench-machine/path';
import { tryRun } from 'bench-machine/subprocess';

/** Every program of Go contains these bytes (debug/buildinfo). */
const MAGIC = Buffer.from('\u{FF} Go buildinf:', 'latin1');
/** A segment of a program that is loaded, and one that is executed. */
const PT_LOAD = 1;
const PF_X = 1;

/**
 * Names what has no name in the output of `perf script -F ip,sym,dso`, and puts file and line behind each frame, by the table of lines
 * that each program of Go holds. What is not in it, and everything if go is not on PATH, stays as it is. `file` is the path of a draft.
 */
export async function nameGo(text: string, file: string): Promise<string> {
  const go = findProgram('go');
  if (go === undefined) return text;
  const lines = text.split('\n');
  const calls = lines.flatMap((line, index): Call[] => {
    const [, ip = '', symbol = '', program = ''] = CALL.exec(line) ?? [];
    // The address of a caller is where it goes on, which may be its next line.
    const back = CALL.test(lines[index - 1] ?? '') ? 1 : 0;
    return program === '' ? [] : [{ index, at: Number.parseInt(ip, 16) - back, symbol, program }];
  });
  for (const [program, own] of Map.groupBy(calls, (call) => call.program)) {
    const loaded = loadedAt(program);
    if (loaded === undefined) continue;
    const addresses = [...new Set(own.flatMap(({ at }) => [at, at + loaded]))];
    writeFileSync(file, addresses.map((one) => one.toString(16)).join('\n'));
    // It prints two lines for each address: the function, or ?, and its place.
    const asked = await tryRun(['sh', '-c', 'exec "$0" tool addr2line "$1" < "$2"', go, program, file]);
    const printed = asked?.split('\n') ?? [];
    const places = new Map(addresses.map((one, index) => [one, printed.slice(2 * index, 2 * index + 2)]));
    // Of what has a name, some versions of perf print the offset as well.
    const named = (by: number): number =>
      own.filter(({ at, symbol }) => places.get(at + by)?.[0] === symbol).length;
    const shift = named(0) > named(loaded) ? 0 : loaded;
    for (const { index, at, symbol } of own) {
      const [name, place] = places.get(at + (symbol === UNKNOWN ? loaded : shift)) ?? [];
      if (name === undefined || name === '?') continue;
      lines[index] = `${lines[index]?.replace(UNKNOWN, () => name)} ${place}`;
    }
  }
  return lines.join('\n');
}

/** A line of `perf script`, with the path of a program. */
const CALL = /^\s+([0-9a-f]+) (.*) \((\/[^()]+)\)$/;
const UNKNOWN = '[unknown]';

/** A frame in the output of perf, and an address in it. */
type Call = Record<'index' | 'at', number> & Record<'symbol' | 'program', string>;

/**
 * Returns the address of the code of a program of Go less its offset in the file: perf prints offsets of what has no name. Undefined
 * for other programs. Reads the program headers of ELF (elf(5)), little-endian with 64 bits.
 */
function loadedAt(program: string): number | undefined {
  const elf = readBytes(program, Infinity);
  if (elf?.includes(MAGIC) !== true) return undefined;
  const [first, bytes, count] = [Number(elf.readBigUInt64LE(32)), elf.readUInt16LE(54), elf.readUInt16LE(56)];
  const headers = Array.from({ length: count }, (_, index) => elf.subarray(first + index * bytes));
  const code = headers.find((header) => header.readUInt32LE(0) === PT_LOAD && header.readUInt32LE(4) & PF_X);
  return code && Number(code.readBigUInt64LE(16) - code.readBigUInt64LE(8));
}

/** Returns true for a program of Go that holds code from below this folder. */
export function isOwnGo(program: string, root: string): boolean {
  const bytes = readBytes(program, Infinity);
  return bytes?.includes(MAGIC) === true && bytes.includes(`${root}/`);
}

/** What goroutines wait for, by their state and the functions that they have called (package runtime of Go). */
const KINDS: [of: RegExp, kind: Waited['for']][] = [
  [/^sleep/, 'a timer'],
  [/^sync\.(RW)?(Mutex|Cond)/, 'a lock'],
  [/^chan send $|^(chan|select).*\.(conn|\w*[aA]cquire\w*)( |$)/, 'a pool'],
  [/^(chan receive|select) $/, 'a channel'],
  [/^(IO wait|chan|select)/, 'I/O'],
];

/**
 * Parses the goroutines that programs of Go print at SIGQUIT: each in which a request waits, as 1 s. Those that wait for others of
 * their request, and those that the program began for itself, are left out.
 */
export function parseDump(dump: string, root: string): Waited[] {
  const isOwn = (file = ''): boolean => file.startsWith(`${root}/`) && !/\/(vendor|pkg\/mod)\//.test(file);
  const channels = [...dump.matchAll(new RegExp(RECEIVES, 'gm'))];
  return dump.split('\n\n').flatMap((block): Waited[] => {
    const [, id, state = ''] = /^goroutine (\d+) .*?\[([^\],]+)/m.exec(block) ?? [];
    const frames = [...block.matchAll(FRAME)];
    const at = frames.findIndex(([, name, , file]) => name !== undefined && isOwn(file));
    const [, , begunIn, begunAt] = frames.at(-1) ?? [];
    if (id === '1' || (begunIn === '1' && isOwn(begunAt)) || at < 0) return [];
    const called = frames.slice(0, at).flatMap(([, name = '']) => (name.startsWith('runtime.') ? [] : name));
    const kind = KINDS.find(([of]) => of.test(`${state} ${called.join(' ')}`))?.[1];
    const [channel] = RECEIVES.exec(block) ?? [];
    // Several that wait at one channel take what one of them needs.
    const isPool = kind === 'a channel' && channels.filter(([own]) => own === channel).length > 1;
    const [, name = '', , file = '', line] = frames[at] ?? [];
    const place = { file, name, line: Number(line), in: called.at(-1) ?? '', ms: 1000 };
    return kind === undefined ? [] : [{ ...place, for: isPool ? 'a pool' : kind }];
  });
}

/** A function and its place, or the goroutine that has begun this one. */
const FRAME = /^(?:(.+)\(.*\)|created by .+ in goroutine (\d+))\n\t(.+):(\d+)/gm;
/** The channel from which a goroutine receives. */
const RECEIVES = /^runtime\.chanrecv\(0x[0-9a-f]+/m;
