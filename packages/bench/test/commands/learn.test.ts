import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { factsOf, findWarmup, keepWarmup } from '../../src/commands/known.ts';
import { planWarmups } from '../../src/commands/learn.ts';
import type { StudyMachine } from '../../src/commands/study.ts';
import type { Plan } from '../../src/plan/definition.ts';
import { prepareFor } from '../measure/world.ts';
import { readGoldenRun, samplePlan, sampleStudiedProcess, sampleStudy } from '../samples.ts';

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

/** Stores a study in which every process of fastify uses twice as much CPU until this age. */
function know(plan: Plan, age: number, { seconds = 60, connections = 10, processes = 3 } = {}): void {
  const [, fastify] = prepareFor(plan);
  if (fastify === undefined) throw new Error('no fastify');
  const study = {
    folder: '',
    host,
    file: sampleStudy(['fastify'], { seconds, connections, processes }),
    processes: Array.from({ length: processes }, (_, index) =>
      sampleStudiedProcess('fastify', dearUntil(age, seconds), { process: index + 1 }),
    ),
  };
  keepWarmup(study, factsOf(fastify, plan, { host, placed }));
}

/** Plans the warm-ups of a run, and throws if this starts a study. */
async function learn(plan: Plan, machine: Partial<StudyMachine> = {}) {
  const lines: string[] = [];
  const voice = { log: (line: string) => void lines.push(line) } as StudyMachine['voice'];
  const session = {} as StudyMachine['session'];
  const means = { session, voice, placed, host, companions: [], leftOut: [], ...machine };
  const learned = await planWarmups(plan, prepareFor(plan), means, () => {
    throw new Error('a study has begun');
  });
  return { ...learned, lines };
}

const warmupOf = ({ warmups = [] }: Plan, target = 'fastify') =>
  warmups.filter((one) => one.target === target);

describe('the known warm-up of a target', () => {
  it('comes from a study of the same target', async () => {
    const plan = samplePlan('--connections 10,100 --rounds 1 --separate');
    know(plan, 20);
    const { plan: planned, interrupted, lines } = await learn(plan);
    expect(warmupOf(planned)).toMatchObject([
      { rungs: [10, 100], seconds: 24, study: { processes: 3, settled: 3 } },
    ]);
    expect(warmupOf(planned, 'vanilla')).toEqual([{ target: 'vanilla', rungs: [10, 100], seconds: 2 }]);
    expect(lines).toEqual([
      expect.stringMatching(/^warning: .*vanilla is not known.*pnpm warm vanilla does$/),
    ]);
    expect(interrupted).toBe(false);
  });

  it('applies only to the same machine and the same number of workers', async () => {
    const plan = samplePlan('--connections 10 --rounds 1 --separate');
    know(plan, 20);
    const elsewhere = await learn(plan, { host: { ...host, cpuModel: 'another' } });
    const { plan: other } = await learn({ ...plan, workers: 2 });
    for (const planned of [elsewhere.plan, other]) expect(warmupOf(planned)[0]?.study).toBeUndefined();
  });

  it('is used for another kind of rung if that kind was not studied', async () => {
    const plan = samplePlan('--connections 1,10 --rounds 1 --separate');
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
    const plan = samplePlan('--connections 10 --rounds 12 --warmup 2 --separate');
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

  it('is not replaced by a shorter study', () => {
    const plan = samplePlan('--connections 10');
    const [, fastify] = prepareFor(plan);
    const read = () => findWarmup(factsOf(fastify!, plan, { host, placed }), 'many');
    know(plan, 20);
    know(plan, 2, { seconds: 15, processes: 1 });
    expect(read()?.known.processes).toHaveLength(3);
    know(plan, 5, { seconds: 60, processes: 5 });
    expect(read()?.known.processes).toHaveLength(5);
    expect(read()?.isUncertain).toBe(false);
  });

  it('is uncertain if the only process that was observed did not settle', () => {
    const plan = samplePlan('--connections 10');
    const [, fastify] = prepareFor(plan);
    know(plan, 55, { processes: 1 });
    expect(findWarmup(factsOf(fastify!, plan, { host, placed }), 'many')?.isUncertain).toBe(true);
  });
});
