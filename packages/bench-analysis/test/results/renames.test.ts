import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { compareWithin } from '../../src/compare.ts';
import { viewComparison } from 'bench-report/compare';
import { describeEnding } from 'bench-report/stopping';
import { renderTerminal } from 'bench-report/terminal';
import { toModel } from 'bench-report/model/model';
import { describePlan } from 'bench-report/plan';
import { toView } from 'bench-report/view';
import { RECORD_SCHEMA } from 'bench-model/versions';
import type { Measured } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { repeatPlan } from 'bench-http/plan/plan';
import { upgradeTrial } from '../../src/results/older.ts';
import { listRuns, readRun } from '../../src/results/store.ts';
import { readSchema } from '../../../bench-lab/testing/samples.ts';

const FIRST = fileURLToPath(new URL('../../../bench-lab/testing/fixtures/records-1/', import.meta.url));
const PUBLISHED = fileURLToPath(new URL('../../../../results/published/', import.meta.url));

const isRecord = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(readSchema('record'));

/** Returns the measurements of a trial, which are partial if it failed. */
function partsOf(trial: Trial): Partial<Measured> {
  return (trial.status === 'failed' ? trial.partial : trial.measured) ?? {};
}

/** Trials of published runs as version 1 wrote them. */
const written = readFileSync(join(FIRST, 'trials.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { schema: number; measured: Record<string, Record<string, unknown>> });

describe('a run of version 1', () => {
  const { trials } = readRun(FIRST);

  it('is read in the current format', () => {
    expect(written.map(({ schema }) => schema)).toEqual([1, 1, 1]);
    for (const trial of trials) {
      isRecord(trial);
      expect(isRecord.errors ?? []).toEqual([]);
    }
  });

  it('keeps its values under the current names', () => {
    expect(written.map(({ measured }) => measured['shape'])).toContain('none');
    expect(trials.map((trial) => partsOf(trial).shape)).toEqual(
      written.map(({ measured }) =>
        (measured['shape'] as unknown) === 'none' ? 'erratic' : measured['shape'],
      ),
    );
    const others = written.map(({ measured }) => measured['host']?.['foreignCores']);
    expect(others.every((cores) => typeof cores === 'number')).toBe(true);
    expect(trials.map((trial) => partsOf(trial).host?.otherProcessesCores)).toEqual(others);
    const crossed = written.map(({ measured }) => measured['load']?.['foreign']);
    expect(crossed).toContain(0);
    expect(trials.map((trial) => partsOf(trial).load?.crossed)).toEqual(crossed);
    expect(JSON.stringify(trials)).not.toContain('foreign');
  });
});

/** Returns the values that have the same name in every version. */
function figures(trial: object): unknown[] {
  const { load, server } = (trial as { measured: Measured }).measured;
  return [load.goodputPerSecond, load.counts, load.latencyUs, server?.peakBytes];
}

describe('a committed run', () => {
  it.each(Array.from({ length: RECORD_SCHEMA }, (_, index) => index + 1))(
    'of version %i is stored in that version and read in the current one',
    (version) => {
      const folder = fileURLToPath(
        new URL(`../../../bench-lab/testing/fixtures/records-${version}/`, import.meta.url),
      );
      const lines = readFileSync(join(folder, 'trials.jsonl'), 'utf8').trimEnd().split('\n');
      const stored = lines.map((line) => JSON.parse(line) as Record<'schema' | 'measured', unknown>);
      expect(stored.map(({ schema }) => schema)).toEqual(stored.map(() => version));
      const { trials } = readRun(folder);
      expect(trials.map(({ schema }) => schema)).toEqual(stored.map(() => RECORD_SCHEMA));
      expect(trials.map(figures)).toEqual(stored.map(figures));
    },
  );

  it('exists for every version, including the current one', () => {
    const folders = globSync('records-*', {
      cwd: fileURLToPath(new URL('../../../bench-lab/testing/fixtures/', import.meta.url)),
    });
    expect(folders.toSorted()).toEqual(
      Array.from({ length: RECORD_SCHEMA }, (_, index) => `records-${index + 1}`),
    );
  });
});

describe('a run of version 2, with targets that repeat others and a sequential test', () => {
  const folder = fileURLToPath(new URL('../../../bench-lab/testing/fixtures/runs-2/', import.meta.url));
  const run = readRun(folder);

  it('is read in the current format', () => {
    const stored = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as {
      schema: number;
      plan: { sitting: object };
    };
    expect(stored.schema).toBe(2);
    expect(run.plan.sequentialTest).toEqual(stored.plan.sitting);
    expect(run.plan.targets.map(({ id, repeats }) => [id, repeats])).toEqual([
      ['vanilla', undefined],
      ['vanilla by wrk', { of: 'vanilla', as: 'cross-check' }],
      ['vanilla (A/A)', { of: 'vanilla', as: 'a/a' }],
      ['vanilla (A/A) by wrk', { of: 'vanilla (A/A)', as: 'cross-check' }],
      ['vanilla (GET /health behind)', { of: 'vanilla', as: 'background' }],
      ['vanilla (GET /health behind) by wrk', { of: 'vanilla (GET /health behind)', as: 'cross-check' }],
    ]);
    for (const { target } of run.trials)
      expect(target).toEqual(run.plan.targets.find(({ id }) => id === target.id));
    const drivers = run.trials.map(({ engine, driver }) => [engine, driver?.version]);
    expect(new Set(drivers.map(String))).toEqual(new Set(['autocannon,1', 'wrk,']));
  });

  it('is reported exactly as the version that wrote it did', () => {
    const table = compareWithin(run, { by: 'cpu', threshold: 0.02 });
    const text = [
      renderTerminal(toView(toModel(run))),
      renderTerminal(viewComparison(table, run.plan.run, describeEnding(run.plan, run.trials))),
      describePlan(run.plan),
    ].join('\n');
    expect(`${text}\n`).toBe(readFileSync(join(folder, 'report.txt'), 'utf8'));
  });
});

describe('a run of version 4, whose servers all took turns', () => {
  const folder = fileURLToPath(new URL('../../../bench-lab/testing/fixtures/runs-4/', import.meta.url));

  it('is read with the rungs and the shortest turn', () => {
    const stored = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as { plan: { duel: true } };
    expect(stored.plan.duel).toBe(true);
    const { plan, trials } = readRun(folder);
    expect(plan.byTurns).toEqual({ rungs: [10, 100, 1000], turnSeconds: 0.02 });
    expect(plan).not.toHaveProperty('duel');
    expect(trials.map(({ duel }) => duel)).toEqual(['c1000-r1', 'c1000-r1']);
  });

  it('is planned in the same way if it is repeated', () => {
    const { plan } = readRun(folder);
    const again = repeatPlan(plan, 'again', plan.seed);
    expect(again.trials).toEqual(plan.trials);
  });
});

it('every published run is read in the current format', () => {
  const runs = listRuns(PUBLISHED).map((id) => readRun(join(PUBLISHED, id)));
  expect(runs.length).toBeGreaterThan(5);
  const wrong = runs.flatMap(({ folder, trials }) =>
    trials.flatMap((trial) => {
      const { id } = trial;
      return isRecord(trial) ? [] : [`${folder} ${id}`];
    }),
  );
  expect(wrong).toEqual([]);
});

const reason = (code: string, invalidates: string[]): object => ({ code, text: 'seen', invalidates });

const readHost = (retransmits: number): unknown =>
  upgradeTrial({ schema: 2, measured: { host: { retransmits, throttled: 0 } } }, {});

describe('a record', () => {
  it('of an older version loses its negative counts', () => {
    expect(readHost(-3)).toEqual({ schema: RECORD_SCHEMA, measured: { host: { throttled: 0 } } });
    expect(readHost(3)).toEqual({
      schema: RECORD_SCHEMA,
      measured: { host: { throttled: 0, retransmits: 3 } },
    });
  });

  it('of an older version is upgraded to the current reason codes', () => {
    const reasons = [
      reason('foreign-cpu', ['goodput']),
      reason('foreign-answer', ['goodput', 'startup']),
      reason('background', ['goodput']),
      reason('background', ['goodput', 'startup']),
      reason('errors', ['goodput']),
    ];
    const read = upgradeTrial({ schema: 2, reasons }, {}) as { schema: number; reasons: { code: string }[] };
    expect(read.schema).toBe(RECORD_SCHEMA);
    expect(read.reasons.map(({ code }) => code)).toEqual([
      'other-processes',
      'crossed-answers',
      'background',
      'background-failed',
      'errors',
    ]);
  });
});
