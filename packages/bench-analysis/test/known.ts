/** The results of scipy, computed by bench-lab/testing/fixtures/scipy/generate.py. */
import { readFileSync } from 'node:fs';

interface Known {
  signedRank: {
    differences: number[];
    alpha: number;
    estimate: number;
    p: number;
    interval: [number, number] | null;
  }[];
  signedRankErrors: { n: number; errors: number[] }[];
  mannWhitney: {
    first: number[];
    second: number[];
    estimate: number;
    interval: [number, number] | null;
  }[];
  quantiles: { values: number[]; shares: number[]; quantiles: number[]; deviation: number }[];
  student: { freedom: number; point: number }[];
}

export const known: Known = JSON.parse(
  readFileSync(new URL('../../bench-lab/testing/fixtures/scipy/known.json', import.meta.url), 'utf8'),
);

export function roundTo(value: number, digits = 10): number {
  return Number(value.toPrecision(digits));
}
