import { describe, expect, it } from 'vitest';
import { compareRuns, compareWithin } from '../../src/analyse/compare.ts';
import { kindsAmong, kindsOfRounds } from '../../src/analyse/trial-kinds.ts';
import { createRandom, type Random } from '../../src/random.ts';
import { renderComparison } from '../../src/report/compare.ts';
import { renderJson } from '../../src/report/json.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import { toModel } from '../../src/report/model/model.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { toView } from '../../src/report/view.ts';
import type { Trial } from '../../src/results/record.ts';
import type { StoredRun } from '../../src/results/store.ts';
import { okTrial, readGoldenRun, sampleMeasured, samplePlan } from '../samples.ts';

const ROUNDS = 20;

/** Trials whose CPU per request is drawn: a share of the processes are of the dearer kind, in no order. */
function trialsOf(
  target: string,
  { cheap = 19, dear = 23, share = 0, deviation = 0.02, rounds = ROUNDS, seed = 1 },
): Trial[] {
  const random = createRandom(seed);
  const dears = random.shuffle(Array.from({ length: rounds }, (_, index) => index < share * rounds));
  return dears.map((isDear, index) => {
    const cpu = (isDear ? dear : cheap) * Math.exp(deviation * random.normal());
    return okTrial(target, sampleMeasured({ cpu }), { round: index + 1, order: index });
  });
}

function falseKinds(
  draw: (random: Random, count: number) => number[],
  expected: 'separate' | 'duel',
): number {
  const random = createRandom(3);
  const found = Array.from({ length: 400 }, (_, index) => {
    const figures = draw(random, [5, 8, 12, 20][index % 4]!);
    if (expected === 'duel') return kindsOfRounds(figures);
    return kindsAmong(
      figures.map((cpu, at) => okTrial('fastify', sampleMeasured({ cpu: 20 * cpu }), { round: at + 1 })),
    );
  });
  return found.filter((kinds) => kinds !== undefined).length / found.length;
}

const normal =
  (deviation: number) =>
  (random: Random, count: number): number[] =>
    Array.from({ length: count }, () => Math.exp(deviation * random.normal()));

/** Figures of which one in ten deviates three times as far. */
function withAccidents(random: Random, count: number): number[] {
  return Array.from({ length: count }, () =>
    Math.exp(0.05 * random.normal() * (random.float() < 0.1 ? 3 : 1)),
  );
}

/** Figures that rise by a quarter after the first half. */
function step(random: Random, count: number): number[] {
  return normal(0.02)(random, count).map((cpu, index) => (index < count / 2 ? cpu : 1.25 * cpu));
}

describe('kinds of processes among trials', () => {
  it('are found where they were planted, with their levels and shares', () => {
    const kinds = kindsAmong(trialsOf('fastify', { share: 0.45 }));
    expect(kinds).toMatchObject([
      { processes: 11, of: 20 },
      { processes: 9, of: 20 },
    ]);
    expect(kinds?.[0]?.centre).toBeCloseTo(19, 0);
    expect(kinds?.[1]?.centre).toBeCloseTo(23, 0);
  });

  it('are found in at most 5 % of targets with one kind', () => {
    expect(falseKinds(normal(0.05), 'separate')).toBeLessThanOrEqual(0.05);
    expect(falseKinds(normal(0.02), 'duel')).toBeLessThanOrEqual(0.05);
    expect(falseKinds(withAccidents, 'separate')).toBeLessThanOrEqual(0.05);
  });

  it('are not found if the machine became slower during the run', () => {
    const long = Array.from({ length: 10 }, (_, index) =>
      kindsAmong(
        step(createRandom(index), ROUNDS).map((cpu, at) =>
          okTrial('fastify', sampleMeasured({ cpu }), { round: at + 1 }),
        ),
      ),
    );
    expect(long).toEqual(long.map(() => undefined));
  });

  it('need at least five processes, and two of each kind', () => {
    expect(kindsAmong(trialsOf('fastify', { share: 0.5, rounds: 4 }))).toBeUndefined();
    expect(kindsAmong(trialsOf('fastify', { share: 1 / ROUNDS }))).toBeUndefined();
  });

  it('do not exist if one process served all trials', () => {
    const process = { pid: 4711 };
    const trials = trialsOf('fastify', { share: 0.45 }).map((trial) => ({ ...trial, process }));
    expect(kindsAmong(trials)).toBeUndefined();
  });
});

