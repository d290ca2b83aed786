/** Which functions and modules cost more or less per request on one side of a comparison, beyond the noise of the profiles. */
import type { ComparedPair, Frame, Profile, ProfiledSide, WhyFile } from 'bench-model/why';
import { upperPoint } from 'bench-statistics/normal';
import { mean, sum } from 'bench-statistics/numbers';
import { studentPoint } from 'bench-statistics/student';

/** Costs below this share of the CPU per request of the baseline are not tested, and such differences not named. */
const LEAST_SHARE = 0.01;
/** The chance that any function or module is named between equal builds. */
const ERROR = 0.05;
/** Fewer profiles of a side have no interval. */
const FEWEST_PROFILES = 3;
/** Half of a 95 % interval, in standard deviations. */
const NORMAL_95 = 1.96;

/** The mean of a figure on both sides. The margin is half of the interval of the difference. */
export interface Change {
  before: number;
  after: number;
  difference: number;
  margin: number;
}

/** A function whose own cost changed, in µs of CPU per request. */
export interface ChangedFunction extends Change {
  frame: Frame;
}

/** A package, a module or a file whose functions together changed in cost, in µs of CPU per request. */
export interface ChangedModule extends Change {
  module: string;
  /** Those of its functions that changed, the largest change first. */
  functions: ChangedFunction[];
}

/** What the profiles of two targets say about their difference. All intervals hold together with 95 % confidence. */
export interface Explained {
  baseline: ProfiledSide;
  candidate: ProfiledSide;
  /** CPU per request in all, in µs. */
  whole: Change;
  /** The largest change first. */
  functions: ChangedFunction[];
  modules: ChangedModule[];
  /** No function and no module that is not named changed by more than this, in µs; absent if a side had no profiler. */
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
  const { sides, deviation } = scaleToRounds([baseline, candidate], pair.times);
  const isNamed = sides.every(({ profiler }) => profiler !== undefined);
  const profiles = sides.map((side) => side.profiles);
  const wholes = profiles.map((own) => own.map(({ cpuUs }) => cpuUs)) as Costs;
  const least = LEAST_SHARE * mean(wholes[0]);
  const frameOf = (node: number): number => why.tree.frames[node] as number;
  const moduleOf = (node: number): string => why.frames[frameOf(node)]?.module ?? '';
  const sampled = isNamed ? profiles : [];
  const frames = tested(sampled, (profile) => costsBy(profile, frameOf), least);
  const named = tested(sampled, (profile) => costsBy(profile, moduleOf), least);
  const error = ERROR / (1 + frames.size + named.size);
  const functions = compareAll(frames, { error, least, deviation });
  const modules = compareAll(named, { error, least, deviation });
  const rest = [...functions.others, ...modules.others];
  const changed = functions.changed.map(([frame, change]): ChangedFunction => {
    return { frame: why.frames[frame] as Frame, ...change };
  });
  return {
    baseline,
    candidate,
    whole: widen(compareMeans(...wholes, error), { error, deviation }),
    functions: changed,
    modules: modules.changed.map(([module, change]) => ({
      module,
      ...change,
      functions: changed.filter(({ frame }) => frame.module === module),
    })),
    ...(isNamed && {
      restUs: Math.max(least, ...rest.map(({ difference, margin }) => Math.abs(difference) + margin)),
    }),
  };
}

/**
 * Returns both sides with the ratio of CPU per request that the rounds of the run tell, and the standard deviation of its logarithm. All profiles of a
 * side then have the same, and both sides keep their geometric mean. Without `times`, each profile keeps what it measured itself.
 */
export function scaleToRounds(
  sides: readonly ProfiledSide[],
  times: ComparedPair['times'],
): { sides: readonly ProfiledSide[]; deviation: number } {
  if (times === undefined) return { sides, deviation: 0 };
  const middle = Math.sqrt(
    sides.reduce((all, { profiles }) => all * mean(profiles.map(({ cpuUs }) => cpuUs)), 1),
  );
  const wholes = [middle / Math.sqrt(times.estimate), middle * Math.sqrt(times.estimate)];
  return {
    sides: sides.map((side, index) => ({
      ...side,
      profiles: side.profiles.map((profile) => ({ ...profile, cpuUs: wholes[index] as number })),
    })),
    deviation: Math.log(times.high / times.low) / (2 * NORMAL_95),
  };
}

