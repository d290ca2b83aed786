import { describe, expect, it } from 'vitest';
import { compareWithin } from '../src/compare.ts';
import { crossCheck, disagrees } from '../src/cross-check.ts';
import { summarise } from '../src/summary.ts';
import { unlikeRuns, unlikeTargets } from '../src/unlike.ts';
import type { Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { describeCrossCheck } from 'bench-report/cross-check';
import {
  failedTrial,
  okTrial,
  readGoldenRun,
  sampleMeasured,
  samplePlan,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const plan = samplePlan('--cross-check wrk --rounds 6 --connections 10', ['vanilla']);
const BOUND: Reason = { code: 'generator-bound', text: 'busy', invalidates: ['goodput', 'p50', 'p99'] };

const trialsOf = (target: string, goodputs: number[]): Trial[] =>
  goodputs.map((goodput, index) =>
    okTrial(target, sampleMeasured({ goodput, cpu: 20 }), { round: index + 1 }),
  );

function lineOf(own: Trial[], other: Trial[]): string {
  const [check, ...more] = crossCheck(summarise([...own, ...other]), plan.targets, plan.engine);
  expect(more).toEqual([]);
  return describeCrossCheck(check!);
}

describe('crossCheck', () => {
  it('says that the engines agree', () => {
    const line = lineOf(
      trialsOf('vanilla', [980, 1000, 1010]),
      trialsOf('vanilla by wrk', [1000, 1049, 1060]),
    );
    expect(line).toBe(
      'cross-check: vanilla at 10: wrk measured 1,049/s and autocannon 1,000/s, × 1.049: they agree within 5 %; the ranges of their rounds overlap.',
    );
  });

  it('reports a difference above 5 % in either direction, and overlapping ranges', () => {
    const own = trialsOf('vanilla', [980, 1000, 1010]);
    expect(lineOf(own, trialsOf('vanilla by wrk', [1040, 1051, 1060]))).toContain(
      '× 1.051: THE ENGINES DIFFER by more than 5 %; the ranges of their rounds do not overlap.',
    );
    expect(lineOf(own, trialsOf('vanilla by wrk', [930, 940, 1000]))).toContain(
      '× 0.940: THE ENGINES DIFFER by more than 5 %; the ranges of their rounds overlap.',
    );
  });

  it('reports lower bounds and missing results', () => {
    const [trial] = trialsOf('vanilla', [1000]);
    const bound = suspectTrial('vanilla', sampleMeasured({ goodput: 1000 }), [BOUND]);
    const other = trialsOf('vanilla by wrk', [2000]);
    expect(lineOf([bound], other)).toContain('do not overlap; the figure of autocannon is a lower bound.');
    expect(lineOf([trial!], [failedTrial('vanilla by wrk', 'it died')])).toBe(
      'cross-check: vanilla at 10: no result, because wrk measured no goodput.',
    );
  });

  it('returns nothing if only one engine measured', () => {
    const rows = summarise(trialsOf('vanilla', [1000]));
    expect(crossCheck(rows, samplePlan('').targets, 'autocannon')).toEqual([]);
    expect(disagrees({} as never)).toBe(false);
  });
});

describe('a comparison across engines', () => {
  const run = {
    ...readGoldenRun(),
    plan,
    trials: [
      ...trialsOf('vanilla', [1000, 1010, 1020, 990, 1000, 1005]),
      ...trialsOf('vanilla by wrk', [1210, 1200, 1220, 1190, 1200, 1205]),
    ],
  };

  it('compares each target with itself', () => {
    const table = compareWithin(run, { by: 'goodput', threshold: 0.02 });
    expect(table.baseline).toBe('autocannon');
    expect(
      table.rows.map(({ candidate, baseline, comparison }) => [candidate, baseline, comparison.verdict]),
    ).toEqual([['vanilla by wrk', 'vanilla', 'faster']]);
  });

  it('requires --across engine, within a run and between two runs', () => {
    expect(unlikeTargets(run, undefined)).toEqual(['engine: autocannon and wrk']);
    expect(unlikeTargets(run, 'engine')).toEqual([]);
    const [old, now] = [structuredClone(readGoldenRun()), structuredClone(readGoldenRun())];
    expect(unlikeTargets(old, undefined)).toEqual([]);
    now.plan.engine = 'threads';
    expect(unlikeRuns(old, now, undefined)).toEqual(['engine: autocannon and threads']);
    expect(unlikeRuns(old, now, 'engine')).toEqual([]);
  });
});
