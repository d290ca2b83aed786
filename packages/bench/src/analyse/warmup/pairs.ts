/** From what a study stored to the ratios that the statistics take. */
import type { StudiedProcess, Turn } from '../../results/study/record.ts';
import type { ProcessSeries } from './study.ts';

/** Returns the series of a process. Pairs with a side that answered nothing in its window have no ratio and are omitted. */
export function toSeries({ pairs }: Pick<StudiedProcess, 'pairs'>): ProcessSeries {
  return {
    pairs: pairs
      .map(({ seconds, answers, fresh, reference }) => ({
        seconds,
        answers,
        cpuRatio: costOf(fresh) / costOf(reference),
        goodputRatio: fresh.goodputPerSecond / reference.goodputPerSecond,
      }))
      .filter(({ cpuRatio, goodputRatio }) => isRatio(cpuRatio) && isRatio(goodputRatio)),
  };
}

function costOf({ cpuUs, answers }: Turn): number {
  return cpuUs / answers;
}

function isRatio(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}
