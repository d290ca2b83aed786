import { describe, expect, it } from 'vitest';
import { summarisePool } from '../../src/analyse/power.ts';
import { renderPower } from '../../src/report/power.ts';
import type { PooledTest } from '../../src/results/pool.ts';
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

describe('the summary of a pool', () => {
  it('counts verdicts by planted effect, largest first', () => {
    const effects = summarisePool([
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
    const effects = summarisePool([
      sequentialTest(0.06, 'undecided', { differences: noisy }),
      sequentialTest(0.06, 'slower', { differences: [...noisy.map((value) => value / 10), null] }),
    ]);
    expect(effects[0]).toMatchObject({ quiet: 1, quietRight: 1 });
  });

  it('is rendered with the machine that it was measured on', async () => {
    const { host } = readGoldenRun();
    const twins = { unitNs: 4.8, bareUs: 20, units: { base: 16_700 } };
    const entries = [sequentialTest(0.06, 'slower'), sequentialTest(0, 'undecided')];
    const text = renderPower({ schema: 1, host, twins, entries }, summarisePool(entries));
    await expect(text).toMatchFileSnapshot('../../testing/fixtures/golden/power.txt');
  });
});
