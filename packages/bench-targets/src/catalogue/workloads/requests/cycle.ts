/** The order in which requests of different weights are sent. */

/**
 * Returns one cycle of indexes in which each occurs exactly as often as its weight, spread as evenly as possible: smooth
 * weighted round robin, as nginx balances upstreams. Weights with a common divisor make a shorter cycle.
 */
export function orderByWeight(weights: readonly number[]): number[] {
  const divisor = weights.reduce(greatestDivisor, 0) || 1;
  const parts = weights.map((weight) => weight / divisor);
  const total = parts.reduce((sum, part) => sum + part, 0);
  const current = parts.map(() => 0);
  return Array.from({ length: total }, () => {
    let next = 0;
    for (const [index, part] of parts.entries()) {
      current[index] = (current[index] ?? 0) + part;
      if ((current[index] ?? 0) > (current[next] ?? 0)) next = index;
    }
    current[next] = (current[next] ?? 0) - total;
    return next;
  });
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
