import { PROCESS_SECONDS, type StudyMachine } from '../../src/conduct/study.ts';
import { planStudies, planWarmups } from '../../src/conduct/learn.ts';
import { factsOf, findWarmup, keepWarmups } from '../../src/conduct/known.ts';
import { estimateSeconds, secondsPerRound } from 'bench-model/planned';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Plan } from 'bench-model/plan';
import { prepareFor } from '../measure/world.ts';
import {
  readGoldenRun,
  samplePlan,
  sampleStudiedProcess,
  sampleStudy,
} from '../../../bench-lab/testing/samples.ts';

const { host } = readGoldenRun();
let state = '';
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'bench-learn-'));
  vi.stubEnv('BENCH_STATE', state);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(state, { recursive: true });
});

const placed = {
  placement: { kind: 'separate' as const, server: [1], generator: [0] },
  server: [],
  generator: [],
};

/** Returns the ratios of a process, five per second. It uses twice as much CPU until this age. */
const dearUntil = (age: number, seconds = 60) =>
  Array.from({ length: seconds * 5 }, (_, at) => (at / 5 < age ? 2 : 1) * (1 + 0.02 * Math.sin(at ** 2)));

/** Stores a study in which every process of a target uses twice as much CPU until this age. */
function know(
  plan: Plan,
  age: number,
  { target = 'fastify', seconds = 60, connections = 10, processes = 3 } = {},
): void {
  const found = prepareFor(plan).find((one) => one.target.id === target);
  if (found === undefined) throw new Error(`no ${target}`);
  const study = {
    folder: '',
    host,
    file: sampleStudy([target], { seconds, connections, processes }),
    processes: Array.from({ length: processes }, (_, index) =>
      sampleStudiedProcess(target, dearUntil(age, seconds), { process: index + 1 }),
    ),
  };
  keepWarmups(study, [factsOf(found, plan, { host, placed })]);
}

/** Returns the known warm-up of fastify at many connections. */
function readFastify(plan: Plan) {
  const [, fastify] = prepareFor(plan);
  return findWarmup(factsOf(fastify!, plan, { host, placed }), 'many');
}

/** Returns the seconds of each warm-up of a plan. */
async function secondsOf(line: string): Promise<number[] | undefined> {
  const { plan } = await learn(samplePlan(`--connections 10 ${line}`));
  return plan.warmups?.map(({ seconds }) => seconds);
}

/** Returns a plan of two copies of one project. */
function ofCopies(line: string): Plan {
  const plan = samplePlan(`--connections 10 --rounds 1 ${line}`);
  const targets = plan.targets.map((target) => ({
    ...target,
    stack: 'fastify',
    copy: { kind: 'folder' as const, name: target.id },
  }));
  return { ...plan, targets };
}

/** Plans the warm-ups of a run, and throws if this starts a study. */
async function learn(plan: Plan, machine: Partial<StudyMachine> = {}) {
  const lines: string[] = [];
  const log = (line: string): void => {
    if (line.startsWith('studying ')) throw new Error('a study has begun');
    lines.push(line);
  };
  const voice = { log } as StudyMachine['voice'];
  const session = {} as StudyMachine['session'];
  const context = { session, voice, placed, host, companions: [], leftOut: [], ...machine };
  const learned = await planWarmups(plan, prepareFor(plan), context);
  return { ...learned, lines };
}

const warmupOf = ({ warmups = [] }: Plan, target = 'fastify') =>
  warmups.filter((one) => one.target === target);

