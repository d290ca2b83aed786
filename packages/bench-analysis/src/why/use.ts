/** What requests take from the kernel and the runtime on both sides of a comparison, and the faults that it gives away. */
import type { ProfiledSide, RequestUse } from 'bench-model/why';
import { EACH } from '../judge/judge.ts';
import { type Change, compareMeans } from './explain.ts';

/** The chance that the interval of any figure misses its difference. */
const ERROR = 0.05;
/** Figures below this are rounding: work that does not belong to requests. */
const LEAST = 0.01;
/** A difference of less than this, or of a smaller share, is not put into words. */
const TOLD = { count: 0.5, share: 0.2 };
/** From this number of writes on, an answer is sent in pieces. */
const PIECES = 10;

/** The figures of a request, in the order of the table. */
const READERS = {
  userUs: (use) => use.userUs,
  systemUs: (use) => use.systemUs,
  connections: (use) => use.connections,
  calls: (use) => use.calls?.all,
  reads: (use) => use.calls?.reads,
  writes: (use) => use.calls?.writes,
  polls: (use) => use.calls?.polls,
  locks: (use) => use.calls?.locks,
  yields: (use) => use.calls?.yields,
  waits: (use) => use.waits,
  faults: (use) => use.faults,
  collections: (use) => use.garbage?.collections,
  collectingUs: (use) => use.garbage?.us,
} satisfies Record<string, (use: RequestUse) => number | undefined>;

/** A figure of a request. */
export type UseName = keyof typeof READERS;

/** A figure of a request on both sides, in µs or as a count. */
export interface ChangedUse extends Change {
  name: UseName;
  /** True if it differs for sure, and by enough to be put into words. */
  isClear: boolean;
}

/** A fault that only one side has: its figure for each answer, and that of the other side. */
export interface Cause {
  /** A connection for each answer, or an answer in many pieces. */
  of: 'connections' | 'writes';
  target: string;
  other: string;
  per: number;
  otherPer: number;
}

const CAUSES: { of: Cause['of']; from: number }[] = [
  { of: 'connections', from: EACH },
  { of: 'writes', from: PIECES },
];

/** Compares what a request takes. Figures that a profile lacks, or that are 0 on both sides, are left out. */
export function compareUse(baseline: ProfiledSide, candidate: ProfiledSide): ChangedUse[] {
  const error = ERROR / Object.keys(READERS).length;
  return Object.entries(READERS).flatMap(([name, read]): ChangedUse[] => {
    const [before, after] = [baseline, candidate].map(({ profiles }) =>
      profiles.flatMap(({ perRequest }) => (perRequest === undefined ? [] : (read(perRequest) ?? []))),
    ) as [number[], number[]];
    if (before.length < baseline.profiles.length || after.length < candidate.profiles.length) return [];
    const change = compareMeans(before, after, error);
    const most = Math.max(change.before, change.after);
    if (most < LEAST) return [];
    const least = Math.max(change.margin, TOLD.count, TOLD.share * most);
    return [{ name: name as UseName, ...change, isClear: Math.abs(change.difference) >= least }];
  });
}

/** Finds the faults that one side has and the other one has not. */
export function findCauses(
  { baseline, candidate }: { baseline: string; candidate: string },
  uses: readonly ChangedUse[],
): Cause[] {
  return CAUSES.flatMap(({ of, from }): Cause[] => {
    const use = uses.find(({ name }) => name === of);
    if (use === undefined || !use.isClear) return [];
    const sides = [
      { target: baseline, per: use.before },
      { target: candidate, per: use.after },
    ];
    const [most, least] = use.difference < 0 ? sides : sides.toReversed();
    if (most === undefined || least === undefined || most.per < from || least.per >= from) return [];
    return [{ of, ...most, other: least.target, otherPer: least.per }];
  });
}
