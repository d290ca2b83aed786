import { describe, expect, it } from 'vitest';
import { mostRounds, scheduleNamed } from 'bench-targets/catalogue/looks';
import type { Comparison } from '../src/comparison.ts';
import { fixedSchedule, levelOf } from '../src/looks.ts';
import { exactly } from '../src/differences.ts';
import { compareTable } from '../../bench-lab/testing/replay.ts';
import { trimFor } from 'bench-statistics/signed-rank';
import { createRandom } from 'bench-statistics/random';
import { missesZero, smallerSums } from './joint.ts';
import { drawTable, NOISES } from './noise.ts';

const SIZES = [2, 30];
const SCHEDULES = ['12/18/24', '12/18/27/40/60'];
const MOST_ROUNDS = Math.max(...SCHEDULES.map((name) => mostRounds(scheduleNamed(name))));
const TABLES = 300;
/** A simulated share of 5 % is rarely above this. */
const limitOf = (tables: number): number => 0.05 + 2 * Math.sqrt((0.05 * 0.95) / tables);
const RULES = { better: 'lower', threshold: 0.02 } as const;
const TWO_PERCENT = Math.log(1.02);

const misses = ({ interval }: Comparison, centre: number): boolean =>
  interval !== undefined && (interval.low > centre || interval.high < centre);

describe.each(NOISES)('all looks of a table against one baseline, %s', (noise) => {
  // A comparison leaves at one of its looks, so whatever it leaves with is covered.
  it.each(SIZES)('%i rows: all intervals hold simultaneously in 95 percent of tables', (rows) => {
    const random = createRandom(rows);
    const schedules = SCHEDULES.map((name) => {
      const schedule = scheduleNamed(name);
      const looks = schedule.map((look) => ({
        rounds: look.rounds,
        k: trimFor(look.rounds, levelOf(look, schedule, rows)),
      }));
      return { name, looks, missing: 0 };
    });
    for (let table = 0; table < TABLES; table++) {
      const drawn = drawTable(noise, rows, MOST_ROUNDS, random).map(smallerSums);
      for (const schedule of schedules)
        if (drawn.some((sums) => missesZero(sums, schedule.looks))) schedule.missing++;
    }
    const shares = schedules.map(({ name, missing }) => ({ name, share: missing / TABLES }));
    expect(shares.filter(({ share }) => share > limitOf(TABLES))).toEqual([]);
    expect(shares.filter(({ share }) => share <= 0.01)).toEqual([]);
  });
});

describe('one look at a table at +2 percent', () => {
  it.each(SIZES)(
    '%i rows of 20 rounds: at most 5 percent of tables miss the true value or say "by more than 2 percent"',
    (rows) => {
      const random = createRandom(rows);
      const tables = Array.from({ length: TABLES }, () =>
        compareTable(
          drawTable('normal', rows, 20, random).map((row) =>
            exactly(row.map((value) => TWO_PERCENT + 0.012 * value)),
          ),
          { ...RULES, schedule: fixedSchedule(20) },
        ),
      );
      const missing = tables.filter((table) => table.some((one) => misses(one, TWO_PERCENT)));
      const byMore = tables.filter((table) => table.some(({ byMoreThanThreshold }) => byMoreThanThreshold));
      expect(missing.length / tables.length).toBeLessThanOrEqual(limitOf(tables.length));
      expect(byMore.length / tables.length).toBeLessThanOrEqual(0.05);
    },
  );
});
