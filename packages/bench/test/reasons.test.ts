import { readFileSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { figureOf } from '../src/analyse/metrics.ts';
import { METRIC_IDS, METRICS } from '../src/metrics.ts';
import type { Reason } from '../src/results/record.ts';
import { isFatal, makeReason, makesLowerBound, REASON_CODES } from '../src/reasons.ts';
import { readSchema, sampleMeasured, suspectTrial } from './samples.ts';

const SOURCE = fileURLToPath(new URL('../src/', import.meta.url));

describe('the table of reasons', () => {
  it('is what the schema of records knows', () => {
    const { definitions } = readSchema('record') as { definitions: { reason: object } };
    expect(definitions.reason).toMatchObject({ properties: { code: { enum: REASON_CODES } } });
  });

  it('gives the code, the text and what is invalid', () => {
    expect(makeReason('steal', { cores: 0.25 })).toEqual({
      code: 'steal',
      text: 'the hypervisor took 25 % of a core',
      invalidates: ['goodput', 'p50', 'p99'],
    });
  });

  it('says which reasons are fatal: those that leave no metric', () => {
    const reasons = REASON_CODES.map((code): Reason => ({ code, text: 'seen', invalidates: [] }));
    expect(reasons.filter(isFatal).map(({ code }) => code)).toEqual([
      'trial',
      'upstream',
      'database',
      'companion',
      'defect',
      'not-stopped',
      'port-held',
      'same-code',
      'accounting',
      'crossed-answers',
      'wrong-body',
      'unsolicited',
      'no-answers',
      'upstream-count',
      'inserts-lost',
      'inserts-unacknowledged',
      'background-failed',
    ]);
    expect(makeReason('wrong-body', { count: 1 }).invalidates).toEqual(METRIC_IDS);
  });

  it('says which reasons leave a lower bound, and of what', () => {
    const bounds = REASON_CODES.flatMap((code) =>
      METRIC_IDS.filter((id) => makesLowerBound({ code, text: '', invalidates: [] }, id)).map(
        (id) => `${code} ${id}`,
      ),
    );
    expect(bounds).toEqual(['generator-bound goodput', 'upstream-bound goodput', 'database-bound goodput']);
    const bound = makeReason('database-bound', { coresUsed: 1, cores: [1] });
    const trial = suspectTrial('fastify', sampleMeasured(), [bound]);
    expect(figureOf(trial, METRICS.goodput)).toMatchObject({ valid: false, atLeast: true });
    expect(figureOf(trial, METRICS.p50)).toMatchObject({ valid: false, atLeast: false });
  });

  it('is the only place that makes reasons or knows what they mean', () => {
    const made = globSync('**/*.ts', { cwd: SOURCE }).filter(
      (file) => file !== 'reasons.ts' && /\binvalidates: \[/.test(readFileSync(join(SOURCE, file), 'utf8')),
    );
    expect(made).toEqual([]);
  });
});
