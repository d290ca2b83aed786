/** What requests cause beside the CPU of functions, for each response: statements, requests to the upstream, and waits. */
import { relative } from 'node:path';
import { readLines } from 'bench-machine/files';
import type { Statement, Wait, Waited } from 'bench-model/why';
import { present } from 'bench-model/options';
import { sum, sumByKey } from 'bench-statistics/numbers';
import type { Told } from 'bench-targets/profile/telling';

/** The statements, and the lines, that are kept: those that requests send most often, and at which they wait for longest. */
const MOST_KEPT = 50;

/** A statement as its database counts it: how often so far, and in which time, in ms. */
export interface CountedStatement {
  text: string;
  count: number;
  ms?: number;
}

/** What has been counted so far; a list is absent if nothing counts it. */
export interface Caused {
  fetches?: number;
  statements?: CountedStatement[];
}

/** Returns a statement with ? for its values and lists of them, in one line. */
export function withoutValues(text: string): string {
  return text
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/'(?:[^']|'')*'|\$\d+|\b\d+(?:\.\d+)?\b/g, '?')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\?(?: ?, ?\?)*( (?=\)))?/g, '?')
    .replaceAll(/\(\?\)(?: ?, ?\(\?\))+/g, '(?)')
    .trim();
}

/** Adds the statements that a server tells to those of its databases. */
export function withTold(caused: Caused, { statements = {} }: Partial<Told>): Caused {
  const told = Object.entries(statements).map(([text, count]) => ({ text, count }));
  return told.length === 0 ? caused : { ...caused, statements: [...(caused.statements ?? []), ...told] };
}

/** Returns what each of these responses caused between two counts. */
export function causedBetween(
  before: Caused,
  after: Caused,
  answers: number,
): { fetches?: number; statements?: Statement[] } {
  const { fetches, statements } = after;
  return present({
    fetches: fetches === undefined ? undefined : (fetches - (before.fetches ?? 0)) / answers,
    statements: statements && statementsBetween(before.statements ?? [], statements, answers),
  });
}

function statementsBetween(
  before: readonly CountedStatement[],
  after: readonly CountedStatement[],
  answers: number,
): Statement[] {
  const totalOf = (all: readonly CountedStatement[], of: 'count' | 'ms'): Record<string, number> =>
    sumByKey(all.map((one) => ({ [withoutValues(one.text)]: one[of] ?? NaN })));
  const since = (of: 'count' | 'ms'): [text: string, each: number][] => {
    const earlier = totalOf(before, of);
    return Object.entries(totalOf(after, of)).map(([text, all]) => [
      text,
      (all - (earlier[text] ?? 0)) / answers,
    ]);
  };
  const times = new Map(since('ms'));
  return since('count')
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MOST_KEPT)
    .map(([text, count]) => ({ text, count, ...present({ ms: times.get(text) || undefined }) }));
}

/** Returns the lines of a project at which requests wait, the longest wait first. `root` is its folder. */
export function placesOf(waits: readonly Waited[], root: string, answers: number): Wait[] {
  const places = Map.groupBy(waits, (wait) => JSON.stringify([wait.file, wait.line, wait.in, wait.for]));
  return [...places.values()]
    .map((all) => ({ ...(all[0] as Waited), ms: sum(all.map(({ ms }) => ms)) }))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, MOST_KEPT)
    .map(({ file: path, name, line, in: called, for: kind, ms }): Wait => {
      const file = relative(root, path);
      const code = readLines(root, file)?.[line - 1]?.trim() || name;
      return { file, line, name, code, ...present({ in: called || undefined, for: kind }), ms: ms / answers };
    });
}
