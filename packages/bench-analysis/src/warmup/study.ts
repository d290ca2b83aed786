/**
 * A study of warm-up: the pairs of its processes, which of them count, and what those of a target share. Ratios are to a warm
 * reference on the same core; 1 is equal.
 *
 * The pace of the machine during a study, as the reference shows it.
 *
 * The ratio to the reference cancels the pace of the machine only as far as it slows both servers alike. A shared machine
 * has states that last for seconds and that do not: on one VM, they made a request of the reference 1.7 times as
 * expensive, and one of a server that mostly computes 1.3 or 1.6 times. So the turns count that met the usual pace. They
 * are chosen by the reference alone: no change of the server leads to a choice.
 *
 * Studies of known courses beside a neighbour in bursts are in docs/concepts/warm-up.md.
 */
import type { StudiedProcess } from 'bench-model/study';
import { median } from 'bench-statistics/numbers';
import { studentInterval } from 'bench-statistics/student';
import { costsOf } from '../judge/trend.ts';
import type { StoredStudy } from '../results/study/store.ts';
import {
  ageBetween,
  type ProcessStudy,
  type RatioEstimate,
  studyProcess,
  type WarmClass,
  type WarmPair,
} from './process.ts';

/** The median and the range of a figure over processes. */
export interface Spread {
  median: number;
  low: number;
  high: number;
}

/** The course of several processes of one target. */
export interface TargetStudy {
  /** The class that all processes share, or `inconsistent`. */
  class: WarmClass | 'inconsistent';
  /** The number of processes of each class. */
  classes: Record<WarmClass, number>;
  processes: ProcessStudy[];
  /** The number of processes that settled. */
  settled: number;
  /** Seconds and answers until warm, over the processes that settled; absent if none did. */
  warmSeconds?: Spread;
  warmAnswers?: Spread;
  /** Ratios of the last level, over all processes. */
  lastCpu: Spread;
  lastGoodput: Spread;
  /** Last level ÷ level right after the default warm-up: the mean over processes, with its interval. */
  lastOverEarlyCpu?: RatioEstimate;
  lastOverEarlyGoodput?: RatioEstimate;
}

/** One process that was observed to its end. */
export interface ObservedProcess {
  process: number;
  /** Its pairs at the usual pace of the machine; all, if no process of its target met that pace for half of its pairs. */
  pairs: readonly WarmPair[];
  /** The part of its pairs that met the usual pace, from 0 to 1. */
  usualShare: number;
  /** Undefined if there are too few pairs, or if it does not count: then it was disturbed, and others were not. */
  course: ProcessStudy | undefined;
}

/** One target of a study: its observed processes and what they show. */
export interface StudiedTarget {
  id: string;
  whole: ObservedProcess[];
  /** The number of disturbed processes. */
  disturbed: number;
  /** Undefined if no process was observed for long enough. */
  study: TargetStudy | undefined;
}

/** All pairs of one process. */
export interface ProcessPairs {
  target: string;
  process: number;
  all: readonly WarmPair[];
}

/** Studies all targets of a stored study, in its order. */
export function studyTargets({ file, processes }: Pick<StoredStudy, 'file' | 'processes'>): StudiedTarget[] {
  return studyObserved(
    observedOf(processes),
    file.targets.map(({ id }) => id),
  );
}

/** Counts the disturbed processes of each target, without studying their courses. */
export function countDisturbed(
  processes: readonly StudiedProcess[],
): Pick<StudiedTarget, 'id' | 'disturbed'>[] {
  const selected = selectAll(observedOf(processes));
  return [...Map.groupBy(selected, ({ target }) => target)].map(([id, own]) => ({
    id,
    disturbed: own.filter(({ isDisturbed }) => isDisturbed).length,
  }));
}

/** The pairs of the processes that were observed to their end. */
function observedOf(processes: readonly StudiedProcess[]): ProcessPairs[] {
  return processes
    .filter(({ status }) => status === 'ok')
    .map((one) => ({ target: one.target.id, process: one.process, all: pairsOf(one) }));
}

/** Selects the pairs of each process at the pace that was usual beside all of them. */
function selectAll(observed: readonly ProcessPairs[]): (ProcessPairs & UsualPairs)[] {
  const usual = findUsualPace(observed.map(({ all }) => all));
  return observed.map((one) => ({ ...one, ...selectUsual(one.all, usual) }));
}

/** Studies targets by their processes, which were observed beside one reference. */
export function studyObserved(
  observed: readonly ProcessPairs[],
  targets: readonly string[],
): StudiedTarget[] {
  const selected = selectAll(observed);
  return targets.map((id) => {
    const own = selected.filter(({ target }) => target === id);
    const disturbed = own.filter(({ isDisturbed }) => isDisturbed).length;
    const isHopeless = disturbed === own.length;
    const whole = own.map(({ process, all, pairs, share, isDisturbed }) => ({
      process,
      pairs: isHopeless ? all : pairs,
      usualShare: share,
      course: isHopeless ? studyProcess(all) : isDisturbed ? undefined : studyProcess(pairs),
    }));
    const studies = whole.flatMap(({ course }) => course ?? []);
    return { id, whole, disturbed, study: studies.length === 0 ? undefined : studyTarget(studies) };
  });
}

