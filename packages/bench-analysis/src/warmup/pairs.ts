/** From what a study stored to the ratios that the statistics take. */
import type { Turns } from 'bench-model/measured';
import type { StudiedProcess } from 'bench-model/study';
import type { Age, ProcessSeries, WarmPair } from './study.ts';

/** Returns the series of a process. Pairs with a side that answered nothing in its window have no ratio and are omitted. */
export function toSeries({ course }: Pick<StudiedProcess, 'course'>): ProcessSeries {
  if (course === undefined) return { pairs: [] };
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
  return { pairs: pairs.filter(({ cpuRatio, goodputRatio }) => isRatio(cpuRatio) && isRatio(goodputRatio)) };
}

/** Returns the age between two neighbouring pairs. */
export function ageBetween(one: WarmPair, next: WarmPair): Age {
  return { seconds: (one.seconds + next.seconds) / 2, answers: one.answers };
}

function costsOf({ cpuUs = [], answers }: Turns): number[] {
  return cpuUs.map((us, turn) => us / (answers[turn] ?? 0));
}

function ratioAt(figures: readonly number[], others: readonly number[], turn: number): number {
  return (figures[turn] ?? Number.NaN) / (others[turn] ?? Number.NaN);
}

function isRatio(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}
