/** Which lines of the project, packages and functions cost more or less per request on one side of a comparison, beyond the noise of the profiles. */
import { present } from 'bench-model/options';
import type { ComparedPair, Frame, Profile, ProfiledSide, WhyFile } from 'bench-model/why';
import { upperPoint } from 'bench-statistics/normal';
import { mean, squaresOf, sum } from 'bench-statistics/numbers';
import { studentPoint } from 'bench-statistics/student';
import { findCause, Tree, type Place } from './places.ts';

/** Costs below this share of the CPU per request of the baseline are not tested, and such differences not named. */
const LEAST_SHARE = 0.01;
/** The chance that any function or module is named between equal builds. */
const ERROR = 0.05;
/** What shares it: the ratio of the sides, and families of tests: lines of the project, those that differ, what these call, functions, modules, those that the cause calls. */
const SHARED = ERROR / 7;
/** A line that calls this share of the change of a module is named with it. */
const CALLS = 0.5;
/** Fewer profiles of a side have no interval. */
export const FEWEST_PROFILES = 3;
/** As many further profiles, in degrees of freedom, is worth what all costs together tell about the spread of one. */
const PRIOR_FREEDOM = 4;
/** The rounds tell a ratio whose logarithm has at most this standard deviation, which is an interval of about ± 20 %, or that of the profiles. */
const TOLD_DEVIATION = 0.1;
/** Half of a 95 % interval, in standard deviations. */
const NORMAL_95 = 1.96;

/** The mean of a figure on both sides. The margin is half of the interval of the difference. */
export interface Change {
  before: number;
  after: number;
  difference: number;
  margin: number;
}

/** A package, a module or a file whose functions together changed in cost, in µs of CPU per request. */
export interface ChangedModule extends Change {
  module: string;
  /** Those of its functions that changed, the largest change first. */
  functions: (Change & Pick<Frame, 'name'>)[];
  /** The line, among those that the two sides have differently, that calls most of the change. */
  caller: Place | undefined;
}

/** A line of the project whose CPU per request changed, with all that it calls. */
export interface ChangedPlace extends Change, Place {}

/** What the profiles of two targets say about their difference. All intervals hold together with 95 % confidence, except for the whole. */
export interface Explained {
  baseline: ProfiledSide;
  candidate: ProfiledSide;
  /** CPU per request in all, in µs. */
  whole: Change;
  times?: ComparedPair['times'];
  /** The lines that lead to the one at which the two sides part, and that one; empty without one. */
  path: ChangedPlace[];
  /** True if it explains enough of the difference to be named before anything else. */
  isMain: boolean;
  /** The modules in which that line spends the difference, or the functions of a runtime, the largest change first. */
  calls: ChangedModule[];
  /** All modules; after a main cause, as far as no line of the project that changed calls them. */
  modules: ChangedModule[];
  /** Other lines that changed for sure, and those of them that neither the cause nor another one calls. */
  others: ChangedPlace[];
  beside: ChangedPlace[];
  /** Nothing that is not named changed by more than this, in µs; absent if a side had no profiler. */
  restUs?: number;
}

/**
 * Explains the difference of a pair; undefined if one side has too few profiles. If the rounds of the run tell the ratio of their CPU per
 * request, the profiles tell only the shares of it: they are few and short, and the pace of the machine changes between them.
 */
