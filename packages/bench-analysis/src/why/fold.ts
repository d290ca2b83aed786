/** From the output of profilers to stacks of functions whose names are alike on both sides of a comparison. */
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Frame, Hunk, Profiled, Sampled, Stack, WhyFile } from 'bench-model/why';
import { Versions, type Read } from './lines.ts';
import { foldV8 } from './v8.ts';

/** The name of a function of a binary that holds none. */
export const NAMELESS = 'native code';

/** The modules of what is no code of a package. */
const GARBAGE = 'garbage collection';
const KERNEL = 'kernel';
const NODE = 'node';
/** The modules that hold what a language brings with it; the last one is that of Go. */
export const RUNTIMES: readonly string[] = [NODE, 'python', 'runtime'];
/** The hooks that Bench loads into servers, by their paths and as a module. */
const HOOKS = /\/bench-targets\/src\/prepare\/hook\/[^/]+$/;
const HOOK = 'hook of Bench';

/** Folds the profiles of a server's processes, without what Bench itself does in them. `root` is the folder of its project. Throws SyntaxError for a profile that is cut. */
export function foldProfiles(profiles: readonly Profiled[], root: string, read: Read): Stack[] {
  return profiles
    .flatMap(({ format, text }) => FOLDERS[format](text, root, read))
    .filter(({ frames }) => frames.every(({ module }) => module !== HOOK));
}

const FOLDERS: Record<Profiled['format'], (text: string, root: string, read: Read) => Stack[]> = {
  collapsed: foldCollapsed,
  cpuprofile: (text, root, read) => foldV8(text, root, { frameOf: frameOfV8, read }),
  perf: foldPerf,
};

/** Folds lines of `outer (file:3);inner (file:4) 12`. */
function foldCollapsed(text: string, root: string): Stack[] {
  return text.split('\n').flatMap((line) => {
    const [, stack = '', count = ''] = /^(.*) (\d+)$/.exec(line) ?? [];
    const frames = stack.split(';').flatMap((one): Sampled[] => {
      const [, name = '', file = '', at] = /^(.*) \((.*?)(?::(\d+))?\)$/.exec(one) ?? [];
      if (name.startsWith('<GC>')) return [{ name: 'collector', file: 'python', module: GARBAGE }];
      return isPython(file)
        ? [withLine(locate(name.startsWith('0x') ? NAMELESS : name, file, root), at)]
        : [];
    });
    return frames.length === 0 ? [] : [{ frames: withoutStart(frames), samples: Number(count) }];
  });
}

function withLine(frame: Frame, line: string | undefined): Sampled {
  return frame.from === 'project' && line !== undefined ? { ...frame, line: Number(line) } : frame;
}

/** Code of a project that starts its server, around all that the server does, is not what answers. */
function withoutStart(frames: Sampled[]): Sampled[] {
  const begun = frames.findIndex(({ file, from }) => !file.startsWith('<') && from !== 'project');
  if (!frames.slice(0, Math.max(0, begun)).some(({ name }) => name === '<module>')) return frames;
  return frames.map((frame, index) => {
    const { line: _, from: __, ...rest } = frame;
    return index < begun ? rest : frame;
  });
}

/** Code of Python, of Cython and of extension modules. What the interpreter does inside belongs to the function that it runs. */
function isPython(file: string): boolean {
  return (
    /\.(pyx?|py[dc])$|^</.test(file) || /\.(cpython-|abi3)[^/]*\.so$/.test(file) || /\/bin\/[^/]+$/.test(file)
  );
}

function frameOfV8(
  { functionName, url }: { functionName: string; url: string },
  root: string,
): Frame | undefined {
  if (functionName === '(root)' || functionName === '(idle)') return undefined;
  if (functionName === '(garbage collector)') return { name: 'collector', file: NODE, module: GARBAGE };
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '' || url.startsWith('node:')) return { name, file: url || NODE, module: NODE };
  return locate(name, url.startsWith('file:') ? fileURLToPath(url) : url, root);
}

function foldPerf(text: string, root: string): Stack[] {
  const isGo = text.includes(' runtime.');
  const files = filesOfGo(text, root);
  return text.split('\n\n').flatMap((sample) => {
    const calls = sample.split('\n').flatMap((line) => {
      const [, symbol, program = '', file, at] = PERF.exec(line) ?? [];
      return symbol === undefined ? [] : [{ symbol, program, file, at }];
    });
    const isKernel = ({ program }: (typeof calls)[number]): boolean => program.startsWith('[kernel');
    const inside = calls.filter(isKernel);
    const frames = calls
      .filter((call) => !isKernel(call))
      .map(({ symbol, program, file, at }): Sampled => {
        const frame = frameOfSymbol(symbol, program, isGo);
        const own = files.get(symbol);
        if (own === undefined) return frame;
        // Code that the compiler has put into a function has the line of another file.
        return withLine({ ...frame, file: own, from: 'project' }, file === join(root, own) ? at : undefined);
      })
      .toReversed();
    if (inside.length > 0) {
      const [call] = inside.flatMap(({ symbol }) => /^__\w+?_sys_(\w+)$/.exec(symbol)?.[1] ?? []);
      frames.push({ name: call ?? 'scheduler and interrupts', file: KERNEL, module: KERNEL });
    }
    return frames.length === 0 ? [] : [{ frames, samples: 1 }];
  });
}

/** A line of `perf script`, with the place of a frame of Go. */
const PERF = /^\s+[0-9a-f]+ (.*) \(([^()]*)\)(?: (.+):(\d+))?$/;

