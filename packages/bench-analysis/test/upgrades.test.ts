import { describe, expect, it } from 'vitest';
import { compareWithin, UPGRADE } from 'bench-analysis/compare';
import { compareUpgrades } from 'bench-analysis/upgrades';
import { runOnRuntimes, type PlantedRuntime } from '../../bench-lab/testing/over-time.ts';

const CPU = { by: 'cpu', threshold: 0.02 } as const;

/** The upgrades of a run: what is compared with what, its ratio, and whether the builds are alike. */
const upgradesOf = (runtimes: Record<string, PlantedRuntime>, line?: string) =>
  compareUpgrades(runOnRuntimes(runtimes, line), CPU).map(({ from, to, stack, comparison, builds }) => [
    `${stack} ${from} → ${to}`,
    Number(comparison.ratio?.estimate.toFixed(2)),
    builds,
  ]);

describe('compareUpgrades', () => {
  it('compares each version with the oldest, by their numbers', () => {
    expect(
      upgradesOf({
        '3.14': { cpu: 80, version: '3.14.10' },
        '3.9': { cpu: 110, version: '3.9.20' },
        '3.13': { cpu: 100, version: '3.13.5' },
      }),
    ).toEqual([
      ['fastapi 3.9.20 → 3.14.10', 0.73, 'alike'],
      ['fastapi 3.9.20 → 3.13.5', 0.91, 'alike'],
    ]);
  });

  it('compares a switch of a build with that build, or with an older version if that was left out', () => {
    const runtimes = {
      '3.14+jit': { cpu: 90, version: '3.14.10' },
      '3.14': { cpu: 80, version: '3.14.10' },
      '3.14t': { cpu: 100, version: '3.14.10', build: { freethreaded: 'true' } },
      '3.15+jit': { cpu: 81, version: '3.15.2' },
    };
    expect(upgradesOf(runtimes)).toEqual([
      ['fastapi 3.14.10 → 3.14.10+jit', 1.13, 'alike'],
      ['fastapi 3.14.10 → 3.14.10t', 1.25, 'alike'],
      ['fastapi 3.14.10+jit → 3.15.2+jit', 0.9, 'alike'],
    ]);
  });

  it.each([
    ['unlike', { pgo: false }],
    ['unknown', { maker: undefined }],
  ] as const)('says that the builds are %s', (builds, interpreter) => {
    expect(
      upgradesOf({
        '3.13': { cpu: 100, version: '3.13.5', interpreter },
        '3.14': { cpu: 80, version: '3.14.10', interpreter: { pgo: true } },
      }),
    ).toEqual([['fastapi 3.13.5 → 3.14.10', 0.8, builds]]);
  });

  it('holds with an interval in a run that compared with another baseline until that was decided', () => {
    const runtimes = {
      '3.14': { cpu: 80, version: '3.14.10' },
      '3.12': { cpu: 102, version: '3.12.1' },
      '3.13': { cpu: 100, version: '3.13.5' },
    };
    const run = runOnRuntimes(runtimes, '--until-decided --connections 10');
    const [first, second] = compareUpgrades(run, CPU);
    expect(first).toMatchObject({ candidate: 'fastapi@3.14', baseline: 'fastapi@3.12' });
    expect(first?.comparison.ratio?.interval?.high).toBeLessThan(0.85);
    expect(second).toMatchObject({ candidate: 'fastapi@3.13', baseline: 'fastapi@3.12' });
  });

  it('finds none in a run of one runtime', () => {
    expect(upgradesOf({ '3.14': { cpu: 80, version: '3.14.10' } })).toEqual([]);
  });
});

it('compares the packages of each stack with those of its lock', () => {
  const run = runOnRuntimes({ '3.14': { cpu: 80, version: '3.14.10' } });
  const [locked] = run.plan.targets;
  const targets = ['orders', 'users'].flatMap((stack) => [
    { ...locked!, id: stack, stack },
    { ...locked!, id: `${stack}[fastapi==0.165.0]`, stack, packages: ['fastapi==0.165.0'] },
  ]);
  const trials = run.trials.flatMap((trial) => targets.map((target) => ({ ...trial, target })));
  const measured = { plan: { ...run.plan, targets }, trials };
  const { rows } = compareWithin(measured, { ...CPU, baseline: UPGRADE });
  expect(rows.map(({ candidate, baseline }) => `${candidate} with ${baseline}`)).toEqual([
    'orders[fastapi==0.165.0] with orders',
    'users[fastapi==0.165.0] with users',
  ]);
  expect(compareUpgrades(measured, CPU)).toEqual([]);
});
