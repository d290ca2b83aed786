import { describe, expect, it } from 'vitest';
import { quantile } from '../../experiments/steal/quantile.ts';
import { known, roundTo } from '../../../bench-analysis/test/known.ts';

describe('quantile', () => {
  it.each(known.quantiles)(
    'equals numpy’s linear quantile for $values.length values',
    ({ values, shares, quantiles }) => {
      expect(shares.map((share) => roundTo(quantile(values, share)))).toEqual(
        quantiles.map((q) => roundTo(q)),
      );
    },
  );
});
