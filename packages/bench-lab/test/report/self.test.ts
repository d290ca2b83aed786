import { describe, expect, it } from 'vitest';
import { isKnown, isKnownTo, summariseSelf, type SelfRound } from '../../src/report/self.ts';
import type { Measured } from 'bench-model/measured';
import { createRandom } from 'bench-statistics/random';

/** Rounds in which the driver answers twice as many requests per CPU second as stock autocannon, and 0.8 times as many as the plain client. */
function roundsOf(count: number, deviation: number, hasPlain: boolean): SelfRound[] {
  const random = createRandom(1);
  const work = (answers: number) => ({
    answers: answers * Math.exp(deviation * random.normal()),
    cpuUs: 1e6,
  });
  return Array.from({ length: count }, (_, index) => ({
    driver: work(80_000),
    stock: work(40_000),
    plain: hasPlain ? work(100_000) : undefined,
    harnessCores: index % 2 === 0 ? 0.03 : 0.02,
    isSampled: index % 2 === 0,
  }));
}

const measured = { load: { windowSeconds: 3, connect: { seconds: 0.5, retried: 0 } } } as Measured;
const rungOf = (rounds: SelfRound[]) => ({
  connections: 10,
  trials: [{ measured, wallSeconds: 4 }],
  rounds,
});

describe('the cost of the instrument', () => {
  it('is given as ratios to both rivals, the cost of sampling and the share of the window', () => {
    const { head, rows, notes } = summariseSelf([rungOf(roundsOf(40, 0.01, true))]);
    const [row = []] = rows;
    const cell = (name: string) => row[head.indexOf(name)];
    expect(cell('driver/stock')).toMatch(/^(1\.99|2\.0[01]) \(1\.9\d–2\.0\d\)$/);
    expect(cell('driver/plain')).toMatch(/^0\.80 \(/);
    expect(cell('sampling')).toBe('1.0 %');
    expect(cell('duty cycle')).toBe('75 %');
    expect(notes.join('\n')).not.toContain('not known');
  });

  it('has no ratio to a client that took no turns, and is known without it', () => {
    const rounds = roundsOf(40, 0.01, false);
    const { head, rows } = summariseSelf([rungOf(rounds)]);
    expect(rows[0]?.[head.indexOf('driver/plain')]).toBe('—');
    expect(isKnown(rounds)).toBe(true);
  });

  it('says which ratios are too vague', () => {
    const rounds = roundsOf(12, 0.3, true);
    expect(isKnown(rounds)).toBe(false);
    expect(summariseSelf([rungOf(rounds)]).notes.at(-1)).toMatch(/^the ratios at 10 are not known to ±5 %/);
  });
});

describe('a ratio', () => {
  it('is known to a share as soon as both ends of the interval are that close', () => {
    expect(isKnownTo({ estimate: 2, low: 1.91, high: 2.09 }, 0.05)).toBe(true);
    expect(isKnownTo({ estimate: 2, low: 1.89, high: 2.01 }, 0.05)).toBe(false);
    expect(isKnownTo({ estimate: 2, low: 1.99, high: 2.11 }, 0.05)).toBe(false);
    expect(isKnownTo({ estimate: 2 }, 10)).toBe(false);
  });
});