/** Returns the file of each function of the project. A place in another file is code that the compiler has put into a function. */
function filesOfGo(text: string, root: string): Map<string, string> {
  const places = [...text.matchAll(new RegExp(PERF, 'gm'))];
  return new Map(
    places.flatMap(([, symbol = '', , file = '']): [string, string][] => {
      const own = file.startsWith(`${root}/`) ? file.slice(root.length + 1) : '';
      return own === '' || ELSEWHERE.test(own) ? [] : [[symbol, own]];
    }),
  );
}

function frameOfSymbol(symbol: string, program: string, isGo: boolean): Frame {
  const file = basename(program);
  const isUnknown = symbol === '[unknown]';
  const rust = /^<*(?:[&*]|mut |dyn |const )*([A-Za-z_]\w*)(?:\[[0-9a-f]+\])?::/.exec(symbol)?.[1];
  const go = isGo ? /^((?:[^/]*\/)*[^/.]+)\./.exec(symbol.split(/[[(]/, 1)[0] as string)?.[1] : undefined;
  return {
    name: isUnknown ? NAMELESS : symbol,
    file,
    module: (isUnknown ? undefined : (go ?? rust)) ?? file,
    // The first part of the path of a package of Go is a host, except for those of the language and the program.
    ...(go !== undefined && /^[^/]+\.[^/]+\//.test(go) && { from: 'package' }),
  };
}

/** Folders of a project that do not hold its code. */
const ELSEWHERE = /^(?:venv|env|vendor)\/|(?:^|\/)(?:\.[^/]+|node_modules)\//;

/** Names a function by a file that has the same path on both sides, and by its package or the file of the project. */
function locate(name: string, path: string, root: string): Frame {
  if (HOOKS.test(path)) return { name, file: basename(path), module: HOOK };
  const packaged =
    /^.*\/(?:site|dist)-packages\/(.+)$/.exec(path)?.[1] ?? /^.*\/node_modules\/(.+)$/.exec(path)?.[1];
  if (packaged !== undefined) return { name, file: packaged, module: packageOf(packaged), from: 'package' };
  if (path.startsWith(`${root}/`)) {
    const file = path.slice(root.length + 1);
    return { name, file, module: file, ...(!ELSEWHERE.test(file) && { from: 'project' }) };
  }
  const library = /^.*\/lib\/python[\d.]+t?\/(?:lib-dynload\/)?(.+)$/.exec(path)?.[1];
  if (library !== undefined) return { name, file: library, module: packageOf(library) };
  if (path.startsWith('<')) return { name, file: path, module: 'python' };
  return { name, file: basename(path), module: basename(path) };
}

/** `starlette` of `starlette/routing.py`, `@fastify/error` of `@fastify/error/index.js`, `heapq` of `heapq.py`. */
function packageOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first.replace(/\.(py|pyx|[\w.-]+\.so|so)$/, '');
}

/** The functions and the call tree of all profiles of a run, as they are stored. Lines of the project are those of the first folder that has them. */
export class CallTree implements Pick<WhyFile, 'frames' | 'tree'> {
  readonly frames: Frame[] = [];
  readonly tree: WhyFile['tree'] = { parents: [], frames: [] };
  readonly #versions: Versions;
  readonly #places: ({ root: string; line: number } | undefined)[] = [];
  readonly #roots: string[] = [];
  readonly #frames = new Map<string, number>();
  readonly #nodes = new Map<string, number>();

  constructor(read: Read) {
    this.#versions = new Versions(read);
  }

  /** Adds stacks of the project in a folder, and returns the samples of each in the tree. */
  add(stacks: readonly Stack[], root: string): { nodes: number[]; samples: number[] } {
    if (!this.#roots.includes(root)) this.#roots.push(root);
    const counts = new Map<number, number>();
    for (const { frames, samples } of stacks) {
      let node = -1;
      for (const frame of frames) node = this.#nodeOf(node, this.#frameOf(frame, root));
      counts.set(node, (counts.get(node) ?? 0) + samples);
    }
    return { nodes: [...counts.keys()], samples: [...counts.values()] };
  }

  /** Returns the line of each function in its file of this folder; 0 if it has none. */
  linesIn(root: string): number[] {
    return this.frames.map(({ file }, index) => {
      const place = this.#places[index];
      return (place && this.#versions.match({ file, ...place }, root)) ?? 0;
    });
  }

  /** Returns where these files differ between two folders. */
  hunksOf(files: readonly string[], { before, after }: { before: string; after: string }): Hunk[] {
    return files.flatMap((file) =>
      this.#versions.diff(file, before, after).hunks.map((hunk) => ({ file, ...hunk })),
    );
  }

  #nodeOf(parent: number, of: number): number {
    const key = `${parent} ${of}`;
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const { parents, frames } = this.tree;
    parents.push(parent);
    frames.push(of);
    this.#nodes.set(key, parents.length - 1);
    return parents.length - 1;
  }

  #frameOf({ line, ...frame }: Sampled, root: string): number {
    const { name, file, from, isWhole } = frame;
    const place = line === undefined ? undefined : this.#firstPlace({ file, root, line });
    // A compiler may put a function into its caller on one side: the line is the same.
    const key = JSON.stringify([place === undefined && name, file, from, isWhole, place]);
    const known = this.#frames.get(key);
    if (known !== undefined) return known;
    this.frames.push(frame);
    this.#places.push(place);
    this.#frames.set(key, this.frames.length - 1);
    return this.frames.length - 1;
  }

  #firstPlace(own: { file: string; root: string; line: number }): { root: string; line: number } {
    for (const root of this.#roots) {
      const line = this.#versions.match(own, root);
      if (line !== undefined) return { root, line };
    }
    return own;
  }
}
