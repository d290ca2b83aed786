/** Folds profiles of V8. It knows the line at which a function was interrupted, but not those of its callers. */
import type { Frame, Sampled, Stack } from 'bench-model/why';
import type { Read } from './lines.ts';

/** A profile of V8, as the DevTools Protocol defines it. Lines of functions count from 0, those of ticks from 1. */
interface V8Profile {
  nodes: V8Node[];
  samples: number[];
}

interface V8Node {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber?: number };
  positionTicks?: { line: number; ticks: number }[];
  children?: number[];
}

const COLLECTOR = '(garbage collector)';

/** Folds a profile. `root` is the folder of the project. `frameOf` returns undefined for what is no function. */
export function foldV8(
  text: string,
  root: string,
  { frameOf, read }: { frameOf: (call: V8Node['callFrame'], root: string) => Frame | undefined; read: Read },
): Stack[] {
  const profile = JSON.parse(text) as V8Profile;
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, frameOf(callFrame, root)]));
  const firstOf = (id: number): number => (nodes.get(id)?.callFrame.lineNumber ?? -1) + 1;
  const placed = (id: number, line: number | undefined): Sampled[] => {
    const frame = frames.get(id);
    if (frame?.from !== 'project') return frame === undefined ? [] : [frame];
    return [line === undefined ? { ...frame, line: firstOf(id), isWhole: true } : { ...frame, line }];
  };
  // Many leaves share their callers, and many functions their file.
  const files = new Map<string, readonly string[] | undefined>();
  const callLine = (id: number, called: number): number | undefined => {
    const { from, file = '' } = frames.get(id) ?? {};
    const callee = nodes.get(called);
    if (from !== 'project' || callee === undefined) return undefined;
    if (!files.has(file)) files.set(file, read(root, file));
    return lineOfCall(files.get(file) ?? [], firstOf(id), callee, frames.get(called));
  };
  const above = new Map<number, Sampled[]>();
  const stackAbove = (id: number): Sampled[] => {
    const known = above.get(id);
    const caller = parents.get(id);
    if (known !== undefined || caller === undefined) return known ?? [];
    const stack = [...stackAbove(caller), ...placed(caller, callLine(caller, id))];
    above.set(id, stack);
    return stack;
  };
  const stackOf = (id: number, line?: number): Sampled[] => [...stackAbove(id), ...placed(id, line)];
  return countLeaves(profile, nodes).flatMap(({ id, line, collects, samples }) => {
    const stack = stackOf(id, line);
    if (collects !== undefined) stack.push(...stackOf(collects));
    return stack.length === 0 ? [] : [{ frames: stack, samples }];
  });
}

interface Leaf {
  id: number;
  line: number | undefined;
  /** The node of the collector, if it ran. */
  collects?: number;
  samples: number;
}

/** Counts samples by the function and the line that ran. A collection has no stack: it belongs to what ran before. */
function countLeaves({ samples }: V8Profile, nodes: Map<number, V8Node>): Leaf[] {
  const own = new Map<number, number>();
  const collected: Leaf[] = [];
  let last: number | undefined;
  for (const id of samples) {
    if (nodes.get(id)?.callFrame.functionName !== COLLECTOR || last === undefined) {
      own.set(id, (own.get(id) ?? 0) + 1);
      last = id;
    } else {
      const ticks = nodes.get(last)?.positionTicks ?? [];
      const line = ticks.toSorted((a, b) => b.ticks - a.ticks)[0]?.line;
      collected.push({ id: last, line, collects: id, samples: 1 });
    }
  }
  const split = [...own].flatMap(([id, count]) => {
    const lines = nodes.get(id)?.positionTicks ?? [];
    const left = Math.max(0, count - lines.reduce((all, { ticks }) => all + ticks, 0));
    return [
      ...lines.map(({ line, ticks }) => ({ id, line, samples: ticks })),
      { id, line: undefined, samples: left },
    ];
  });
  return [...split.filter((leaf) => leaf.samples > 0), ...collected];
}

/** Finds the line of a function at which it calls another; undefined if none or several may be it. */
function lineOfCall(
  lines: readonly string[],
  first: number,
  callee: V8Node,
  frame: Frame | undefined,
): number | undefined {
  const last = lastLineOf(lines, first);
  const defined = (callee.callFrame.lineNumber ?? -1) + 1;
  // A function that is written where it is called, as an argument.
  const isInside = frame?.from === 'project' && defined >= first && defined <= last;
  const name = /[\w$]+$/.exec(callee.callFrame.functionName)?.[0];
  if (name === undefined) return isInside ? defined : undefined;
  const call = new RegExp(`(?<![\\w$])${name.replaceAll('$', String.raw`\$`)}\\s*[(\`]`);
  const found = lines
    .slice(first - 1, last)
    .flatMap((line, index) =>
      call.test(line) && !(isInside && first + index === defined) ? [first + index] : [],
    );
  return found.length === 1 ? found[0] : undefined;
}

/** The last line inside a function, by the indentation of its first one: no parser is at hand, and code is formatted. */
function lastLineOf(lines: readonly string[], first: number): number {
  const depth = /^\s*/.exec(lines[first - 1] ?? '')?.[0].length ?? 0;
  const isEnd = (line: string): boolean => line.search(/\S/) <= depth && /^\s*[^\s)]/.test(line);
  const length = lines.slice(first).findIndex(isEnd);
  return length < 0 ? lines.length : first + length;
}