export function explainPair(
  why: Pick<WhyFile, 'frames' | 'tree' | 'sides'>,
  pair: ComparedPair,
): Explained | undefined {
  const [baseline, candidate] = [pair.baseline, pair.candidate].map((id) =>
    why.sides.find(({ target }) => target === id),
  );
  if (baseline === undefined || candidate === undefined) return undefined;
  if ([baseline, candidate].some(({ profiles }) => profiles.length < FEWEST_PROFILES)) return undefined;
  const { sides, deviation } = scaleSides([baseline, candidate], pair.times);
  const isNamed = sides.every(({ profiler }) => profiler !== undefined);
  const profiles = sides.map((side) => side.profiles);
  const wholes = profiles.map((own) => own.map(({ cpuUs }) => cpuUs)) as Costs;
  const least = LEAST_SHARE * mean(wholes[0]);
  const whole = widen(compareMeans(...wholes, ERROR), { error: ERROR, deviation });
  const tree = new Tree(why, [baseline, candidate], pair.hunks ?? []);
  const sampled = isNamed ? profiles : [];
  const compare = <Key>(keysOf: (node: number) => readonly Key[]): Compared<Key> =>
    compareAll(sampled, keysOf, { least, deviation });
  const lines = compare((node) => tree.linesOf(node));
  // All lines of a function are one.
  const functions = compare((node) => {
    const { name = '', file = '', module = '' } = tree.frameOf(node) ?? {};
    return [JSON.stringify({ name, file, module })];
  });
  const called = compare((node) =>
    tree.touchedIn(node).map((line) => JSON.stringify([line, tree.spentBy(node)])),
  );
  const rewritten = compare((node) => (tree.touchedIn(node).length > 0 ? [tree.spentBy(node)] : []));
  const net = new Map(rewritten.changed.map(([by, { difference }]) => [by, Math.sign(difference)]));
  const real = called.changed.flatMap(([key, { difference }]) => {
    const [line, by] = JSON.parse(key) as [number, string];
    return Math.sign(difference) === net.get(by) ? line : [];
  });
  const kept = tree.withoutMoves(lines.changed, real);
  const { path, isMain } = findCause(kept, tree, whole) ?? { path: [], isMain: false };
  const changes = new Map(kept);
  const calls = compare((node) => tree.calledFrom(path.at(-1) ?? -1, node));
  const modules = compare((node) =>
    isMain && tree.linesOf(node).some((line) => changes.has(line)) ? [] : [tree.frameOf(node)?.module ?? ''],
  );
  const withFunctions = ({ changed }: Compared<string>): ChangedModule[] =>
    changed.map(([module, change]) => ({
      module,
      ...change,
      caller: called.changed.flatMap(([key, { difference }]) => {
        const [line, of] = JSON.parse(key) as [number, string];
        return of === module && difference / change.difference >= CALLS ? tree.places[line] : [];
      })[0],
      functions: functions.changed.flatMap(([key, own]) => {
        const { name, ...of } = JSON.parse(key) as Frame;
        return of.module === module ? [{ name, ...own }] : [];
      }),
    }));
  const show = (own: readonly number[]): ChangedPlace[] =>
    own.map((line) => ({ ...(tree.places[line] as Place), ...(changes.get(line) as Change) }));
  const others = [...changes.keys()].filter((line) => !path.includes(line));
  const callers = [...path.slice(-1), ...others];
  const beside = others.filter((line) => !callers.some((caller) => tree.isBelow(line, caller)));
  const moved = kept.length < lines.changed.length ? rewritten.others : [];
  const rest = [...lines.others, ...moved, ...modules.others, ...(isMain ? [] : functions.others)];
  return {
    baseline,
    candidate,
    whole,
    ...present({ times: pair.times }),
    path: show(path),
    isMain,
    calls: withFunctions(calls),
    modules: withFunctions(modules),
    others: show(others),
    beside: show(beside),
    ...(isNamed && {
      restUs: Math.max(least, ...rest.map(({ difference, margin }) => Math.abs(difference) + margin)),
    }),
  };
}

/**
 * Returns both sides with the CPU per request that their profiles would have if all of a side had the same, and the standard deviation of the
 * logarithm of its ratio. The pace of the machine changes between profiles: rounds that tell the ratio replace theirs, whose geometric mean stays.
 */
export function scaleSides(
  sides: readonly ProfiledSide[],
  times: ComparedPair['times'],
): { sides: readonly ProfiledSide[]; deviation: number } {
  const costs = sides.map(({ profiles }) => profiles.map(({ cpuUs }) => cpuUs)) as Costs;
  const [before, after] = costs.map((own) => own.map(Math.log)) as Costs;
  const own = compareMeans(before, after, ERROR).margin / NORMAL_95;
  const told = times === undefined ? Infinity : Math.log(times.high / times.low) / (2 * NORMAL_95);
  const [one, other] = costs.map(mean) as [number, number];
  const isTold = times !== undefined && told <= Math.max(own, TOLD_DEVIATION);
  const factor = isTold ? Math.sqrt((times.estimate * one) / other) : 1;
  const scaled = sides.map((side, index) => {
    const cpuUs = index === 0 ? one / factor : other * factor;
    return { ...side, profiles: side.profiles.map((profile) => ({ ...profile, cpuUs })) };
  });
  return { sides: scaled, deviation: isTold ? told : own };
}