describe('the known warm-up of a target', () => {
  it('comes from a study of the same target', async () => {
    const plan = samplePlan('--connections 10,100 --rounds 1 --no-interleave');
    know(plan, 20);
    const { plan: planned, interrupted, lines } = await learn(plan);
    expect(warmupOf(planned)).toMatchObject([
      { rungs: [10, 100], seconds: 24, study: { processes: 3, settled: 3 } },
    ]);
    expect(warmupOf(planned, 'vanilla')).toEqual([{ target: 'vanilla', rungs: [10, 100], seconds: 2 }]);
    expect(lines).toEqual([
      expect.stringMatching(/^warning: too little is known about .* vanilla, .*pnpm warmup vanilla does$/),
    ]);
    expect(interrupted).toBe(false);
  });

  it('is used but called uncertain if the only process that was studied took unusually long', async () => {
    const plan = samplePlan('--connections 10 --rounds 1 --no-interleave');
    know(plan, 1, { target: 'vanilla' });
    know(plan, 20, { processes: 1 });
    const { plan: planned, lines } = await learn(plan);
    expect(warmupOf(planned)).toMatchObject([{ seconds: 24, study: { processes: 1 } }]);
    expect(lines).toEqual([
      expect.stringMatching(/^warning: too little is known about .* fastify, .*pnpm warmup fastify does$/),
    ]);
  });

  it('is found out by a longer run if the requests are those of a user', async () => {
    const url = samplePlan('--connections 10 --rounds 1 --no-interleave --get /orders');
    const { lines } = await learn(url);
    expect(lines).toEqual([
      expect.stringMatching(/^warning: too little is known .*: a run of more --rounds does$/),
    ]);
    const short = await learn(
      samplePlan('--connections 10 --until-decided --budget 40s --noise --get /orders'),
    );
    expect(short.lines).toEqual([expect.stringMatching(/: a longer --budget does$/)]);
  });

  it('applies only to the same machine and the same number of workers', async () => {
    const plan = samplePlan('--connections 10 --rounds 1 --no-interleave');
    know(plan, 20);
    const elsewhere = await learn(plan, { host: { ...host, cpuModel: 'another' } });
    const { plan: other } = await learn({ ...plan, workers: 2 });
    for (const planned of [elsewhere.plan, other]) expect(warmupOf(planned)[0]?.study).toBeUndefined();
  });

  it('is used for another kind of rung if that kind was not studied', async () => {
    const plan = samplePlan('--connections 1,10 --rounds 1 --no-interleave');
    know(plan, 20, { connections: 10 });
    expect(warmupOf((await learn(plan)).plan)).toMatchObject([
      { rungs: [1], seconds: 24 },
      { rungs: [10], seconds: 24 },
    ]);
    know(plan, 8, { connections: 1 });
    expect(warmupOf((await learn(plan)).plan)).toMatchObject([
      { rungs: [1], seconds: 10 },
      { rungs: [10], seconds: 24 },
    ]);
  });

  it('is recorded with a warm-up that the user sets, and starts no study', async () => {
    const plan = samplePlan('--connections 10 --rounds 12 --warmup 2 --no-interleave');
    know(plan, 20);
    const { plan: planned, lines } = await learn(plan);
    expect(warmupOf(planned)).toMatchObject([{ seconds: 2, study: { warmSeconds: expect.closeTo(20, 0) } }]);
    expect(lines).toEqual([]);
  });

  it('is not looked up for a quick run or for a plan that already has warm-ups', async () => {
    const quick = samplePlan('--quick --connections 10');
    know(quick, 20);
    expect((await learn(quick)).plan).toBe(quick);
    const plan = { ...samplePlan('--connections 10'), warmups: [] };
    expect((await learn(plan)).plan).toBe(plan);
  });

  it('is the same for all servers of a duel: that of the slowest', async () => {
    const plan = samplePlan('--connections 10 --rounds 1 --interleave');
    know(plan, 20);
    expect((await learn(plan)).plan.warmups).toMatchObject([
      { target: 'vanilla', seconds: 24 },
      { target: 'fastify', seconds: 24, study: { settled: 3 } },
    ]);
  });

  it('is that of another copy of the project', async () => {
    const plan = ofCopies('--interleave');
    know(plan, 20);
    const { plan: planned, lines } = await learn(plan);
    expect(planned.warmups).toMatchObject([
      { target: 'vanilla', seconds: 24, study: { settled: 3 } },
      { target: 'fastify', seconds: 24, study: { settled: 3 } },
    ]);
    expect(lines).toEqual([]);
    const apart = await learn(ofCopies('--no-interleave'));
    expect(apart.plan.warmups).toMatchObject([
      { target: 'vanilla', seconds: 24 },
      { target: 'fastify', seconds: 24 },
    ]);
    expect(apart.lines).toEqual([expect.stringMatching(/^warning: too little is known about .* vanilla,/)]);
  });

  it('is shorter than the default in a comparison by turns if all processes were warm sooner', async () => {
    const plan = samplePlan('--connections 10 --rounds 1 --interleave');
    know(plan, 0.4);
    expect(await secondsOf('--rounds 1 --interleave')).toEqual([2, 2]);
    know(plan, 0.4, { target: 'vanilla' });
    expect(await secondsOf('--rounds 1 --interleave')).toEqual([1, 1]);
    expect(await secondsOf('--rounds 1 --no-interleave')).toEqual([2, 2]);
    expect(await secondsOf('--rounds 1 --interleave --warmup 3')).toEqual([3, 3]);
  });

  it('is not replaced by a shorter study', () => {
    const plan = samplePlan('--connections 10');
    const read = () => readFastify(plan);
    know(plan, 20);
    know(plan, 2, { seconds: 15, processes: 1 });
    expect(read()?.processes).toHaveLength(3);
    know(plan, 5, { seconds: 60, processes: 5 });
    expect(read()?.processes).toHaveLength(5);
  });

  it('is decided by several processes if the first did not settle', () => {
    const plan = samplePlan('--connections 10');
    const settled = () => readFastify(plan)?.processes.map(({ warm }) => warm !== undefined);
    know(plan, 55, { processes: 1 });
    know(plan, 2, { processes: 1, seconds: 15 });
    expect(settled()).toEqual([false, true]);
    know(plan, 2, { processes: 1, seconds: 15 });
    expect(settled()).toEqual([false, true, true]);
    // Two of three settled, so that no further process joins them.
    know(plan, 2, { processes: 1, seconds: 15 });
    expect(settled()).toHaveLength(3);
  });

  it('is the default, with a warning, while the only studied process did not settle', async () => {
    const plan = samplePlan('--connections 10 --rounds 1 --no-interleave');
    for (const target of ['vanilla', 'fastify'])
      know(plan, target === 'fastify' ? 55 : 1, { target, processes: target === 'fastify' ? 1 : 3 });
    const { plan: planned, lines } = await learn(plan);
    expect(warmupOf(planned)).toEqual([{ target: 'fastify', rungs: [10], seconds: 2 }]);
    expect(lines.at(-1)).toMatch(/^warning: the studied process of fastify took unusually long to settle/);
  });

  it('is replaced by a longer study, even if it is uncertain', () => {
    const plan = samplePlan('--connections 10');
    know(plan, 14, { processes: 1, seconds: 15 });
    know(plan, 14, { processes: 1, seconds: 60 });
    expect(readFastify(plan)?.processes).toMatchObject([{ warm: { seconds: expect.closeTo(14, 0) } }]);
  });
});