/** Returns the pairs of a process. Those with a side that answered nothing in its window have no ratio and are omitted. */
export function pairsOf({ course }: Pick<StudiedProcess, 'course'>): WarmPair[] {
  if (course === undefined) return [];
  const { fresh, reference } = course;
  const [own, others] = [costsOf(fresh), costsOf(reference)];
  let answers = course.answersBefore;
  const pairs = course.seconds.map((seconds, turn) => ({
    seconds,
    answers: (answers += fresh.answers[turn] ?? 0),
    cpuRatio: ratioAt(own, others, turn),
    goodputRatio: ratioAt(fresh.goodputPerSecond, reference.goodputPerSecond, turn),
    referenceUs: others[turn] ?? Number.NaN,
  }));
  return pairs.filter(({ cpuRatio, goodputRatio }) => isRatio(cpuRatio) && isRatio(goodputRatio));
}

function ratioAt(figures: readonly number[], others: readonly number[], turn: number): number {
  return (figures[turn] ?? Number.NaN) / (others[turn] ?? Number.NaN);
}

function isRatio(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

/** The machine has its usual pace if a request of the reference costs at most a third more or less than usual. */
const SAME_PACE = Math.log(4 / 3);
/** The pace at a pair is the median over it and this many pairs on either side. */
const AROUND = 3;
/** A process that met the usual pace in a smaller part of its pairs was disturbed. */
const FEWEST_USUAL = 0.5;

/**
 * The usual CPU of the reference per request, in µs: the centre of the range of paces in which most pairs were measured.
 * Undefined without pairs.
 */
export function findUsualPace(all: readonly (readonly WarmPair[])[]): number | undefined {
  const paces = all.flatMap(pacesOf).toSorted((a, b) => a - b);
  if (paces.length === 0) return undefined;
  let best = { from: 0, to: 0 };
  let from = 0;
  for (const [at, pace] of paces.entries()) {
    while (pace - paces[from]! > 2 * SAME_PACE) from++;
    if (at + 1 - from > best.to - best.from) best = { from, to: at + 1 };
  }
  return Math.exp(median(paces.slice(best.from, best.to)));
}

/** The pairs of a process that met the usual pace of the machine. */
export interface UsualPairs {
  pairs: readonly WarmPair[];
  /** The part of its pairs that these are, from 0 to 1. */
  share: number;
  /** True if that is less than half: what is left of its course may miss a change. */
  isDisturbed: boolean;
}

/**
 * Selects the pairs of a process at the usual pace, which is in µs per request of the reference. A process without pairs
 * has a share of 1: nothing shows that it was disturbed.
 */
export function selectUsual(all: readonly WarmPair[], usualUs: number | undefined): UsualPairs {
  if (usualUs === undefined || all.length === 0) return { pairs: all, share: 1, isDisturbed: false };
  const usual = Math.log(usualUs);
  const paces = pacesOf(all);
  const isUsual = paces.map((pace) => Math.abs(pace - usual) <= SAME_PACE);
  const pairs = all.flatMap((pair, at) => {
    if (!isUsual[at]) return [];
    return at === 0 || isUsual[at - 1] ? [pair] : [{ ...pair, since: ageBetween(all[at - 1]!, pair) }];
  });
  const share = pairs.length / all.length;
  return { pairs, share, isDisturbed: share < FEWEST_USUAL };
}

/** The logarithm of the pace at each pair. */
function pacesOf(pairs: readonly WarmPair[]): number[] {
  const costs = pairs.map(({ referenceUs }) => Math.log(referenceUs));
  return costs.map((_, at) => median(costs.slice(Math.max(0, at - AROUND), at + AROUND + 1)));
}

/** Studies a target by the courses of its processes. Throws RangeError for no processes. */
export function studyTarget(processes: readonly ProcessStudy[]): TargetStudy {
  const [first] = processes;
  if (!first) throw new RangeError('a study needs at least one process');
  const classes: Record<WarmClass, number> = { flat: 0, 'warm-up': 0, slowdown: 0, 'no steady state': 0 };
  for (const process of processes) classes[process.class]++;
  const settled = processes.filter(({ warm }) => warm);
  const ages = settled.flatMap(({ warm }) => (warm ? [warm] : []));
  const cpu = overProcesses(processes.map(({ lastOverEarlyCpu }) => lastOverEarlyCpu));
  const goodput = overProcesses(processes.map(({ lastOverEarlyGoodput }) => lastOverEarlyGoodput));
  return {
    class: classes[first.class] === processes.length ? first.class : 'inconsistent',
    classes,
    processes: [...processes],
    settled: settled.length,
    ...(ages.length > 0 && {
      warmSeconds: spreadOf(ages.map(({ seconds }) => seconds)),
      warmAnswers: spreadOf(ages.map(({ answers }) => answers)),
    }),
    lastCpu: spreadOf(processes.map(({ lastCpu }) => lastCpu.ratio)),
    lastGoodput: spreadOf(processes.map(({ lastGoodput }) => lastGoodput.ratio)),
    ...(cpu && { lastOverEarlyCpu: cpu }),
    ...(goodput && { lastOverEarlyGoodput: goodput }),
  };
}

function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** The geometric mean over processes, with Student's interval; a single process keeps its own interval. */
function overProcesses(ratios: readonly (RatioEstimate | undefined)[]): RatioEstimate | undefined {
  const known = ratios.filter((ratio) => ratio !== undefined);
  if (known.length < 2) return known[0];
  const { mean: centre, margin } = studentInterval(known.map(({ ratio }) => Math.log(ratio)));
  return {
    ratio: Math.exp(centre),
    interval: { low: Math.exp(centre - margin), high: Math.exp(centre + margin) },
  };
}
