import { describe, expect, it } from 'vitest';
import { toSite } from '../../src/site/data.ts';
import type { StoredRun } from 'bench-analysis/results/store';
import { runOnRuntimes } from '../../../bench-lab/testing/over-time.ts';

const upgraded = (name: string, change: Partial<StoredRun> = {}, line?: string): StoredRun => {
  const runtimes = { 3.13: { cpu: 100, version: '3.13.5' }, 3.14: { cpu: 80, version: '3.14.10' } };
  const run = runOnRuntimes(runtimes, line);
  return { ...run, ...change, plan: { ...run.plan, run: name } };
};

const upgradesOf = (...runs: StoredRun[]) =>
  toSite(
    runs.map((run) => ({ run, href: '' })),
    [],
  ).upgrades.filter(({ by }) => by === 'cpu');

describe('the upgrades of a site', () => {
  it('are those of each run, with their verdicts and machines', () => {
    const { host } = upgraded('a');
    const found = upgradesOf(upgraded('a'), upgraded('b', { host: { ...host, cores: host.cores + 2 } }));
    expect(found.map(({ run, words }) => [run, words])).toEqual([
      ['a', expect.stringMatching(/^faster: −20 % \(−2\d % to −\d+ %\)$/)],
      ['b', expect.stringMatching(/^faster: −20 %/)],
    ]);
    expect(new Set(found.map(({ machine }) => machine)).size).toBe(2);
  });

  it('leave out runs of too few rounds for an interval', () => {
    expect(upgradesOf(upgraded('a', {}, '--rounds 1 --connections 10'))).toEqual([]);
  });
});