/** Returns the number of studies in a comparison of capacities with a budget, and the rounds for which it has time beside them. */
const studiesWithin = (line: string) => {
  const plan = samplePlan(`--slo p99<50ms --until-decided ${line}`, ['vanilla', 'fastify']);
  const { count, seconds } = planStudies(plan, 2);
  const spent = count * (seconds + PROCESS_SECONDS);
  const left = plan.sequentialTest!.budgetSeconds! - spent;
  return { count, rounds: left / secondsPerRound(plan) };
};

describe('the time of a run', () => {
  const five = ['vanilla', 'fastify', 'uvicorn', 'litestar', 'fastapi'];
  const plan = samplePlan('--no-interleave', five);
  const before = estimateSeconds(plan);

  it('grows by at most a fifth while nothing is known: all five default servers are studied in it', () => {
    const { count, seconds } = planStudies(plan, five.length);
    expect(count).toBe(five.length);
    expect(seconds).toBeGreaterThanOrEqual(8);
    expect(count * (seconds + PROCESS_SECONDS)).toBeLessThanOrEqual(before / 5);
  });

  it.each(['', '--rounds 1', '--rounds 12', '--connections 10 --rounds 1', '--until-decided --interleave'])(
    'grows by at most a fifth, whatever its length: %s',
    (line) => {
      const other = samplePlan(line, five);
      for (const unknown of [1, 2, 5]) {
        const { count, seconds } = planStudies(other, unknown);
        expect(count * (seconds + PROCESS_SECONDS)).toBeLessThanOrEqual(estimateSeconds(other) / 5);
      }
    },
  );

  it('leaves a budget the rounds to its first look, if it holds them beside a study of each', () => {
    expect(studiesWithin('--budget 5m')).toEqual({ count: 2, rounds: expect.closeTo(8, 0) });
    expect(studiesWithin('--budget 5m').rounds).toBeGreaterThanOrEqual(8);
    const short = studiesWithin('--budget 4m');
    expect(short.count).toBe(2);
    expect(short.rounds).toBeLessThan(8);
  });

  it('is the same as before once all are known to be warm after the default warm-up', async () => {
    for (const target of five) know(plan, 1.5, { target });
    const { plan: planned, lines } = await learn(plan);
    expect(estimateSeconds(planned)).toBe(before);
    expect(lines).toEqual([]);
  });

  it('grows only by the warm-up that a target is known to need', async () => {
    for (const target of five) know(plan, target === 'vanilla' ? 5 : 1.5, { target });
    const { plan: planned } = await learn(plan);
    const trials = plan.trials.filter(({ target }) => target === 'vanilla').length;
    // 5 s and a fifth more, in place of 2 s.
    expect(warmupOf(planned, 'vanilla')).toMatchObject([{ seconds: 6 }]);
    expect(estimateSeconds(planned) - before).toBeCloseTo(trials * 4);
  });
});
