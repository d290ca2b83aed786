/** What requests cause on both sides of a comparison, and where they wait. */
import type { Hunk, ProfiledSide, RequestUse, Statement, Wait } from 'bench-model/why';
import { sum } from 'bench-statistics/numbers';
import { type Change, compareMeans, type Costs } from './explain.ts';
import { isWithin } from './places.ts';

/** The chance that the interval of any figure misses its difference. */
const ERROR = 0.05;
/** Figures below this are rounding: work that does not belong to requests. */
const LEAST = 0.01;
/** A difference of less than this, or of a smaller share, is not put into words. */
const TOLD = { count: 0.5, ms: 0.1, share: 0.2 };

/** The figures of a request, in the order of the table. */
const READERS = {
  statements: (use) => use.statements && sum(use.statements.map(({ count }) => count)),
  fetches: (use) => use.fetches,
  connections: (use) => use.connections,
  calls: (use) => use.calls?.all,
  writes: (use) => use.calls?.writes,
  bytes: (use) => use.calls?.bytes,
  threads: (use) => use.threads,
  collections: (use) => use.garbage?.collections,
  collectingUs: (use) => use.garbage?.us,
} satisfies Record<string, (use: RequestUse) => number | undefined>;

export type UseName = keyof typeof READERS;

/** A figure of a request on both sides, in µs or as a count. */
export interface ChangedUse extends Change {
  name: UseName;
  /** True if it differs for sure, and by enough to be put into words. */
  isClear: boolean;
}

/** Compares what a request takes. Figures that a profile lacks, or that are 0 on both sides, are left out. */
export function compareUse(baseline: ProfiledSide, candidate: ProfiledSide): ChangedUse[] {
  const error = ERROR / Object.keys(READERS).length;
  return Object.entries(READERS).flatMap(([name, read]): ChangedUse[] => {
    const [before, after] = [baseline, candidate].map(({ profiles }) =>
      profiles.flatMap(({ perRequest }) => (perRequest === undefined ? [] : (read(perRequest) ?? []))),
    ) as Costs;
    if (before.length < baseline.profiles.length || after.length < candidate.profiles.length) return [];
    const change = compareMeans(before, after, error);
    if (Math.max(change.before, change.after) < LEAST) return [];
    return [{ name: name as UseName, ...change, isClear: isClear(change, TOLD.count) }];
  });
}

/** A statement that requests send, or a line at which they wait, whose figure clearly changed. */
export interface ChangedPart<Part> extends Change {
  part: Part;
}

/** Returns the statements that requests send more or less often, the largest change first. */
export function changedStatements(sides: Sides): ChangedPart<Statement>[] {
  return changedParts(sides, { ...STATEMENTS, figure: ({ count }) => count }, TOLD.count);
}

/** Returns the statements whose time in the database changed, in ms of each request, the largest change first. */
export function changedTimes(sides: Sides, connections: number): ChangedPart<Statement>[] {
  return changedParts(sides, { ...STATEMENTS, figure: ({ ms = 0 }) => ms }, leastWait(sides, connections));
}

/**
 * Returns the lines at which requests wait for longer or shorter, in ms of each request, the largest change first. `hunks` are where
 * the code differs: lines that replace others are the same place.
 */
export function changedPlaces(
  sides: Sides,
  connections: number,
  hunks: readonly Hunk[] = [],
): ChangedPart<Wait>[] {
  const key = ({ file, line, name, code, in: within }: Wait, side: number): string => {
    for (const [index, { file: changed, before, removed, after, added }] of hunks.entries()) {
      const [from, length] = side === 0 ? [before, removed] : [after, added];
      if (changed === file && removed * added > 0 && isWithin(line, from, length))
        return JSON.stringify([index, removed === added && line - from]);
    }
    // The number of a line changes with what is above it.
    return JSON.stringify([file, name, code, within]);
  };
  const parts = { read: (use: RequestUse) => use.places, key, figure: ({ ms }: Wait) => ms };
  return changedParts(sides, parts, leastWait(sides, connections));
}

/** Both sides of a comparison. */
export type Sides = [baseline: ProfiledSide, candidate: ProfiledSide];

const STATEMENTS = { read: (use: RequestUse) => use.statements, key: ({ text }: Statement) => text };

/**
 * Returns the smallest difference of waits, in ms, that does not follow from one in CPU: while a request is answered, its line waits
 * for at most as many others as there are connections.
 */
function leastWait(sides: Sides, connections: number): number {
  const costs = sides.map(({ profiles }) => profiles.map(({ cpuUs }) => cpuUs)) as Costs;
  const { difference, margin } = compareMeans(...costs, ERROR);
  return Math.max(TOLD.ms, (connections * (Math.abs(difference) + margin)) / 1000);
}

/** A list of what a request takes. */
interface Parts<Part> {
  read: (use: RequestUse) => readonly Part[] | undefined;
  key: (part: Part, side: number) => string;
  figure: (part: Part) => number;
}

/** Compares lists part by part: one that a profile does not have is 0 there. Returns nothing if a profile has no list. */
function changedParts<Part>(
  sides: Sides,
  { read, key, figure }: Parts<Part>,
  least: number,
): ChangedPart<Part>[] {
  const lists = sides.map(({ profiles }) => profiles.map(({ perRequest: use }) => use && read(use)));
  const known = lists.map((own, side) =>
    own.map((parts = []) => Map.groupBy(parts, (part) => key(part, side))),
  );
  if (lists.some((own) => own.includes(undefined))) return [];
  const all = known
    .flat()
    .flatMap((one) => [...one].flatMap(([name, own]) => own.map((part) => [name, part] as const)));
  const large = all.filter(([, part]) => figure(part) >= least);
  // The largest of each key stands for the others.
  const parts = new Map(large.toSorted(([, a], [, b]) => figure(a) - figure(b)));
  return [...parts]
    .map(([name, part]): ChangedPart<Part> => {
      const figures = known.map((own) => own.map((one) => sum((one.get(name) ?? []).map(figure)))) as Costs;
      return { part, ...compareMeans(...figures, ERROR / parts.size) };
    })
    .filter((change) => isClear(change, least))
    .toSorted((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
}

/** Returns true if a figure differs for sure, and by enough to be put into words. */
function isClear({ before, after, difference, margin }: Change, least: number): boolean {
  return Math.abs(difference) >= Math.max(margin, least, TOLD.share * Math.max(before, after));
}
