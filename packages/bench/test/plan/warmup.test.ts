import {
  isWarm,
  neverSettles,
  staysCold,
  warmupSecondsOf,
  estimateSeconds,
  LONGEST_WARMUP_SECONDS,
} from 'bench-model/planned';
import { describe, expect, it } from 'vitest';
import {
  isUncertain,
  kindOfRung,
  planTogether,
  planWarmup,
  rungOfStudy,
  type KnownWarmup,
} from '../../src/plan/warmup.ts';
import { judgeWarmup } from 'bench-analysis/judge/judge';
import { samplePlan } from '../../../bench-lab/testing/samples.ts';

type Process = KnownWarmup['processes'][number];

/** Returns a process that uses `dearer` times as much CPU per request until it is warm. */
function warmAt(seconds: number, dearer = 2): Process {
  return {
    observedSeconds: 60,
    warm: { seconds, answers: seconds * 10_000 },
    levels: [
      { fromSeconds: 0, toSeconds: seconds, cpuRatio: dearer },
      { fromSeconds: seconds, toSeconds: 60, cpuRatio: 1 },
    ],
  };
}

const restless: Process = {
  observedSeconds: 60,
  levels: [{ fromSeconds: 0, toSeconds: 60, cpuRatio: 1 }],
};

function plan(processes: Process[] | undefined, { seconds = 2, isAuto = true } = {}) {
  const known = processes && { study: 'a-study', processes };
  return planWarmup({ target: 'fastify', rungs: [10, 100], seconds, isAuto }, known);
}

