import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from 'bench-targets/catalogue/stacks';
import { upgradePooled, upgradeRun, upgradeTrial } from '../../src/results/older.ts';
import { readPool } from '../../src/results/pool/store.ts';
import { readRun } from '../../src/results/store.ts';
import { RECORD_SCHEMA, RUN_SCHEMA } from 'bench-model/versions';
import { readFixture, readGoldenRun } from '../../../bench-lab/testing/samples.ts';

const OPEN = { mode: 'open', perSecond: 2000 };
const runOf = (plan: object) => upgradeRun({ schema: 1, plan: { schema: 1, ...plan }, leftOut: [] });

describe('a run of schema 1', () => {
  it.each([
    ['an open loop', { engine: 'paced', rate: 2000 }, { engine: 'autocannon', load: OPEN }],
    ['an amount', { engine: 'wrk', amount: 500 }, { engine: 'wrk', load: { mode: 'amount', requests: 500 } }],
    ['a closed loop', { engine: 'oha' }, { engine: 'oha', load: { mode: 'closed' } }],
  ])('is upgraded to the load mode of %s', (_, stored, read) => {
    expect(runOf(stored)).toEqual({ schema: RUN_SCHEMA, plan: { schema: RUN_SCHEMA, ...read }, leftOut: [] });
  });

  it('is upgraded with its plan and its trials when it is read', () => {
    expect(JSON.parse(readFixture('run/run.json'))).toMatchObject({ schema: 1 });
    const { schema, plan, trials } = readGoldenRun();
    expect({ schema, plan }).toMatchObject({
      schema: RUN_SCHEMA,
      plan: { schema: RUN_SCHEMA, load: { mode: 'closed' } },
    });
    for (const trial of trials)
      expect(trial).toMatchObject({ schema: RECORD_SCHEMA, load: { mode: 'closed' } });
  });
});

describe('a trial of schema 1', () => {
  const load = { engine: 'paced', windowSeconds: 4, schedule: { intended: 1601, late: 0, dropped: 0 } };
  const trial = { schema: 1, engine: 'paced', measured: { load } };
  const driver = { name: 'autocannon', version: '1' };
  const read = {
    schema: RECORD_SCHEMA,
    engine: 'autocannon',
    driver,
    measured: { load: { ...load, engine: 'autocannon' } },
  };

  it('takes the rate from its plan', () => {
    expect(upgradeTrial(trial, { rate: 2000 })).toEqual({ ...read, load: OPEN });
  });

  it('takes the rate from its schedule if the plan has none, as in a calibration', () => {
    expect(upgradeTrial(trial, {})).toEqual({ ...read, load: { mode: 'open', perSecond: 400 } });
  });

  it('has no load mode if neither the plan nor the trial implies one', () => {
    const failed = { schema: 1, engine: 'paced', status: 'failed' };
    expect(upgradeTrial(failed, {})).toEqual({
      schema: RECORD_SCHEMA,
      engine: 'autocannon',
      driver,
      status: 'failed',
    });
  });

  it('keeps the data of its companions', () => {
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
      schema: RECORD_SCHEMA,
      engine: 'autocannon',
      driver,
      load: { mode: 'closed' },
      companions: { database },
      measured: { companions: { database: use } },
      placement: { kind: 'separate', server: [1], beside: { database: [0] } },
    });
  });

  it('takes the amount from its plan and keeps its engine', () => {
    expect(upgradeTrial({ schema: 1, engine: 'k6' }, { amount: 500 })).toEqual({
      schema: RECORD_SCHEMA,
      engine: 'k6',
      load: { mode: 'amount', requests: 500 },
    });
  });
});

const target = (id: string, fields: object = {}) => ({ id, stack: 'vanilla', ...fields });

describe('a run of schema 2', () => {
  it('is upgraded to one field for the three ways in which a target repeats another', () => {
    const targets = [
      target('a'),
      target('a (A/A)', { aaOf: 'a' }),
      target('a (A/A) by wrk', { aaOf: 'a', crossOf: 'a (A/A)', engine: 'wrk' }),
      target('a (GET / behind)', { undisturbed: 'a' }),
      target('a (GET / behind) by wrk', { undisturbed: 'a', crossOf: 'a (GET / behind)', engine: 'wrk' }),
    ];
    const read = upgradeRun({ schema: 2, plan: { schema: 2, engine: 'oha', targets } });
    expect(read).toEqual({
      schema: RUN_SCHEMA,
      plan: {
        schema: RUN_SCHEMA,
        engine: 'oha',
        targets: [
          target('a'),
          target('a (A/A)', { repeats: { of: 'a', as: 'a/a' } }),
          target('a (A/A) by wrk', { engine: 'wrk', repeats: { of: 'a (A/A)', as: 'cross-check' } }),
          target('a (GET / behind)', { repeats: { of: 'a', as: 'background' } }),
          target('a (GET / behind) by wrk', {
            engine: 'wrk',
            repeats: { of: 'a (GET / behind)', as: 'cross-check' },
          }),
        ],
      },
    });
    const trials = targets.map((one) => upgradeTrial({ schema: 3, engine: 'oha', target: one }, {}));
    expect(trials.map((trial) => trial['target'])).toEqual((read['plan'] as { targets: unknown }).targets);
  });

  it('is upgraded to the current name of the sequential test, and gets the version of its driver', () => {
    const rule = { looks: '12/18/24', by: 'cpu', threshold: 0.02 };
    const plan = {
      schema: 2,
      engine: 'wrk',
      targets: [target('a', { engine: 'autocannon' })],
      sitting: rule,
    };
    expect(upgradeRun({ schema: 2, plan, versions: { node: '26' } })).toMatchObject({
      plan: { sequentialTest: rule },
      versions: { node: '26', 'engine autocannon': '1' },
    });
    const other = upgradeRun({ schema: 2, plan: { schema: 2, engine: 'wrk' }, versions: { node: '26' } });
    expect(other['versions']).toEqual({ node: '26' });
  });
});