/** Returns the CPU per request of a profile by a property of the stack in which it was spent, in µs. */
function costsBy<Key>({ cpuUs, nodes, samples }: Profile, keyOf: (node: number) => Key): Map<Key, number> {
  const perSample = cpuUs / sum(samples);
  const costs = new Map<Key, number>();
  for (const [index, node] of nodes.entries()) {
    const key = keyOf(node);
    costs.set(key, (costs.get(key) ?? 0) + (samples[index] ?? 0) * perSample);
  }
  return costs;
}

/** Returns CPU per request by the stack in which it was spent, in µs: the mean over the profiles of a target. */
export function stackCosts({ profiles }: Pick<ProfiledSide, 'profiles'>): Map<number, number> {
  const costs = new Map<number, number>();
  for (const profile of profiles) {
    for (const [node, us] of costsBy(profile, (one) => one))
      costs.set(node, (costs.get(node) ?? 0) + us / profiles.length);
  }
  return costs;
}

type Costs = [before: number[], after: number[]];

/** Returns the costs of everything that is worth a test, one for each profile of a side. */
function tested<Key>(
  profiles: readonly (readonly Profile[])[],
  costsOf: (profile: Profile) => Map<Key, number>,
  leastUs: number,
): Map<Key, Costs> {
  const costs = profiles.map((own) => own.map(costsOf));
  const keys = new Set(costs.flat().flatMap((one) => [...one.keys()]));
  const all = [...keys].map((key): [Key, Costs] => [
    key,
    costs.map((own) => own.map((one) => one.get(key) ?? 0)) as Costs,
  ]);
  return new Map(all.filter(([, own]) => own.some((one) => mean(one) >= leastUs)));
}

/** Compares costs. Returns those that changed for sure, the largest change first, and the others. */
function compareAll<Key>(
  costs: Map<Key, Costs>,
  { error, least, deviation }: { error: number; least: number; deviation: number },
): { changed: [Key, Change][]; others: Change[] } {
  const all = [...costs].map(([key, own]): [Key, Change] => [
    key,
    widen(compareMeans(...own, error), { error, deviation }),
  ]);
  const isChanged = ({ difference, margin }: Change): boolean =>
    Math.abs(difference) >= Math.max(least, margin);
  return {
    changed: all
      .filter(([, change]) => isChanged(change))
      .toSorted(([, a], [, b]) => Math.abs(b.difference) - Math.abs(a.difference)),
    others: all.map(([, change]) => change).filter((change) => !isChanged(change)),
  };
}

/** Widens the margin of a change by the deviation of the ratio of both sides: it moves each cost as much. */
function widen(change: Change, { error, deviation }: { error: number; deviation: number }): Change {
  const moved = upperPoint(error / 2) * deviation * ((change.before + change.after) / 2);
  return { ...change, margin: Math.hypot(change.margin, moved) };
}

/**
 * The difference of two means and half of its interval by Welch (1947): the servers are different processes, and functions
 * that exist on one side have no variance on the other.
 */
export function compareMeans(
  baseline: readonly number[],
  candidate: readonly number[],
  error: number,
): Change {
  const [before, after] = [mean(baseline), mean(candidate)];
  const [one, other] = [varianceOfMean(baseline), varianceOfMean(candidate)];
  const whole = one + other;
  const freedom =
    whole === 0
      ? baseline.length - 1
      : whole ** 2 / (one ** 2 / (baseline.length - 1) + other ** 2 / (candidate.length - 1));
  const margin = studentPoint(Math.max(1, Math.floor(freedom + 1e-9)), error) * Math.sqrt(whole);
  return { before, after, difference: after - before, margin };
}

function varianceOfMean(values: readonly number[]): number {
  const centre = mean(values);
  return sum(values.map((value) => (value - centre) ** 2)) / (values.length - 1) / values.length;
}