describe('a run with kinds of processes', () => {
  const plan = samplePlan(`--connections 10 --rounds ${ROUNDS} --separate`);
  const trials = [
    ...trialsOf('vanilla', { cheap: 16, dear: 19.4, share: 0.1, seed: 2 }),
    ...trialsOf('fastify', { share: 0.45 }),
  ];
  const run: StoredRun = { ...readGoldenRun(), plan, trials };
  const question = { by: 'cpu', threshold: 0.02, baseline: 'vanilla' } as const;

  it('names them in every report', () => {
    const line =
      'fastify at 10: 2 kinds of processes by CPU per request: 18.8 µs in 11 of 20 processes, 23.1 µs in 9.';
    const model = toModel(run);
    expect(toView(model).notes).toContain(line);
    expect(renderTerminal(toView(model)).replaceAll(/\s+/g, ' ')).toContain(line);
    expect(renderMarkdown(toView(model))).toContain(line);
    const { rows, comparisons } = JSON.parse(renderJson(run)) as ReturnType<typeof toModel>;
    expect(rows.find(({ target }) => target === 'fastify')?.kinds).toMatchObject([
      { processes: 11, of: 20 },
      { processes: 9, of: 20 },
    ]);
    expect(comparisons.find(({ by }) => by === 'cpu')?.rows[0]?.kinds?.candidate).toHaveLength(2);
    expect(comparisons.filter(({ rows: all }) => all.some(({ kinds }) => kinds !== undefined))).toHaveLength(
      1,
    );
  });

  it('is compared within kinds, and by the mean of a fleet', () => {
    const table = compareWithin(run, question);
    const { kinds } = table.rows[0]!;
    expect(kinds?.within?.ratio).toBeCloseTo(19 / 16, 1);
    expect(kinds?.within?.interval?.low).toBeGreaterThan(1.15);
    expect(kinds?.fleet.ratio).toBeCloseTo((0.55 * 19 + 0.45 * 23) / (0.9 * 16 + 0.1 * 19.4), 1);
    expect(renderComparison(table, 'a run', [])).toMatch(
      /fastify against vanilla at 10: kinds of processes: fastify 18\.8 µs in 11 of 20 processes, 23\.1 µs in 9; vanilla 16\.\d µs in 18 of 20 processes, 19\.\d µs in 2; within kinds × 1\.\d\d \(1\.\d\d to 1\.\d\d\); mean of many processes × 1\.2\d \(/,
    );
    const across = compareRuns(run, run, question);
    expect(across.rows.map((row) => row.kinds?.fleet.ratio)).toEqual([1, 1]);
  });

  it('says nothing about kinds by another metric, or if there are none', () => {
    expect(compareWithin(run, { ...question, by: 'goodput' }).rows[0]).not.toHaveProperty('kinds');
    const plain = { ...run, trials: [...trialsOf('vanilla', { seed: 2 }), ...trialsOf('fastify', {})] };
    expect(compareWithin(plain, question).rows[0]).not.toHaveProperty('kinds');
    expect(toView(toModel(plain)).notes.join()).not.toContain('kinds');
  });

  it('has levels among the ratios of the rounds of a duel', () => {
    const sides = [...trialsOf('vanilla', { cheap: 16, seed: 2 }), ...trialsOf('fastify', { share: 0.45 })];
    const duel = {
      ...run,
      plan: { ...plan, byTurns: { rungs: plan.rungs, turnSeconds: 0.02 } },
      trials: sides,
    };
    const [row] = compareWithin(duel, question).rows;
    expect(row?.roundKinds).toMatchObject([
      { processes: 11, of: 20 },
      { processes: 9, of: 20 },
    ]);
    expect(renderComparison({ ...question, paired: true, rows: [row!] }, 'a duel', [])).toMatch(
      /the ratio has 2 levels, so the processes of at least one of them are of several kinds: × 1\.\d\d in 11 of 20 rounds, × 1\.\d\d in 9/,
    );
  });
});
