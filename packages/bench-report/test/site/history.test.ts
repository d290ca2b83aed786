import { describe, expect, it } from 'vitest';
import { findChanges } from '../../src/site/changes.ts';
import { nameMachines, toHistories } from '../../src/site/history.ts';
import type { Host } from 'bench-model/host';
import type { StoredRun } from 'bench-analysis/results/store';
import { runOn, withVersions } from '../../../bench-lab/testing/over-time.ts';

const historiesOf = (...runs: StoredRun[]) => toHistories(runs, nameMachines(runs.map(({ host }) => host)));

const onHost = (change: Partial<Host>) => (run: StoredRun) => ({ host: { ...run.host, ...change } });
const withPlan = (change: Partial<StoredRun['plan']>) => (run: StoredRun) => ({
  plan: { ...run.plan, ...change },
});

/** The runs of a history, each with its setting. */
const settingsOf = ([history]: ReturnType<typeof historiesOf>) =>
  Object.fromEntries(history!.points.map(({ run, setting }) => [run, setting]));

const fewer = (run: StoredRun): Partial<StoredRun> => ({
  plan: { ...run.plan, rungs: [10] },
  trials: run.trials.filter(({ connections }) => connections === 10),
});

const invalid = (target: string, connections: number) =>
  runOn(0)
    .trials.filter((trial) => trial.target.id === target && trial.connections === connections)
    .flatMap(({ reasons }) => reasons.flatMap(({ invalidates }) => invalidates));

describe('toHistories', () => {
  it('orders the runs of one workload on one machine by time', () => {
    const [history, ...others] = historiesOf(runOn(2), runOn(0), runOn(1));
    expect(others).toEqual([]);
    expect([...new Set(history!.points.map(({ run }) => run))]).toEqual(['day-0', 'day-1', 'day-2']);
    expect(history!.settings).toEqual([[]]);
  });

  it('keeps machines, workloads and their parameters apart', () => {
    const histories = historiesOf(
      runOn(0),
      runOn(1, onHost({ cores: 4 })),
      runOn(2, withPlan({ workload: 'fib', params: { n: 20 } })),
      runOn(3, withPlan({ workload: 'fib', params: { n: 24 } })),
    );
    expect(histories.map(({ machine, workload }) => [/\d cores/.exec(machine)?.[0], workload])).toEqual([
      ['2 cores', 'devices'],
      ['4 cores', 'devices'],
      ['2 cores', 'fib n=20'],
      ['2 cores', 'fib n=24'],
    ]);
  });

  it('leaves out quick runs and runs without trials', () => {
    expect(
      historiesOf(
        runOn(0, withPlan({ quick: true })),
        runOn(1, () => ({ trials: [] })),
      ),
    ).toEqual([]);
  });

  it('separates runs that pnpm compare would refuse, and says why', () => {
    const { windowSeconds } = runOn(0).plan;
    const longer = withPlan({ windowSeconds: windowSeconds * 2 });
    const found = historiesOf(runOn(0), runOn(1, longer), runOn(2), runOn(3, longer));
    expect(settingsOf(found)).toEqual({ 'day-0': 0, 'day-1': 1, 'day-2': 0, 'day-3': 1 });
    expect(found[0]!.settings).toEqual([[], [`window: ${windowSeconds} and ${windowSeconds * 2}`]]);
  });

  it('takes a new kernel for a change of the same machine, whose figures are not compared', () => {
    const found = historiesOf(runOn(0), runOn(1, onHost({ release: '7.0.0' })));
    expect(found).toHaveLength(1);
    expect(settingsOf(found)).toEqual({ 'day-0': 0, 'day-1': 1 });
  });

  it('joins runs with different numbers of connections, because each has a chart', () => {
    expect(settingsOf(historiesOf(runOn(0), runOn(1, fewer)))).toEqual({ 'day-0': 0, 'day-1': 0 });
  });

  it('marks the metrics that a failed check of a trial concerns', () => {
    const [history] = historiesOf(runOn(0));
    for (const { target, connections, doubtful } of history!.points)
      expect(new Set(doubtful)).toEqual(new Set(invalid(target, connections)));
    expect(history!.points.some(({ doubtful }) => doubtful.length > 0)).toBe(true);
  });
});

describe('nameMachines', () => {
  const { host } = runOn(0);

  it('numbers machines whose descriptions are the same', () => {
    const other = { ...host, virtualised: false };
    const twin = { ...host, memoryBytes: host.memoryBytes };
    const name = nameMachines([host, twin, other]);
    expect(name(twin)).toBe(name(host));
    expect(name(other)).not.toBe(name(host));
  });
});

const driver = (version: string) => (run: StoredRun) => ({
  host: { ...run.host, release: version },
  trials: run.trials.map((trial) => ({
    ...trial,
    driver: { ...trial.driver, name: 'autocannon', version },
  })),
});

const changesOf = (runs: StoredRun[], targets = ['vanilla', 'fastify', 'uvicorn/interpreted']) =>
  findChanges(historiesOf(...runs)[0]!.environments, new Set(targets));

describe('findChanges', () => {
  const renewed = withVersions({ node: '27.0.0', vanilla: '27.0.0, sources 0123456789' });
  const { node = '', vanilla = '' } = runOn(0).versions;

  it('names the versions that differ from those of the run before', () => {
    expect(changesOf([runOn(0), runOn(1), runOn(2, renewed), runOn(3, renewed)])).toEqual([
      {
        run: 'day-2',
        texts: [`Node of Bench ${node} → 27.0.0`, `vanilla ${vanilla} → 27.0.0, sources 0123456789`],
      },
    ]);
  });

  it('names only changes of the given targets and of what they share', () => {
    expect(changesOf([runOn(0), runOn(1, renewed)], ['fastify'])).toEqual([
      { run: 'day-1', texts: [`Node of Bench ${node} → 27.0.0`] },
    ]);
  });

  it('names a new load driver and a new kernel', () => {
    const [change] = changesOf([runOn(0, driver('1')), runOn(1, driver('2'))]);
    expect(change?.texts).toEqual(['kernel 1 → 2', 'load driver autocannon 1 → 2']);
  });
});
