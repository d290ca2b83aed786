/** From the output of profilers to stacks of functions whose names are alike on both sides of a comparison. */
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Frame, Profiled, WhyFile } from 'bench-model/why';

/** A stack, outermost function first, and its samples on a CPU. */
export interface Stack {
  frames: Frame[];
  samples: number;
}

/** The name of a function of a binary that holds none. */
export const NAMELESS = 'native code';

/** The modules of what is no code of a package. */
const GARBAGE = 'garbage collection';
const KERNEL = 'kernel';
const NODE = 'node';

/** Folds the profiles of a server's processes. `root` is the folder of its project. Throws SyntaxError for a profile that is cut. */
export function foldProfiles(profiles: readonly Profiled[], root: string): Stack[] {
  return profiles.flatMap(({ format, text }) => FOLDERS[format](text, root));
}

/** Returns stacks whose functions are named without their classes, as those of Python before 3.11 are. */
export function withoutClasses(stacks: readonly Stack[]): Stack[] {
  return stacks.map(({ frames, samples }) => ({
    frames: frames.map((frame) => ({ ...frame, name: frame.name.split('.').at(-1) ?? frame.name })),
    samples,
  }));
}

const FOLDERS: Record<Profiled['format'], (text: string, root: string) => Stack[]> = {
  collapsed: foldCollapsed,
  cpuprofile: foldV8,
  perf: foldPerf,
};

/** Folds lines of `outer (file);inner (file) 12`. */
function foldCollapsed(text: string, root: string): Stack[] {
  return text.split('\n').flatMap((line) => {
    const [, stack = '', count = ''] = /^(.*) (\d+)$/.exec(line) ?? [];
    const frames = stack.split(';').flatMap((one): Frame[] => {
      const [, name = '', file = ''] = /^(.*) \((.*)\)$/.exec(one) ?? [];
      if (name.startsWith('<GC>')) return [{ name: 'collector', file: 'python', module: GARBAGE }];
      return isPython(file) ? [locate(name.startsWith('0x') ? NAMELESS : name, file, root)] : [];
    });
    return frames.length === 0 ? [] : [{ frames, samples: Number(count) }];
  });
}

/** Code of Python, of Cython and of extension modules. What the interpreter does inside belongs to the function that it runs. */
function isPython(file: string): boolean {
  return (
    /\.(pyx?|py[dc])$|^</.test(file) || /\.(cpython-|abi3)[^/]*\.so$/.test(file) || /\/bin\/[^/]+$/.test(file)
  );
}

/** A profile of V8, as the DevTools Protocol defines it. */
interface V8Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  samples: number[];
}

/** Folds a profile of V8, without the time that it took to write it. */
function foldV8(text: string, root: string): Stack[] {
  const { nodes, samples } = JSON.parse(text) as V8Profile;
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, frameOfV8(callFrame, root)]));
  const counts = new Map<number, number>();
  for (const id of samples) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].flatMap(([id, count]) => {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at);
      if (frame !== undefined) stack.unshift(frame);
    }
    const isProfiler = stack.some(({ file }) => file === 'node:inspector');
    return stack.length === 0 || isProfiler ? [] : [{ frames: stack, samples: count }];
  });
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

function foldPerf(text: string): Stack[] {
  const isGo = text.includes(' runtime.');
  return text.split('\n\n').flatMap((sample) => {
    const calls = sample.split('\n').flatMap((line) => {
      const [, symbol, program = ''] = /^\s+[0-9a-f]+ (.*) \(([^()]*)\)$/.exec(line) ?? [];
      return symbol === undefined ? [] : [{ symbol, program }];
    });
    const isKernel = ({ program }: (typeof calls)[number]): boolean => program.startsWith('[kernel');
    const inside = calls.filter(isKernel);
    const frames = calls
      .filter((call) => !isKernel(call))
      .map(({ symbol, program }) => frameOfSymbol(symbol, program, isGo))
      .toReversed();
    if (inside.length > 0) {
      const [call] = inside.flatMap(({ symbol }) => /^__\w+?_sys_(\w+)$/.exec(symbol)?.[1] ?? []);
      frames.push({ name: call ?? 'scheduler and interrupts', file: KERNEL, module: KERNEL });
    }
    return frames.length === 0 ? [] : [{ frames, samples: 1 }];
  });
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
  };
}

/** Names a function by a file that has the same path on both sides, and by its package or the file of the project. */
function locate(name: string, path: string, root: string): Frame {
  const packaged =
    /^.*\/(?:site|dist)-packages\/(.+)$/.exec(path)?.[1] ?? /^.*\/node_modules\/(.+)$/.exec(path)?.[1];
  if (packaged !== undefined) return { name, file: packaged, module: packageOf(packaged) };
  if (path.startsWith(`${root}/`)) {
    const file = path.slice(root.length + 1);
    return { name, file, module: file };
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

/** The functions and the call tree of all profiles of a run, as they are stored. */
export class CallTree implements Pick<WhyFile, 'frames' | 'tree'> {
  readonly frames: Frame[] = [];
  readonly tree: WhyFile['tree'] = { parents: [], frames: [] };
  readonly #frames = new Map<string, number>();
  readonly #nodes = new Map<string, number>();

  /** Adds stacks, and returns the samples of each in the tree. */
  add(stacks: readonly Stack[]): { nodes: number[]; samples: number[] } {
    const counts = new Map<number, number>();
    for (const { frames, samples } of stacks) {
      let node = -1;
      for (const frame of frames) node = this.#nodeOf(node, frame);
      counts.set(node, (counts.get(node) ?? 0) + samples);
    }
    return { nodes: [...counts.keys()], samples: [...counts.values()] };
  }

  #nodeOf(parent: number, frame: Frame): number {
    const of = this.#frameOf(frame);
    const key = `${parent} ${of}`;
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const { parents, frames } = this.tree;
    parents.push(parent);
    frames.push(of);
    this.#nodes.set(key, parents.length - 1);
    return parents.length - 1;
  }

  #frameOf(frame: Frame): number {
    const key = JSON.stringify([frame.name, frame.file]);
    const known = this.#frames.get(key);
    if (known !== undefined) return known;
    this.frames.push(frame);
    this.#frames.set(key, this.frames.length - 1);
    return this.frames.length - 1;
  }
}
