import { CROSS_CHECK_SHARE, disagrees, type CrossCheck } from '../analyse/cross-check.ts';
import type { Figure } from '../analyse/summary.ts';
import { formatCount, formatShare, formatWhole } from './format.ts';

/** What two engines say of one target, in one line. */
export function describeCrossCheck(check: CrossCheck): string {
  const { target, connections, engine, other, goodput, otherGoodput, ratio, overlap } = check;
  const place = `cross-check: ${target} at ${formatWhole(connections)}`;
  if (goodput === undefined || otherGoodput === undefined || ratio === undefined)
    return `${place}: not to be told, ${goodput === undefined ? engine : other} gave no goodput.`;
  const said = disagrees(check)
    ? `THE ENGINES DIFFER by more than ${formatShare(CROSS_CHECK_SHARE)}`
    : `they agree within ${formatShare(CROSS_CHECK_SHARE)}`;
  const ranges = `the ranges of their rounds ${overlap ? 'overlap' : 'do not overlap'}`;
  const doubts = [describeDoubt(engine, goodput), describeDoubt(other, otherGoodput)].filter(Boolean);
  return `${[`${place}: ${other} saw ${formatCount(otherGoodput.median)}/s where ${engine} saw ${formatCount(goodput.median)}/s, × ${ratio.toFixed(3)}: ${said}; ${ranges}`, ...doubts].join('; ')}.`;
}

function describeDoubt(engine: string, { atLeast, valid }: Figure): string {
  if (atLeast) return `by ${engine} it is a lower bound`;
  return valid ? '' : `by ${engine} it was spoilt`;
}
