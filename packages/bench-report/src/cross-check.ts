import { CROSS_CHECK_SHARE, disagrees, type CrossCheck } from 'bench-analysis/cross-check';
import type { Figure } from 'bench-analysis/summary';
import { formatCount, formatShare, nameCell } from './format.ts';

/** Compares the goodput of two engines for one target, in one line. */
export function describeCrossCheck(check: CrossCheck): string {
  const { engine, other, goodput, otherGoodput, ratio, overlap } = check;
  const place = `cross-check: ${nameCell(check)}`;
  if (goodput === undefined || otherGoodput === undefined || ratio === undefined)
    return `${place}: no result, because ${goodput === undefined ? engine : other} measured no goodput.`;
  const verdict = disagrees(check)
    ? `THE ENGINES DIFFER by more than ${formatShare(CROSS_CHECK_SHARE)}`
    : `they agree within ${formatShare(CROSS_CHECK_SHARE)}`;
  const ranges = `the ranges of their rounds ${overlap ? 'overlap' : 'do not overlap'}`;
  const doubts = [describeDoubt(engine, goodput), describeDoubt(other, otherGoodput)].filter(Boolean);
  return `${[`${place}: ${other} measured ${formatCount(otherGoodput.median)}/s and ${engine} ${formatCount(goodput.median)}/s, × ${ratio.toFixed(3)}: ${verdict}; ${ranges}`, ...doubts].join('; ')}.`;
}

function describeDoubt(engine: string, { atLeast, valid }: Figure): string {
  if (atLeast) return `the figure of ${engine} is a lower bound`;
  return valid ? '' : `the figure of ${engine} is invalid`;
}