describe('the warm-up of a target', () => {
  it('is the default of the workload if the target was not studied', () => {
    expect(plan(undefined)).toEqual({ target: 'fastify', rungs: [10, 100], seconds: 2 });
  });

  it('is the default of the workload if the only studied process did not settle, which may be an exception', () => {
    const warmup = plan([restless]);
    expect(warmup).toEqual(plan(undefined));
    expect([isWarm(warmup), judgeWarmup(warmup)]).toEqual([false, []]);
  });

  it('is the default if a single process took unusually long without costing much more before', () => {
    expect(plan([warmAt(18, 0.94)])).toEqual(plan(undefined));
    expect(plan([warmAt(18, 0.94)], { isAuto: false })).toEqual(plan(undefined));
    expect(plan([warmAt(18, 0.94), warmAt(2)])).toEqual(plan(undefined));
    expect(plan([warmAt(18, 0.94), warmAt(17, 0.94), warmAt(18, 0.94)])).toMatchObject({ seconds: 22 });
    expect(plan([warmAt(18, 1.3)])).toMatchObject({ seconds: 22 });
    expect(plan([warmAt(8, 0.94)])).toMatchObject({ seconds: 10 });
  });

  it('is that of the process that settled if one of two did', () => {
    const warmup = plan([restless, warmAt(5)]);
    expect(warmup).toMatchObject({ seconds: 6, study: { processes: 2, settled: 1, warmSeconds: 5 } });
    expect(judgeWarmup(warmup)).toEqual([]);
    expect(judgeWarmup(plan([restless, restless]))).toMatchObject([{ code: 'never-warm' }]);
  });

  it('is never shorter than the default of the workload', () => {
    const warmup = plan([warmAt(0), warmAt(0.6)]);
    expect(warmup.seconds).toBe(2);
    expect([isWarm(warmup), judgeWarmup(warmup)]).toEqual([true, []]);
  });

  it('covers the slowest process of the study plus a margin, in whole seconds', () => {
    const warmup = plan([warmAt(4), warmAt(9.5)]);
    expect(warmup).toMatchObject({ seconds: 12, study: { warmSeconds: 9.5, settled: 2, processes: 2 } });
    expect(isWarm(warmup)).toBe(true);
  });

  it('leaves one of every three processes out, which may be an exception', () => {
    expect(plan([warmAt(4), warmAt(25), warmAt(5)])).toMatchObject({ seconds: 6, study: { warmSeconds: 5 } });
    expect(plan([warmAt(4), restless, warmAt(5)])).toMatchObject({ seconds: 6, study: { settled: 2 } });
    const six = [25, 25, 5, 4, 4, 4].map((age) => warmAt(age));
    expect(plan(six)).toMatchObject({ seconds: 6, study: { warmSeconds: 5 } });
  });

  it('has an upper limit, and a target that needs more is suspect', () => {
    const warmup = plan([warmAt(45)]);
    expect(warmup.seconds).toBe(LONGEST_WARMUP_SECONDS);
    expect(staysCold(warmup)).toBe(true);
    expect(judgeWarmup(warmup)).toMatchObject([{ code: 'not-warm' }]);
    expect(judgeWarmup(warmup)[0]?.text).toMatch(/30 s was too short.* 45 s .*× 2\.00/);
  });

  it('keeps the value set by the user, and adds a reason if the study shows that it is too short', () => {
    const warmup = plan([warmAt(20)], { isAuto: false });
    expect(warmup.seconds).toBe(2);
    expect(judgeWarmup(warmup)).toMatchObject([{ code: 'not-warm' }]);
    // An excess of up to 5 % is not reported.
    expect(judgeWarmup(plan([warmAt(20, 1.03)], { isAuto: false }))).toEqual([]);
    expect(judgeWarmup(plan([warmAt(20)], { isAuto: false, seconds: 25 }))).toEqual([]);
  });

  it('is not called enough if it ends at an age that no study saw', () => {
    const unseen: Process = { ...warmAt(20), levels: [{ fromSeconds: 20, toSeconds: 60, cpuRatio: 1 }] };
    const short = plan([unseen], { isAuto: false });
    expect(short.study).toMatchObject({ warmSeconds: 20 });
    expect(short.study).not.toHaveProperty('excess');
    expect([isWarm(short), judgeWarmup(short)]).toEqual([false, []]);
    expect(plan([unseen])).toMatchObject({ seconds: 24, study: { excess: 1 } });
    expect(isWarm(plan([unseen]))).toBe(true);
  });

  it('is the default of the workload for a target that never settles, which is suspect', () => {
    const warmup = plan([restless, restless, warmAt(5)]);
    expect(warmup.seconds).toBe(2);
    expect([neverSettles(warmup), isWarm(warmup)]).toEqual([true, false]);
    const [reason] = judgeWarmup(warmup);
    expect(reason).toMatchObject({ code: 'never-warm' });
    expect(reason?.invalidates).toEqual(expect.arrayContaining(['goodput', 'cpu', 'p99']));
    expect(reason?.invalidates).not.toContain('memory');
    // One process of three is not enough.
    expect(judgeWarmup(plan([restless, warmAt(1), warmAt(5)]))).toEqual([]);
  });
});

describe('a study in which some processes did not settle, or took long', () => {
  it.each([
    ['one process that did not', [restless], true],
    ['one of two', [restless, warmAt(1)], true],
    ['one of three: most did', [restless, warmAt(1), warmAt(1)], false],
    ['two of two: no exception', [restless, restless], false],
    ['none', [warmAt(1)], false],
    ['one that took long', [warmAt(25)], true],
    ['one of two that took long', [warmAt(25), warmAt(5)], true],
    ['two of three that took long', [warmAt(25), warmAt(5), warmAt(25)], false],
    ['one of three, and one that took long', [restless, warmAt(25), warmAt(5)], false],
  ])('is uncertain only if too few processes decide: %s', (_, processes, expected) => {
    expect(isUncertain({ processes })).toBe(expected);
  });
});

const together = (
  processes: (Process[] | undefined)[],
  { seconds = 2, isAuto = true, languages = [] as string[] } = {},
) =>
  planTogether(
    processes.map((one, index) => ({
      needs: { target: `t${index}`, rungs: [10], seconds, isAuto },
      language: languages[index] ?? 'javascript',
      known: one && { study: 'a-study', processes: one },
    })),
  );

