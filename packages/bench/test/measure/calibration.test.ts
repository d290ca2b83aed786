import { describe, expect, it } from 'vitest';
import { evaluate, type Account, type Reading } from '../../src/measure/calibration.ts';
import { failedTrial, okTrial, sampleLoad, sampleMeasured } from '../samples.ts';

const CPU_CHECK = 'CPU of a burn, as the difference of twins';
const MEDIAN_CHECK = 'median latency, 5 ms at 1 connection';
const MEMORY_CHECK = 'memory of 64 MiB, as the difference of twins';

function accountOf(given: Partial<Account> = {}): Account {
  return {
    requests: { read: 0 },
    burn: { burns: 0, burnedUs: 0 },
    memory: { allocatedBytes: 0 },
    latencyUs: { count: 100, p50: 5000 },
    cpu: { userUs: 0, systemUs: 0 },
    ...given,
  };
}

/** Returns a scenario whose requests cost this much CPU and took this long. */
function readingOf({
  cpu = 20,
  p50 = 5000,
  account = {},
}: { cpu?: number; p50?: number; account?: Partial<Account> } = {}): Reading {
  const load = sampleLoad({ latencyUs: { mean: p50, p50, max: p50 } });
  const measured = sampleMeasured({ cpu, given: { load } });
  return {
    trial: okTrial('planted', measured),
    before: accountOf(),
    after: accountOf(account),
    bareMedianUs: 5100,
  };
}

/** Returns twins that burned 300 µs by their account, and this much by ours. */
function twins(measuredUs: number): Map<string, Reading[]> {
  const burn = { burns: 1000, burnedUs: 300_000 };
  return new Map([
    ['no burn', [readingOf({ cpu: 20 }), readingOf({ cpu: 22 })]],
    ['burn', [readingOf({ cpu: 21 + measuredUs, account: { burn } })]],
  ]);
}

const rowOf = (name: string, readings: Map<string, Reading[]>) =>
  evaluate(readings).find((row) => row.name === name);

describe('evaluate', () => {
  it.each([
    [300, true],
    [314.9, true],
    [315.1, false],
    [284.9, false],
  ])('allows 5 % of a planted 300 µs of CPU: %d µs is inside: %s', (measuredUs, inside) => {
    const row = rowOf(CPU_CHECK, twins(measuredUs));
    expect(row).toMatchObject({ told: 300, tolerance: 15, inside });
    expect(row?.measured).toBeCloseTo(measuredUs);
  });

  it.each([
    [5199, true],
    [5201, false],
  ])('allows 200 µs of a median of 5 ms: %d µs is inside: %s', (p50, inside) => {
    const readings = new Map([['5 ms at 1', [readingOf({ p50 })]]]);
    expect(rowOf(MEDIAN_CHECK, readings)).toMatchObject({ told: 5000, measured: p50, inside });
  });

  it('compares with bare sockets without a tolerance', () => {
    const rows = evaluate(new Map([['5 ms at 1', [readingOf({ p50: 9000 })]]]));
    const bare = rows[rows.findIndex(({ name }) => name === MEDIAN_CHECK) + 1];
    expect(bare).toMatchObject({ told: 5100, measured: 9000, inside: true });
    expect(bare).not.toHaveProperty('tolerance');
  });

  it('has no figures and is outside if a trial failed or was not measured', () => {
    const failed: Reading = { ...readingOf(), trial: failedTrial('planted', 'it died') };
    const readings = new Map([...twins(300), ['burn', [readingOf(), failed]]]);
    for (const row of [rowOf(CPU_CHECK, readings), rowOf(MEMORY_CHECK, new Map())]) {
      expect(row).toMatchObject({ inside: false });
      expect(row).not.toHaveProperty('measured');
    }
  });
});
