import { describe, expect, it } from 'vitest';
import { summarisePool } from '../../src/analyse/power.ts';
import { describeEffect, renderPower } from '../../src/report/power.ts';
import type { Pool, PooledTest } from '../../src/results/pool.ts';
import { toPlanted } from '../../testing/planted-picture.ts';
import { readGoldenRun } from '../../testing/samples.ts';

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
    startedAt: '2026-11-21T12:00:00.000Z',
    effect,
    threshold: 0.02,
    copied: false,
    seconds: 60,
    rounds: 12,
    verdict,
    differences,
    ...given,
  };
}

const POOL: Pool = {
  schema: 1,
  host: readGoldenRun().host,
  twins: { unitNs: 4.8, bareUs: 20, units: { base: 16_700 } },
  entries: [sequentialTest(0.06, 'slower'), sequentialTest(0, 'undecided')],
};

describe('the summary of a pool', () => {
  it('counts verdicts by planted effect, largest first, and those after the response last', () => {
    const effects = summarisePool([
      sequentialTest(0, 'same'),
      sequentialTest(0.06, 'slower'),
      sequentialTest(0.06, 'slower', { deferred: true }),
      sequentialTest(0, 'undecided'),
      sequentialTest(0.06, 'slower'),
    ]);
    expect(effects.map((one) => [describeEffect(one), one.verdicts])).toEqual([
      ['+6 %', { faster: 0, slower: 2, same: 0, undecided: 0 }],
      ['A/A', { faster: 0, slower: 0, same: 1, undecided: 1 }],
      ['+6 % later', { faster: 0, slower: 1, same: 0, undecided: 0 }],
    ]);
    expect(effects[0]).toMatchObject({ meanSeconds: 60, meanRounds: 12 });
    expect(effects[0]?.ratio).toBeCloseTo(1.06, 6);
  });

  it('is rendered with the machine that it was measured on', async () => {
    const text = renderPower(POOL, summarisePool(POOL.entries));
    await expect(text).toMatchFileSnapshot('../../testing/fixtures/golden/power.txt');
  });

  it('is drawn with that of another machine', () => {
    const other = { ...POOL, host: { ...POOL.host, cpuModel: 'Intel Xeon' } };
    const { alt, draw } = toPlanted(new Map(Object.entries({ one: POOL, other })));
    expect(alt).toContain('+6 % CPU added, 2 slower; nothing added, 2 undecided');
    expect(draw('light')).toMatch(/Runs one and other\..+2 cores.+Intel Xeon/s);
  });
});
