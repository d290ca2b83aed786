/** Several tests on one error budget, rejected from the smallest p value on (Holm 1979). */

/** What one test of a family may spend: its p value adjusted, and the number that its level is divided by. */
export interface Share {
  adjustedP: number;
  divisor: number;
}

/**
 * Holm's step-down of a family: adjusted p values (rejected at `alpha` where they are `alpha` at most), and for each
 * test the divisor of its level. Tests that are not rejected share the divisor of the first of them, so that an
 * interval made at the divided level excludes its null value exactly when the adjusted p value says so.
 * Order is that of the input. Throws RangeError for a p value outside 0 to 1.
 */
export function shareBudget(pValues: readonly number[], alpha: number): Share[] {
  if (!pValues.every((p) => p >= 0 && p <= 1)) throw new RangeError('a p value lies between 0 and 1');
  const rising = pValues.map((p, test) => ({ p, test })).toSorted((a, b) => a.p - b.p);
  const shares = pValues.map((): Share => ({ adjustedP: 1, divisor: 1 }));

  let adjustedP = 0;
  let stuckAt: number | undefined;
  for (const [before, { p, test }] of rising.entries()) {
    const divisor = rising.length - before;
    adjustedP = Math.max(adjustedP, Math.min(1, p * divisor));
    if (adjustedP > alpha * (1 + 1e-9)) stuckAt ??= divisor;
    shares[test] = { adjustedP, divisor: stuckAt ?? divisor };
  }
  return shares;
}
