/** The targets of a stored study: which of their processes count, and what these show. */
import type { StudiedProcess } from 'bench-model/study';
import type { StoredStudy } from '../results/study/store.ts';
import { findUsualPace, selectUsual, type UsualPairs } from './pace.ts';
import { toSeries } from './pairs.ts';
import { studyProcess } from './process.ts';
import type { ProcessSeries, ProcessStudy, TargetStudy } from './study.ts';
import { studyTarget } from './target.ts';

/** One process that was observed to its end. */
export interface ObservedProcess {
  process: number;
  /** Its pairs at the usual pace of the machine; all, if no process of its target met that pace for half of its pairs. */
  series: ProcessSeries;
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
  all: ProcessSeries;
}

/** Studies all targets of a stored study, in its order. */
export function studyTargets({ file, processes }: Pick<StoredStudy, 'file' | 'processes'>): StudiedTarget[] {
  return studyObserved(
    pairsOf(processes),
    file.targets.map(({ id }) => id),
  );
}

/** Counts the disturbed processes of each target, without studying their courses. */
export function countDisturbed(
  processes: readonly StudiedProcess[],
): Pick<StudiedTarget, 'id' | 'disturbed'>[] {
  const selected = selectAll(pairsOf(processes));
  return [...Map.groupBy(selected, ({ target }) => target)].map(([id, own]) => ({
    id,
    disturbed: own.filter(({ isDisturbed }) => isDisturbed).length,
  }));
}

/** The pairs of the processes that were observed to their end. */
function pairsOf(processes: readonly StudiedProcess[]): ProcessPairs[] {
  return processes
    .filter(({ status }) => status === 'ok')
    .map((one) => ({ target: one.target.id, process: one.process, all: toSeries(one) }));
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
    const whole = own.map(({ process, all, series, share, isDisturbed }) => ({
      process,
      series: isHopeless ? all : series,
      usualShare: share,
      course: isHopeless ? studyProcess(all) : isDisturbed ? undefined : studyProcess(series),
    }));
    const studies = whole.flatMap(({ course }) => course ?? []);
    return { id, whole, disturbed, study: studies.length === 0 ? undefined : studyTarget(studies) };
  });
}
