import { exactly } from '../src/differences.ts';
import { describe, expect, it } from 'vitest';
import { isOpen } from '../src/comparison.ts';
import { detectableDifferences, type Finding } from '../src/detectable.ts';
import { fixedSchedule } from '../src/looks.ts';
import { compareRounds } from '../src/paired.ts';
import { mostRounds, type Schedule, scheduleNamed } from 'bench-targets/catalogue/looks';
import { createRandom } from 'bench-statistics/random';

const random = createRandom(9);
const DEVIATION = 0.03;

const drawn = (rounds: number, centre = 0) =>
  Array.from({ length: rounds }, () => centre + DEVIATION * random.normal());

/** Ten stored comparisons of 40 rounds. */
const NOISE = Array.from({ length: 10 }, () => drawn(40));

const design = (schedule: Schedule, rows = 1) => ({
  schedule,
  rounds: mostRounds(schedule),
  rows,
  threshold: 0.02,
});

/** The share of 400 comparisons that find a planted difference. */
function count(schedule: Schedule, finding: Finding, planted: number): number {
  const rules = { schedule, better: 'lower', threshold: 0.02 } as const;
  const ends = Array.from({ length: 400 }, () => {
    const differences = drawn(mostRounds(schedule), Math.log(1 + planted));
    const looks = schedule.map(({ rounds }) => compareRounds(exactly(differences.slice(0, rounds)), rules));
    return looks.find((comparison) => !isOpen(comparison, finding === 'beyond'))?.verdict;
  });
  return ends.filter((verdict) => verdict === 'slower').length / ends.length;
}

const found = (schedule: Schedule, rows: number, finding: Finding = 'verdict') =>
  detectableDifferences(design(schedule, rows), NOISE, finding, [0.95])[0] ?? Infinity;

describe('the smallest difference that a plan finds', () => {
  it.each([
    ['12 rounds', fixedSchedule(12)],
    ['12/18/24', scheduleNamed('12/18/24')],
  ])('is found as often as it says: %s', (_, schedule) => {
    for (const finding of ['verdict', 'beyond'] as const) {
      const [often = 0, usual = 0] = detectableDifferences(design(schedule), NOISE, finding, [0.95, 0.8]);
      expect(often).toBeGreaterThan(usual);
      expect(count(schedule, finding, often)).toBeGreaterThan(0.9);
      expect(count(schedule, finding, usual)).toBeGreaterThan(0.7);
      expect(count(schedule, finding, usual)).toBeLessThan(0.9);
    }
  });

  it('is larger in a longer table, with fewer rounds, and if the whole interval counts', () => {
    const usual = found(fixedSchedule(12), 1);
    expect(found(fixedSchedule(12), 5)).toBeGreaterThan(usual);
    expect(found(fixedSchedule(24), 1)).toBeLessThan(usual);
    expect(found(fixedSchedule(12), 1, 'beyond')).toBeGreaterThan(usual + 0.015);
  });

  it('is none if no look has an interval', () => {
    expect(detectableDifferences(design([{ rounds: 1 }]), NOISE, 'verdict', [0.95, 0.8])).toEqual([
      undefined,
      undefined,
    ]);
  });
});
