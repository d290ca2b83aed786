import { describe, expect, it } from 'vitest';
import { scheduleNamed } from '../../src/catalogue/looks.ts';
import type { Comparison } from '../../src/analyse/comparison.ts';
import { fixedSchedule, levelOf } from '../../src/analyse/looks.ts';
import { compareTable } from '../../src/analyse/paired.ts';
import { trimFor } from '../../src/analyse/signed-rank.ts';
import { compareUnpaired } from '../../src/analyse/unpaired.ts';
import { createRandom, type Random } from '../../src/random.ts';

const SIZES = [2, 6, 14, 30];
const LOOKS = scheduleNamed('12/18/24');
const RULES = { better: 'lower', threshold: 0.02 } as const;
const TWO_PERCENT = Math.log(1.02);

type Noise = (random: Random) => number;

/** Noise at one position in time: calm, or with occasional bursts that only add time. */
const NOISES: [string, Noise][] = [
  ['calm', (random) => 0.012 * random.normal()],
  [
    'bursts',
    (random) =>
      0.01 * random.normal() + (random.float() < 0.15 ? 0.06 - 0.06 * Math.log(1 - random.float()) : 0),
  ],
];

/** Log ratios of `rows` candidates to one baseline, whose noise they share. */
function drawTable(rows: number, rounds: number, centre: number, noise: Noise, random: Random): number[][] {
  const baseline = Array.from({ length: rounds }, () => noise(random));
  return Array.from({ length: rows }, () => baseline.map((own) => centre + noise(random) - own));
}

const misses = ({ interval }: Comparison, centre: number): boolean =>
  interval !== undefined && (interval.low > centre || interval.high < centre);

/** Checks if the interval of a look misses `centre`, by the smaller signed-rank sum instead of the averages. */
function missesByRanks(row: readonly number[], centre: number, k: number | undefined): boolean {
  if (k === undefined) return false;
  const rising = row.map((d) => d - centre).toSorted((a, b) => Math.abs(a) - Math.abs(b));
  const above = rising.reduce((sum, d, rank) => sum + (d > 0 ? rank + 1 : 0), 0);
  return Math.min(above, (row.length * (row.length + 1)) / 2 - above) <= k;
}

describe.each(NOISES)('all looks of a table against one baseline, %s', (_, noise) => {
  it.each(SIZES)(
    '%i rows: all intervals of all looks hold simultaneously in 95 percent of tables',
    (rows) => {
      const random = createRandom(rows);
      const ks = LOOKS.map((look) => trimFor(look.rounds, levelOf(look, LOOKS, rows)));
      const tables = 3000;
      let missing = 0;
      for (let table = 0; table < tables; table++) {
        const drawn = drawTable(rows, 24, 0, noise, random);
        const isMissing = drawn.some((row) =>
          LOOKS.some(({ rounds }, look) => missesByRanks(row.slice(0, rounds), 0, ks[look])),
        );
        if (isMissing) missing++;
      }
      expect(missing / tables).toBeLessThanOrEqual(0.05);
      expect(missing / tables).toBeGreaterThan(0.02);
    },
  );

  it.each(SIZES)(
    '%i rows at 0 and at +2 percent: at most 5 percent of tables say "by more than 2 percent"',
    (rows) => {
      const tables = 100;
      for (const centre of [0, TWO_PERCENT]) {
        const random = createRandom(rows);
        let byMore = 0;
        for (let table = 0; table < tables; table++) {
          const drawn = drawTable(rows, 24, centre, noise, random);
          const looks = LOOKS.map((look) => {
            const soFar = drawn.map((row) => row.slice(0, look.rounds));
            const compared = compareTable(soFar, { ...RULES, schedule: LOOKS });
            const k = trimFor(look.rounds, levelOf(look, LOOKS, rows));
            // The intervals that users see are those that were simulated above.
            expect(compared.map((one) => misses(one, centre))).toEqual(
              soFar.map((row) => missesByRanks(row, centre, k)),
            );
            return compared;
          });
          if (looks.flat().some(({ byMoreThanThreshold }) => byMoreThanThreshold)) byMore++;
        }
        expect(byMore / tables).toBeLessThanOrEqual(0.05);
      }
    },
  );
});

describe('one look at a table at +2 percent', () => {
  it.each(SIZES)(
    '%i rows of 20 rounds: at most 5 percent of tables miss the true value or say "by more than 2 percent"',
    (rows) => {
      const random = createRandom(rows);
      const tables = Array.from({ length: 400 }, () =>
        compareTable(drawTable(rows, 20, TWO_PERCENT, NOISES[0]![1], random), {
          ...RULES,
          schedule: fixedSchedule(20),
        }),
      );
      const missing = tables.filter((table) => table.some((one) => misses(one, TWO_PERCENT)));
      const byMore = tables.filter((table) => table.some(({ byMoreThanThreshold }) => byMoreThanThreshold));
      expect(missing.length / tables.length).toBeLessThanOrEqual(0.05);
      expect(byMore.length / tables.length).toBeLessThanOrEqual(0.05);
    },
  );

  it.each([2, 6, 14])('%i unpaired rows: all intervals hold in 95 percent of tables', (rows) => {
    const random = createRandom(rows);
    const side = (level: number) =>
      Array.from({ length: 10 }, () => level * Math.exp(0.008 * random.normal()));
    const tables = Array.from({ length: 300 }, () =>
      compareUnpaired(
        Array.from({ length: rows }, () => ({ candidate: side(102), baseline: side(100) })),
        RULES,
      ),
    );
    const missing = tables.filter((table) => table.some((one) => misses(one, TWO_PERCENT)));
    expect(missing.length / tables.length).toBeLessThanOrEqual(0.05);
  });
});
