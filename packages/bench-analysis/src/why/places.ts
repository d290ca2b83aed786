/** The lines of the project in the stacks of a comparison, and the one at which the two sides part. */
import type { Frame, Hunk, ProfiledSide, WhyFile } from 'bench-model/why';
import { RUNTIMES } from './fold.ts';

/** A line that the two sides have differently is the cause from this share of the largest change on. */
const TOUCHED = 0.5;
/** The difference flows on to a line below that has this share of it. */
const FLOWS = 0.7;
/** A cause is named before anything else from this share of the whole difference on, or if the two sides differ there. */
const MAIN = 0.5;

/** A place of the project, as it is shown. */
export interface Place extends Frame {
  /** In the candidate; in the baseline if the candidate has none; 0 if it is not known. Of a function, its first one. */
  line: number;
  /** True if the code of the two sides differs there. */
  isTouched: boolean;
}

/** Returns true for a line of a stretch of this many lines. */
export function isWithin(line: number, from: number, length: number): boolean {
  return line >= from && line < from + length;
}

/** The call tree of a comparison. A line is known by its frame. */
export class Tree {
  readonly places: readonly Place[];
  readonly #why: Pick<WhyFile, 'frames' | 'tree'>;
  /** The lines in each stack, the outermost first, each once. */
  readonly #lines: (readonly number[])[] = [];
  /** The samples of each stack on both sides. */
  readonly #samples: number[] = [];

  constructor(
    why: Pick<WhyFile, 'frames' | 'tree'>,
    [baseline, candidate]: [ProfiledSide, ProfiledSide],
    hunks: readonly Hunk[],
  ) {
    this.#why = why;
    this.places = why.frames.map((frame, index) => {
      const [before = 0, after = 0] = [baseline, candidate].map(({ lines }) => lines?.[index]);
      const isTouched = hunks.some(
        (hunk) =>
          hunk.file === frame.file &&
          (isWithin(after, hunk.after, hunk.added) || isWithin(before, hunk.before, hunk.removed)),
      );
      return { ...frame, line: after || before, isTouched };
    });
    for (const [node, frame] of why.tree.frames.entries()) {
      const above = this.#lines[why.tree.parents[node] ?? -1] ?? [];
      const isOwn = why.frames[frame]?.from === 'project' && !above.includes(frame);
      this.#lines.push(isOwn ? [...above, frame] : above);
    }
    for (const { nodes, samples } of [...baseline.profiles, ...candidate.profiles]) {
      for (const [index, node] of nodes.entries())
        this.#samples[node] = (this.#samples[node] ?? 0) + (samples[index] ?? 0);
    }
  }

  linesOf(node: number): readonly number[] {
    return this.#lines[node] ?? [];
  }

  frameOf(node: number): Frame | undefined {
    return this.#why.frames[this.#why.tree.frames[node] ?? -1];
  }

  /**
   * Returns the module in which a line spends the CPU of a stack: the innermost package, or what the project calls, or itself; of a
   * runtime, the function. Empty for stacks without the line.
   */
  calledFrom(line: number, node: number): string[] {
    if (!this.linesOf(node).includes(line)) return [];
    let called = this.frameOf(node)?.module ?? '';
    for (let at = node; at >= 0; at = this.#why.tree.parents[at] ?? -1) {
      const { from, name, module = '' } = this.frameOf(at) ?? {};
      if (from === 'project') break;
      called = RUNTIMES.includes(module) ? `${name} (${module})` : module;
      if (from === 'package') break;
    }
    return [called];
  }

  /** Returns the lines in a stack that the two sides have differently. */
  touchedIn(node: number): number[] {
    return this.linesOf(node).filter((line) => this.places[line]?.isTouched);
  }

  /** Returns the module that spends the CPU of a stack; empty for code of the project, which may have moved to another file. */
  spentBy(node: number): string {
    const { from, module = '' } = this.frameOf(node) ?? {};
    return from === 'project' ? '' : module;
  }

  /**
   * Returns these lines without code that only moved: of those that the two sides have differently, `real` ones spend it in a module on
   * which all of them together spend more or less, as they do.
   */
  withoutMoves<Changed extends readonly [number, unknown]>(
    changed: readonly Changed[],
    real: readonly number[],
  ): Changed[] {
    return changed.filter(([line]) => this.places[line]?.isTouched !== true || real.includes(line));
  }

  /** Returns true if most samples of a line are called by another one. */
  isBelow(line: number, other: number): boolean {
    let [all, below] = [0, 0];
    for (const [node, lines] of this.#lines.entries()) {
      const at = lines.indexOf(line);
      if (at < 0) continue;
      const samples = this.#samples[node] ?? 0;
      all += samples;
      if (lines.slice(0, at).includes(other)) below += samples;
    }
    return below > all / 2;
  }

  /** Returns these lines with the outermost first. */
  fromOutside(lines: readonly number[]): number[] {
    const depthOf = (line: number): number => lines.filter((other) => this.isBelow(line, other)).length;
    return lines.toSorted((a, b) => depthOf(a) - depthOf(b));
  }
}

/**
 * Finds the line at which the two sides part, among those that changed for sure, the largest change first: what the two sides have
 * differently, if that explains enough; else where the largest change ends, down the calls. `path` leads to it and ends with it.
 */
export function findCause(
  changed: readonly (readonly [number, { difference: number }])[],
  tree: Tree,
  whole: { difference: number; margin: number },
): { path: number[]; isMain: boolean } | undefined {
  const isSure = Math.abs(whole.difference) > whole.margin;
  const sign = Math.sign((isSure ? whole : changed[0]?.[1])?.difference ?? 0);
  const sizes = new Map(changed.map(([line, { difference }]) => [line, sign * difference]));
  const lines = [...sizes.keys()].filter((line) => (sizes.get(line) ?? 0) > 0);
  const [top] = lines;
  if (top === undefined) return undefined;
  const hasShare = (line: number, share: number, of: number): boolean => (sizes.get(line) ?? 0) >= share * of;
  const most = sizes.get(top) ?? 0;
  const touched = lines.filter((line) => tree.places[line]?.isTouched && hasShare(line, TOUCHED, most));
  const [first = top] = touched;
  const flow = touched.length > 0 ? touched : lines.filter((line) => hasShare(line, FLOWS, most));
  const below = flow.filter((line) => tree.isBelow(line, first));
  const cause = tree.fromOutside([first, ...below]).at(-1) ?? first;
  return {
    path: tree.fromOutside(lines.filter((line) => line === cause || tree.isBelow(cause, line))),
    isMain: touched.length > 0 || !isSure || hasShare(cause, MAIN, Math.abs(whole.difference)),
  };
}