describe('the warm-ups of servers that take turns', () => {
  it('are that of the slowest of a language, so that chance in a study makes no difference between two versions', () => {
    const studied = [[warmAt(0)], [warmAt(5)], [warmAt(10)], undefined];
    const alike = together(studied, { languages: ['python', 'python', 'javascript', 'python'] });
    expect(alike.map(({ seconds }) => seconds)).toEqual([6, 6, 12, 12]);
    const mixed = together(studied, { languages: ['javascript', 'python', 'javascript', 'go'] });
    expect(mixed.map(({ seconds }) => seconds)).toEqual([12, 6, 12, 12]);
  });

  it('are the longest for a target whose only studied process did not settle', () => {
    const unsettled = together([[restless], [warmAt(10)], [warmAt(5)]], {
      languages: ['python', 'javascript', 'go'],
    });
    expect(unsettled.map(({ seconds }) => seconds)).toEqual([12, 12, 6]);
  });

  it('are not those of an exception among many targets that were studied once each', () => {
    const once = [0, 0, 12, 0, 0, 6, 0].map((age) => [warmAt(age)]);
    const planned = together(once);
    expect(planned.map(({ seconds }) => seconds)).toEqual(once.map(() => 2));
    expect(planned.map(({ study }) => study !== undefined)).toEqual(
      once.map(([one]) => one?.warm?.seconds === 0),
    );
    expect(planned.flatMap((warmup) => judgeWarmup(warmup))).toEqual([]);
    // A target that was studied well counts alone.
    const well = together([...once, [warmAt(8), warmAt(8), warmAt(9)]]);
    expect(well.map(({ seconds }) => seconds)).toEqual(well.map(() => 10));
  });

  it('show for each target if it is warm after its time', () => {
    const languages = ['javascript', 'python'];
    const [late, quick] = together([[warmAt(45)], [warmAt(10)]], { languages });
    expect([late?.seconds, quick?.seconds]).toEqual([LONGEST_WARMUP_SECONDS, 12]);
    expect([staysCold(late!), staysCold(quick!)]).toEqual([true, false]);
  });

  it('are kept as the user set them', () => {
    const kept = together([[warmAt(1)], [warmAt(10)], undefined], { isAuto: false });
    expect(kept.map(({ seconds }) => seconds)).toEqual([2, 2, 2]);
  });
});

describe('the plan', () => {
  it('distinguishes rungs with few and with many connections', () => {
    expect([1, 9, 10, 10_000].map(kindOfRung)).toEqual(['few', 'few', 'many', 'many']);
  });

  it('studies many connections by the fewest of them, and few by the most', () => {
    expect([[100], [10, 100], [1, 1000], [1, 4]].map(rungOfStudy)).toEqual([10, 10, 10, 4]);
  });

  it('chooses the warm-up per target unless the user sets it, the run is quick, or the server is already running', () => {
    expect(samplePlan('').autoWarmup).toBe(true);
    expect(samplePlan('--warmup auto').autoWarmup).toBe(true);
    expect(samplePlan('--until-decided')).toMatchObject({ autoWarmup: true, warmupSeconds: 2 });
    expect(samplePlan('--warmup 2').autoWarmup).toBeUndefined();
    expect(samplePlan('--quick').autoWarmup).toBeUndefined();
    expect(samplePlan('--url http://127.0.0.1:1/').autoWarmup).toBeUndefined();
  });

  it('includes the warm-up of each trial in its estimate', () => {
    const before = samplePlan('--rounds 1 --connections 10 --no-interleave');
    const after = { ...before, warmups: [{ target: 'fastify', rungs: [10], seconds: 24 }] };
    expect(estimateSeconds(after) - estimateSeconds(before)).toBeCloseTo(22);
    expect(warmupSecondsOf(after, { target: 'fastify', connections: 100 })).toBe(2);
    expect(warmupSecondsOf(after, { target: 'vanilla', connections: 10 })).toBe(2);
  });
});