/** Returns the CPU per request of a profile by properties of the stack in which it was spent, in µs. */
export function costsBy<Key>(
  { cpuUs, nodes, samples }: Profile,
  keysOf: (node: number) => readonly Key[],
): Map<Key, number> {
  const perSample = cpuUs / sum(samples);
  const costs = new Map<Key, number>();
  for (const [index, node] of nodes.entries()) {
    for (const key of keysOf(node)) costs.set(key, (costs.get(key) ?? 0) + (samples[index] ?? 0) * perSample);
  }
  return costs;
}

/** A figure of each profile of both sides. */
export type Costs = [before: number[], after: number[]];

/** What changed for sure, the largest change first, and the others. */
interface Compared<Key> {
  changed: [Key, Change][];
  others: Change[];
}

/** Compares the costs of everything that is worth a test, one for each profile of a side. */
function compareAll<Key>(
  profiles: readonly (readonly Profile[])[],
  keysOf: (node: number) => readonly Key[],
  { least, deviation }: { least: number; deviation: number },
): Compared<Key> {
  const byKey = profiles.map((own) => own.map((profile) => costsBy(profile, keysOf)));
  const keys = new Set(byKey.flat().flatMap((one) => [...one.keys()]));
  const costs = [...keys]
    .map((key): [Key, Costs] => [key, byKey.map((own) => own.map((one) => one.get(key) ?? 0)) as Costs])
    .filter(([, own]) => own.some((one) => mean(one) >= least));
  const error = SHARED / costs.length;
  const units = profiles.map((own) => mean(own.map(({ cpuUs, samples }) => cpuUs / sum(samples))));
  // The variance of a count of samples is its mean (Poisson), times a factor that all costs share.
  const sampling = (own: Costs): number[] => own.map((values, side) => mean(values) * (units[side] ?? 0));
  const factors = costs.flatMap(([, own]) =>
    sampling(own).flatMap((one, side) => (one > 0 ? [varianceOf(own[side] as number[]) / one] : [])),
  );
  const factor = Math.max(1, mean(factors));
  const all = costs.map(([key, own]): [Key, Change] => {
    const priors = sampling(own).map((one) => factor * one);
    return [key, widen(compareMeans(...own, error, priors), { error: SHARED, deviation })];
  });
  const isChanged = ({ difference, margin }: Change): boolean =>
    Math.abs(difference) >= Math.max(least, margin);
  return {
    changed: all
      .filter(([, change]) => isChanged(change))
      .toSorted(([, a], [, b]) => Math.abs(b.difference) - Math.abs(a.difference)),
    others: all.map(([, change]) => change).filter((change) => !isChanged(change)),
  };
}

/** Widens the margin of a change by the deviation of the ratio of both sides: it is one, and moves all costs alike. */
function widen(change: Change, { error, deviation }: { error: number; deviation: number }): Change {
  const moved = upperPoint(error / 2) * deviation * ((change.before + change.after) / 2);
  return { ...change, margin: Math.hypot(change.margin, moved) };
}

/**
 * The difference of two means and half of its interval by Welch (1947): the servers are different processes, and functions
 * that exist on one side have no variance on the other. `priors` are variances that moderate those of few profiles (Smyth 2004).
 */
export function compareMeans(
  baseline: readonly number[],
  candidate: readonly number[],
  error: number,
  priors?: readonly number[],
): Change {
  const sides = [baseline, candidate].map((values, side) => {
    const [own, prior] = [values.length - 1, priors === undefined ? 0 : PRIOR_FREEDOM];
    const variance = (own * varianceOf(values) + prior * (priors?.[side] ?? 0)) / (own + prior);
    return { ofMean: variance / values.length, freedom: own + prior };
  });
  const [before, after] = [mean(baseline), mean(candidate)];
  const whole = sum(sides.map(({ ofMean }) => ofMean));
  const freedom =
    whole === 0
      ? baseline.length - 1
      : whole ** 2 / sum(sides.map(({ ofMean, freedom: own }) => ofMean ** 2 / own));
  const margin = studentPoint(Math.max(1, Math.floor(freedom + 1e-9)), error) * Math.sqrt(whole);
  return { before, after, difference: after - before, margin };
}

function varianceOf(values: readonly number[]): number {
  return squaresOf(values) / (values.length - 1);
}