describe('an entry of a pool', () => {
  it('is upgraded to the current name of its kind', () => {
    const kinds = ['sitting', 'sequential-test', 'noise'].map((kind) => upgradePooled({ kind })['kind']);
    expect(kinds).toEqual(['sequential-test', 'sequential-test', 'noise']);
  });

  it('has the current kind if it is read from the published pool', () => {
    const entries = readPool(join(ROOT, 'results/published/20261121-221151-power'))?.entries ?? [];
    expect(entries.filter(({ kind }) => kind === 'sequential-test')).toHaveLength(60);
    expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(['sequential-test', 'noise']));
  });
});

describe('a run by URL of schema 2', () => {
  const read = readRun(
    fileURLToPath(new URL('../../../bench-lab/testing/fixtures/url-run/', import.meta.url)),
  );

  it('is upgraded to one request and one server that was already running', () => {
    const stored = JSON.parse(readFixture('url-run/run.json')) as {
      plan: { url: { digests: { body: string } } };
    };
    expect(read.plan).toMatchObject({
      workload: 'requests',
      asked: {
        requests: [
          {
            method: 'POST',
            path: '/orders?token=(not-kept)',
            weight: 1,
            headers: { 'x-api-key': '(not kept)', accept: 'application/json' },
            body: '@order.json',
            expect: { statuses: ['2xx'] },
          },
        ],
        files: { '@order.json': stored.plan.url.digests.body },
      },
      attached: [
        { target: 'POST http://127.0.0.1:4871/orders?token=(not-kept)', url: 'http://127.0.0.1:4871' },
      ],
    });
    expect(read.plan).not.toHaveProperty('url');
  });

  it('has the same request in the records of its trials', () => {
    const [trial] = read.trials;
    expect(trial?.workload).toBe('requests');
    expect(trial?.requests?.requests).toEqual([
      {
        method: 'POST',
        path: '/orders?token=(not-kept)',
        weight: 1,
        headers: ['x-api-key', 'accept'],
        bodySha256: read.plan.asked?.files['@order.json'],
      },
    ]);
    expect(trial).not.toHaveProperty('request');
  });
});

describe('a trial of schema 5', () => {
  it('claims nothing of the build of its interpreter', () => {
    const runtime = { kind: 'python', spec: '3.13', version: '3.13.0', build: { flags: '--enable-shared' } };
    const trial = { schema: 5, engine: 'autocannon', load: OPEN, runtime };
    expect(upgradeTrial(trial, {})).toEqual({ ...trial, schema: RECORD_SCHEMA });
  });
});

describe('a pool', () => {
  const published = join(ROOT, 'results/published/20261121-221151-power');
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-pool-'));
    cpSync(join(published, 'pool.json'), join(folder, 'pool.json'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const [test = '', noise = ''] = [/^.*"sitting".*$/m, /^.*"noise".*$/m].map(
    (line) => line.exec(readFileSync(join(published, 'pool.jsonl'), 'utf8'))?.[0] ?? '',
  );

  it.each([
    ['a test without a verdict', test.replace('"verdict"', '"word"'), 'verdict is missing'],
    [
      'a string instead of a number',
      noise.replace(/"difference":[^,}]*/, '"difference":"0.1"'),
      'difference has none',
    ],
    ['an unknown kind', test.replace('sitting', 'seance'), 'kind'],
    ['a line that is not an object', '[]', 'kind is missing'],
  ])('is rejected with %s, naming file and line', (_, line, problem) => {
    writeFileSync(join(folder, 'pool.jsonl'), `${test}\n${line}\n`);
    expect(() => readPool(folder)).toThrow(`pool.jsonl:2: not part of a pool: ${problem}`);
  });

  it('is rejected if a newer version wrote it', () => {
    const file = join(folder, 'pool.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"schema": 1', '"schema": 99'));
    expect(() => readPool(folder)).toThrow('written by a newer version (schema 99;');
  });
});

describe('a run and a trial of the current schemas', () => {
  it('are left unchanged', () => {
    const run = { schema: RUN_SCHEMA, plan: { schema: RUN_SCHEMA, load: OPEN } };
    const trial = { schema: RECORD_SCHEMA, engine: 'autocannon', load: OPEN };
    expect([upgradeRun(run), upgradeTrial(trial, run.plan)]).toEqual([run, trial]);
  });
});

describe('the published runs', () => {
  const folders = globSync('results/published/*/run.json', { cwd: ROOT }).map((file) =>
    join(ROOT, file, '..'),
  );

  it('are all readable, and none has the old engine name paced', () => {
    expect(folders.length).toBeGreaterThan(20);
    for (const folder of folders) {
      const { plan, trials } = readRun(folder);
      const engines = [plan.engine, ...trials.map(({ engine }) => engine)];
      expect(engines).not.toContain('paced');
      expect(trials.filter((trial) => trial.load === undefined)).toEqual([]);
    }
  });
});
