import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/catalogue/stacks.ts';
import { upgradeRun, upgradeTrial } from '../../src/results/older.ts';
import { readRun } from '../../src/results/store.ts';
import { readFixture, readGoldenRun } from '../samples.ts';

const OPEN = { mode: 'open', perSecond: 2000 };
const runOf = (plan: object) => upgradeRun({ schema: 1, plan: { schema: 1, ...plan }, leftOut: [] });

describe('a run of schema 1', () => {
  it.each([
    ['an open loop', { engine: 'paced', rate: 2000 }, { engine: 'autocannon', load: OPEN }],
    ['an amount', { engine: 'wrk', amount: 500 }, { engine: 'wrk', load: { mode: 'amount', requests: 500 } }],
    ['a closed loop', { engine: 'oha' }, { engine: 'oha', load: { mode: 'closed' } }],
  ])('has the load mode of %s', (_, stored, read) => {
    expect(runOf(stored)).toEqual({ schema: 2, plan: { schema: 2, ...read }, leftOut: [] });
  });

  it('is read as a whole from the disk', () => {
    expect(JSON.parse(readFixture('run/run.json'))).toMatchObject({ schema: 1 });
    const { schema, plan, trials } = readGoldenRun();
    expect({ schema, plan }).toMatchObject({ schema: 2, plan: { schema: 2, load: { mode: 'closed' } } });
    for (const trial of trials) expect(trial).toMatchObject({ schema: 3, load: { mode: 'closed' } });
  });
});

describe('a trial of schema 1', () => {
  const load = { engine: 'paced', windowSeconds: 4, schedule: { intended: 1601, late: 0, dropped: 0 } };
  const trial = { schema: 1, engine: 'paced', measured: { load } };
  const read = { schema: 3, engine: 'autocannon', measured: { load: { ...load, engine: 'autocannon' } } };

  it('has the rate of its plan', () => {
    expect(upgradeTrial(trial, { rate: 2000 })).toEqual({ ...read, load: OPEN });
  });

  it('has the rate of its own schedule if its plan has none, as in a calibration', () => {
    expect(upgradeTrial(trial, {})).toEqual({ ...read, load: { mode: 'open', perSecond: 400 } });
  });

  it('has no load mode if nothing tells it', () => {
    const failed = { schema: 1, engine: 'paced', status: 'failed' };
    expect(upgradeTrial(failed, {})).toEqual({ schema: 3, engine: 'autocannon', status: 'failed' });
  });

  it('keeps what it told of companions', () => {
    const database = { kind: 'embedded', version: '18.4', maxConnections: 500 };
    const use = { inserts: { acknowledged: 1, stored: 1, unanswered: 0 } };
    const stored = {
      schema: 1,
      engine: 'autocannon',
      database,
      measured: { database: use },
      placement: { kind: 'separate', server: [1], database: [0] },
    };
    expect(upgradeTrial(stored, {})).toEqual({
      schema: 3,
      engine: 'autocannon',
      load: { mode: 'closed' },
      companions: { database },
      measured: { companions: { database: use } },
      placement: { kind: 'separate', server: [1], beside: { database: [0] } },
    });
  });

  it('has the amount of its plan, and its engine', () => {
    expect(upgradeTrial({ schema: 1, engine: 'k6' }, { amount: 500 })).toEqual({
      schema: 3,
      engine: 'k6',
      load: { mode: 'amount', requests: 500 },
    });
  });
});

describe('a run and a trial of the present schemas', () => {
  it('are left as they are', () => {
    const run = { schema: 2, plan: { schema: 2, load: OPEN } };
    const trial = { schema: 3, engine: 'autocannon', load: OPEN };
    expect([upgradeRun(run), upgradeTrial(trial, run.plan)]).toEqual([run, trial]);
  });
});

describe('the published runs', () => {
  const folders = globSync('results/published/*/run.json', { cwd: ROOT }).map((file) =>
    join(ROOT, file, '..'),
  );

  it('are all readable, and no engine is called paced', () => {
    expect(folders.length).toBeGreaterThan(20);
    for (const folder of folders) {
      const { plan, trials } = readRun(folder);
      const engines = [plan.engine, ...trials.map(({ engine }) => engine)];
      expect(engines).not.toContain('paced');
      expect(trials.filter((trial) => trial.load === undefined)).toEqual([]);
    }
  });
});
