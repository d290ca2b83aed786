import { describe, expect, it } from 'vitest';
import { summarisePool } from '../../src/analyse/power.ts';
import { createRandom } from 'bench-statistics/random';
import { renderPower } from '../../src/report/power.ts';
import type { Pooled, PooledMatrix, PooledRow, PooledTest } from 'bench-model/pool';
import { readGoldenRun } from '../../testing/samples.ts';

const LOOKS = '12/18/24';

function sequentialTest(
  effect: number,
  verdict: PooledTest['verdict'],
  given: Partial<PooledTest> = {},
): PooledTest {
  // 1 % noise, the same in every test.
  const differences = Array.from(
    { length: 12 },
    (_, round) => Math.log(1 + effect) + (round % 2 === 0 ? 0.01 : -0.01),
  );
  return {
    kind: 'sequential-test',
    startedAt: '2026-11-21T12:00:00.000Z',
    effect,
    threshold: 0.02,
    copied: false,
    seconds: 60,
    rounds: 12,
    verdict,
    byMoreThanThreshold: false,
    differences,
    ...given,
  };
}

const matrix = (...rows: [effect: number, verdict: PooledRow['verdict']][]): PooledMatrix => ({
  kind: 'matrix',
  startedAt: '2026-11-23T02:00:00.000Z',
  threshold: 0.02,
  budgetSeconds: 590,
  seconds: 500,
  rows: rows.map(([effect, verdict]) => {
    const { differences } = sequentialTest(effect, verdict);
    return { effect, rounds: 12, verdict, byMoreThanThreshold: false, differences };
  }),
});

const summaryOf = (entries: Pooled[]) => summarisePool(entries, LOOKS, createRandom(1));

describe('the summary of a pool', () => {
  it('counts verdicts by planted effect, largest first', () => {
    const { effects } = summaryOf([
      sequentialTest(0, 'same'),
      sequentialTest(0.06, 'slower', { byMoreThanThreshold: true }),
      sequentialTest(0, 'undecided'),
      sequentialTest(0.06, 'slower'),
    ]);
    expect(effects.map(({ effect, verdicts }) => [effect, verdicts])).toEqual([
      [0.06, { faster: 0, slower: 2, same: 0, undecided: 0 }],
      [0, { faster: 0, slower: 0, same: 1, undecided: 1 }],
    ]);
    expect(effects[0]).toMatchObject({
      byMoreThanThreshold: 1,
      quiet: 2,
      quietRight: 2,
      meanSeconds: 60,
      meanRounds: 12,
    });
    expect(effects[0]?.ratio).toBeCloseTo(1.06, 6);
  });

  it('distinguishes quiet from noisy tests by the spread of their rounds', () => {
    const noisy = Array.from({ length: 12 }, (_, round) => (round % 2 === 0 ? 0.1 : -0.1));
    const { effects } = summaryOf([
      sequentialTest(0.06, 'undecided', { differences: noisy }),
      sequentialTest(0.06, 'slower', { differences: [...noisy.map((value) => value / 10), null] }),
    ]);
    expect(effects[0]).toMatchObject({ quiet: 1, quietRight: 1 });
  });

  it('resamples tests from 100 A/A rounds on', () => {
    const random = createRandom(3);
    const aa = () =>
      sequentialTest(0, 'same', { differences: Array.from({ length: 24 }, () => 0.02 * random.normal()) });
    expect(summaryOf([aa(), aa(), aa(), aa()]).resampled).toBeUndefined();
    const { resampled } = summaryOf([aa(), aa(), aa(), aa(), aa()]);
    expect(resampled?.rounds).toBe(120);
    expect(resampled?.aa.tests).toBe(2000);
    expect((resampled?.aa.verdicts.faster ?? 1) + (resampled?.aa.verdicts.slower ?? 1)).toBeLessThan(0.055);
    expect(resampled?.planted.verdicts.slower).toBeGreaterThan(0.95);
  });

  it('is rendered with the machine that it was measured on', async () => {
    const { host } = readGoldenRun();
    const twins = { unitNs: 4.8, bareUs: 20, units: { base: 16_700 } };
    const entries = [sequentialTest(0.06, 'slower'), sequentialTest(0, 'undecided')];
    const text = renderPower({ schema: 1, host, twins, entries }, summaryOf(entries));
    await expect(text).toMatchFileSnapshot('../../testing/fixtures/golden/power.txt');
  });
});

describe('the summary of matrices', () => {
  const pool = [
    matrix([0, 'same'], [0, 'undecided'], [0.03, 'slower'], [0.06, 'slower']),
    matrix([0, 'slower'], [0, 'same'], [0.03, 'slower'], [0.06, 'slower']),
    matrix([0, 'same'], [0, 'same'], [0.03, 'faster'], [0.06, 'same']),
    matrix([0, 'same'], [0, 'same'], [0.03, 'slower'], [0.06, 'slower']),
  ];

  it('counts the verdicts on all rows with the same effect, largest first', () => {
    expect(summaryOf(pool).matrix?.effects).toMatchObject([
      { effect: 0.06, rows: 4, verdicts: { slower: 3, same: 1 } },
      { effect: 0.03, rows: 4, verdicts: { slower: 3, faster: 1 } },
      { effect: 0, rows: 8, verdicts: { slower: 1, same: 6, undecided: 1 } },
    ]);
    expect(summaryOf(pool).matrix?.effects[0]?.ratio).toBeCloseTo(1.06, 6);
  });

  it('counts tables with a false alarm or a wrong direction once, and tables that decided every row', () => {
    expect(summaryOf(pool).matrix).toMatchObject({ wrong: 2, decided: 3, meanSeconds: 500 });
  });

  it('is apart from tests of two builds, and is printed', () => {
    const { effects } = summaryOf([...pool, sequentialTest(0, 'same')]);
    expect(effects.map(({ tests }) => tests.length)).toEqual([1]);
    const { host } = readGoldenRun();
    const twins = { unitNs: 4.8, bareUs: 20, units: { base: 16_700 } };
    const text = renderPower({ schema: 1, host, twins, entries: pool }, summaryOf(pool));
    expect(text).toContain('4 tables of 5 builds: 4 rows share a baseline, for at most 10 min');
    expect(text).toMatch(/^\+6 % +4 +3 +1 +0 +0 /m);
    expect(text).toContain('3 of 4 decided every row, 2 had a wrong row; 500 s on average');
  });
});
