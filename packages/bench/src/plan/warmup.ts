/**
 * The length of the load on each target before its window. A study of warm-up says from which age on its processes are warm;
 * without one, the workload sets the length.
 *
 * The age counts in seconds of the clock, not in answers. Some runtimes recompile after a number of calls (V8), others
 * after a delay (.NET), and a study cannot show which. In a study the process is under load for about half of the time, in
 * a trial all the time. After the same seconds a trial has therefore given at least as many answers, and the condition of
 * both kinds is met. It costs up to half of the warm-up of a runtime that counts calls.
 */
import type { PlannedWarmup } from 'bench-model/plan';
import { LONGEST_WARMUP_SECONDS } from 'bench-model/planned';

/** Processes of one target differ in the age at which they are warm, and a study has observed only a few. */
const MARGIN = 1.2;

/** One process in this many may be an exception. */
const FEWEST_TO_EXCEPT = 3;
/** Warm-ups are seldom longer. A change of the machine's pace in a study looks like a long one. */
const USUAL_SECONDS = 10;
/** Levels of CPU per request that differ by less than this factor may be those of one warm process, at two paces of the machine. */
const OTHER_LEVEL = 1.15;

/** From this number of connections on, a server is always busy, so that answers come at its own pace. */
const BUSY_CONNECTIONS = 10;

/** The kinds of rungs that are studied separately: a server that waits for its few clients gives fewer answers. */
export type RungKind = 'few' | 'many';

/** Returns the kind of a rung. */
export function kindOfRung(connections: number): RungKind {
  return connections < BUSY_CONNECTIONS ? 'few' : 'many';
}

/** Returns the fewest connections that keep a server busy, or else the most. */
export function fewestBusy(rungs: readonly number[]): number {
  const busy = rungs.filter((rung) => kindOfRung(rung) === 'many');
  return busy.length > 0 ? Math.min(...busy) : Math.max(...rungs);
}

/**
 * Returns the connections of a study for these rungs: no more than keep a server busy, because turns of more last longer and fewer of
 * them tell less.
 */
export function rungOfStudy(rungs: readonly number[]): number {
  return Math.min(fewestBusy(rungs), BUSY_CONNECTIONS);
}

/** The findings of a study about the warm-up of a target. */
export interface KnownWarmup {
  /** The id of the study. */
  study: string;
  processes: {
    /** For how long it was observed, in seconds. */
    observedSeconds: number;
    /** The age from which on it was warm; absent if it did not settle. */
    warm?: { seconds: number; answers: number };
    /** Its CPU per request by age, relative to the reference. */
    levels: { fromSeconds: number; toSeconds: number; cpuRatio: number }[];
  }[];
}

/** The target and rungs of a warm-up to plan. */
interface WarmupNeeds {
  target: string;
  rungs: number[];
  /** The shortest warm-up: that of the workload, or the one that was asked for. */
  seconds: number;
  /** False if the user set the warm-up: it is then kept, whatever is known. */
  isAuto: boolean;
}

/** Counts the processes of a study that settled. The target settles if most of them do, or all but one, which may be an exception. */
function countSettled(processes: KnownWarmup['processes']): { settled: number; settles: boolean } {
  const settled = processes.filter(({ warm }) => warm !== undefined).length;
  return { settled, settles: 2 * settled > processes.length || processes.length - settled === 1 };
}

/**
 * Returns true if a single process did not settle, or if fewer than three say that the target takes unusually long: it may be an
 * exception.
 */
export function isUncertain({ processes }: Pick<KnownWarmup, 'processes'>): boolean {
  const { settled } = countSettled(processes);
  if (2 * settled <= processes.length) return processes.length - settled === 1;
  return processes.length < FEWEST_TO_EXCEPT && slowestOf(processes) > USUAL_SECONDS;
}

/** Returns the age at which the slowest process was warm. Of every three, one may be an exception: those are left out. */
function slowestOf(processes: KnownWarmup['processes']): number {
  const ages = processes.map(({ warm }) => warm?.seconds ?? Infinity).toSorted((a, b) => b - a);
  return ages.slice(Math.floor(processes.length / FEWEST_TO_EXCEPT)).find(Number.isFinite) ?? 0;
}

/**
 * Returns true if a study says nothing about the target: its only process did not settle, or fewer than three took unusually long from a
 * level that differs little from their last one after this many seconds. A compiler changes more; the machine's pace does not.
 */
