/** The differential flame graph of a comparison: one call tree with CPU per request on both sides. */
import { scaleToRounds, stackCosts } from 'bench-analysis/why/explain';
import { present } from 'bench-model/options';
import type { WhyFile } from 'bench-model/why';
import { sum } from 'bench-statistics/numbers';
import { describeMissing, viewWhy, type WhyView } from '../why.ts';

/** A call that uses less than this share of the CPU on both sides is left out: it would be narrower than a pixel. */
const LEAST_SHARE = 0.001;

/** A function called in one place. Its costs are µs of CPU per request with everything that it calls. */
export interface Flame {
  name: string;
  file: string;
  before: number;
  after: number;
  calls: Flame[];
}

/** The explanation of a pair, as the page shows it. */
export interface PageWhy extends Pick<WhyView, 'heading' | 'sentences'> {
  baseline: string;
  candidate: string;
  /** Those with rows. */
  tables: { title: string; columns: string[]; words: string[]; rows: string[][] }[];
  notes: string[];
  /** Absent if a side had no profiler. */
  flame?: Flame;
}

/** Builds the explanations of the page, and the lines about targets without profiles. */
export function toPageWhy(why: WhyFile): { pairs: PageWhy[]; missing: string[] } {
  return {
    missing: describeMissing(why),
    pairs: viewWhy(why).map(({ heading, sentences, table, use, baseline, candidate }) => ({
      heading,
      sentences,
      baseline,
      candidate,
      tables: [table, use]
        .map(({ title, columns, words, groups }) => {
          return { title, columns, words, rows: groups.flatMap(({ rows }) => rows) };
        })
        .filter(({ rows }) => rows.length > 0),
      notes: [...table.notes, ...use.notes],
      ...present({ flame: buildFlame(why, { baseline, candidate }) }),
    })),
  };
}

/** Builds the call tree of a pair; undefined if a side had no profiler. */
export function buildFlame(why: WhyFile, pair: { baseline: string; candidate: string }): Flame | undefined {
  const { parents, frames } = why.tree;
  const ids = [pair.baseline, pair.candidate];
  const compared = why.pairs.find(({ baseline, candidate }) => baseline === ids[0] && candidate === ids[1]);
  const found = ids.flatMap((id) => why.sides.find(({ target }) => target === id) ?? []);
  if (found.some(({ profiler }) => profiler === undefined)) return undefined;
  // As the table has it.
  const { sides } = scaleToRounds(found, compared?.times);
  const [before, after] = ids.map((id) => {
    const side = sides.find(({ target }) => target === id);
    const costs = side === undefined ? new Map<number, number>() : stackCosts(side);
    const all = frames.map((_, node) => costs.get(node) ?? 0);
    // A node comes after its caller, so the last ones are whole first.
    for (let node = all.length - 1; node >= 0; node--) {
      const parent = parents[node] ?? -1;
      if (parent >= 0) all[parent] = (all[parent] ?? 0) + (all[node] ?? 0);
    }
    return all;
  }) as [number[], number[]];
  const callers = Map.groupBy(frames.keys(), (node) => parents[node] ?? -1);
  const [wholeBefore, wholeAfter] = [before, after].map((all) =>
    sum((callers.get(-1) ?? []).map((node) => all[node] ?? 0)),
  ) as [number, number];
  const least = LEAST_SHARE * Math.max(wholeBefore, wholeAfter);
  const flameOf = (node: number): Flame => ({
    ...nameOf(why, node),
    before: before[node] ?? 0,
    after: after[node] ?? 0,
    calls: callsOf(node),
  });
  const callsOf = (node: number): Flame[] =>
    (callers.get(node) ?? [])
      .filter((call) => Math.max(before[call] ?? 0, after[call] ?? 0) >= least)
      .map(flameOf)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { name: 'all', file: '', before: wholeBefore, after: wholeAfter, calls: callsOf(-1) };
}

function nameOf({ tree, frames }: WhyFile, node: number): Pick<Flame, 'name' | 'file'> {
  const { name = '', file = '' } = frames[tree.frames[node] ?? -1] ?? {};
  return { name, file };
}