export function tellsNothing(known: KnownWarmup, seconds: number): boolean {
  const { processes } = known;
  if (processes.length === 1 && countSettled(processes).settled === 0) return true;
  const excess = excessAt(seconds, processes) ?? Infinity;
  return isUncertain(known) && Math.max(excess, 1 / excess) < OTHER_LEVEL;
}

/** Plans the warm-up of a target at rungs of one kind. */
export function planWarmup(
  { target, rungs, seconds: least, isAuto }: WarmupNeeds,
  known: KnownWarmup | undefined,
): PlannedWarmup {
  if (known === undefined || tellsNothing(known, least)) return { target, rungs, seconds: least };
  const { study, processes } = known;
  const warm = processes.flatMap((one) => one.warm ?? []);
  const { settled, settles } = countSettled(processes);
  const warmSeconds = slowestOf(processes);
  const wanted = settles && isAuto ? Math.ceil(MARGIN * warmSeconds) : 0;
  const seconds = Math.max(least, Math.min(wanted, LONGEST_WARMUP_SECONDS));
  const excess = excessAt(seconds, processes);
  return {
    target,
    rungs,
    seconds,
    study: {
      run: study,
      processes: processes.length,
      settled,
      observedSeconds: Math.min(...processes.map(({ observedSeconds }) => observedSeconds)),
      ...(settles ? { warmSeconds, warmAnswers: Math.max(0, ...warm.map(({ answers }) => answers)) } : {}),
      ...(excess === undefined ? {} : { excess }),
    },
  };
}

/** A target of a comparison by turns. */
interface WarmingTarget {
  needs: WarmupNeeds;
  /** Its programming language. */
  language: string;
  known: KnownWarmup | undefined;
}

/**
 * Plans the warm-ups of servers that take turns, and of versions of one program, at rungs of one kind. Their figures are compared, so targets of one
 * language warm up for equally long: a study of few processes would otherwise make a difference between two versions of one
 * program. A target that nothing is known of warms up for as long as the slowest of all.
 */
export function planTogether(all: readonly WarmingTarget[]): PlannedWarmup[] {
  const byLanguage = Map.groupBy(all, ({ language }) => language);
  const meetings = new Map([...byLanguage].map(([language, alike]) => [language, meet(alike)]));
  const longest = Math.max(...[...meetings.values()].map(({ seconds }) => seconds));
  return all.map(({ needs, language, known }) => {
    const { seconds, pooledSeconds } = meetings.get(language) as Meeting;
    if (!needs.isAuto) return planWarmup(needs, known);
    if (known === undefined || tellsNothing(known, needs.seconds))
      return planWarmup({ ...needs, seconds: longest }, undefined);
    const isException = !isWellKnown(known) && slowestOf(known.processes) > pooledSeconds;
    return planWarmup({ ...needs, seconds, isAuto: false }, isException ? undefined : known);
  });
}

/** The warm-up that the targets of one language share. */
interface Meeting {
  /** Their warm-up, in seconds. */
  seconds: number;
  /** The age at which the processes of those that were studied little were warm, without exceptions. */
  pooledSeconds: number;
}

/**
 * Returns the longest warm-up of those that were studied well, and that of the others as if all their processes were of one target. The
 * longest of many single processes would be that of an exception.
 */
function meet(alike: readonly WarmingTarget[]): Meeting {
  const pooled = alike.flatMap(({ known }) => (isWellKnown(known) ? [] : (known?.processes ?? [])));
  const lengths = alike.map(
    ({ needs, known }) =>
      planWarmup(needs, isWellKnown(known) ? known : { study: '', processes: pooled }).seconds,
  );
  return { seconds: Math.max(...lengths), pooledSeconds: slowestOf(pooled) };
}

function isWellKnown(known: KnownWarmup | undefined): boolean {
  return known !== undefined && known.processes.length >= FEWEST_TO_EXCEPT;
}

/** Returns CPU per request at an age ÷ at the end, the geometric mean over processes; undefined if no study saw that age. */
function excessAt(seconds: number, processes: KnownWarmup['processes']): number | undefined {
  const logs = processes.flatMap(({ levels }) => {
    const last = levels.at(-1);
    const now = levels.find(({ toSeconds }) => toSeconds > seconds) ?? last;
    if (last === undefined || now === undefined) return [];
    const isUnseen = now === levels[0] && seconds < now.fromSeconds;
    return isUnseen ? [] : [Math.log(now.cpuRatio / last.cpuRatio)];
  });
  if (logs.length === 0) return undefined;
  return Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
}
