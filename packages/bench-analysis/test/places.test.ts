/** Comparisons, ranks and budgets of requests that are measured one at a time. */
import { describe, expect, it } from 'vitest';
import type { Plan } from 'bench-model/plan';
import type { Trial } from 'bench-model/record';
import { judgeBudget } from '../src/budgets.ts';
import { cellOf } from '../src/cells.ts';
import { compareWithin, contestRun, countShares } from '../src/compare.ts';
import { trackRun } from '../src/due.ts';
import { summarise } from '../src/summary.ts';
import { okTrial, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

const ROUTES = ['GET /a', 'GET /b', 'GET /c'];

const planOf = (words: string, names = ['main', 'feature'], routes = ROUTES): Plan =>
  samplePlan(
    `${routes.map((route) => `--get ${route.slice(4)}`).join(' ')} --connections 10 ${words}`,
    names,
  );

/** The CPU per request of a target: `GET /b` costs 12 % more in feature. A round varies by 0.4 %. */
const costOf = (target: string, route: string | undefined, round: number): number =>
  ({ 'GET /b': 120, 'GET /c': 500 }[route ?? ''] ?? 100) *
  (target === 'feature' && route === 'GET /b' ? 1.12 : 1) *
  (1 + ((round * 7 + target.length) % 5) / 1000);

function measure(plan: Plan, upTo = Infinity): Trial[] {
  return plan.trials
    .filter(({ round }) => round <= upTo)
    .map(({ target, route, round, connections, duel, life, id }) => {
      const measured = { ...sampleMeasured({}), cpuUsPerRequest: costOf(target, route, round) };
      const head = {
        id,
        connections,
        round,
        ...(route && { route }),
        ...(duel && { duel }),
        ...(life && { life }),
      };
      return okTrial(target, measured, head);
    });
}

const question = { by: 'cpu', threshold: 0.02 } as const;

describe('requests that are measured one at a time', () => {
  it('are rows of their own', () => {
    const plan = planOf('--rounds 3', ['main']);
    const rows = summarise(measure(plan));
    expect(rows.map(({ route, rounds }) => [route, rounds])).toEqual([
      ['GET /a', 3],
      ['GET /b', 3],
      ['GET /c', 3],
    ]);
    expect(rows[2]?.figures.cpu?.median).toBeCloseTo(500, -1);
  });

  it('tell what the server keeps of each answer to them', () => {
    const plan = planOf('--rounds 3', ['main']);
    const keptBytes: Record<string, number> = { 'GET /b': 1400 };
    const trials = plan.trials.map(({ id, route = '', round, connections }) => {
      const turns = { answers: [50, 50, 50], goodputPerSecond: [], places: [0, 1, 2] };
      const memoryBytes = [50, 100, 150].map((given) => 40e6 + given * (keptBytes[route] ?? 0));
      const measured = { ...sampleMeasured({}), turns: { ...turns, memoryBytes } };
      return okTrial('main', measured, { id, connections, route, round });
    });
    const rows = summarise(trials);
    expect(
      Object.fromEntries(rows.map(({ route = '', growth }) => [route, [growth?.median, growth?.rounds]])),
    ).toEqual({ 'GET /a': [0, 3], 'GET /b': [1400, 3], 'GET /c': [0, 3] });
  });

  it('are found slower among ten in the rounds that one alone takes', () => {
    const ten = Array.from({ length: 10 }, (_, index) => `GET /${'abcdefghij'[index]}`);
    const plan = planOf('--threshold 2%', undefined, ten);
    const { rows = [] } = trackRun(plan).standing(measure(plan, 12)) ?? {};
    const slower = rows.filter(({ comparison: { verdict } }) => verdict === 'slower');
    expect(slower.map(({ route, comparison: { rounds } }) => [route, rounds])).toEqual([['GET /b', 12]]);
    // One request alone has its first look then, too.
    expect(trackRun(planOf('--threshold 2%', undefined, ['GET /b'])).foreseen.decisiveRounds).toBe(12);
  });

  it.each(['--rounds 12', '--threshold 2%'])(
    'are compared with themselves, never with each other: %s',
    (words) => {
      const plan = planOf(words);
      const trials = measure(plan, 18);
      const { rows } = compareWithin({ plan, trials }, question);
      expect(rows.map(({ route, comparison: { verdict } }) => [route, verdict])).toEqual([
        ['GET /a', 'same'],
        ['GET /b', 'slower'],
        ['GET /c', 'same'],
      ]);
      expect(countShares(plan)).toBe(3);
      const { ranks } = contestRun({ plan, trials }, question);
      const own = ROUTES.map((route) => ranks.get(cellOf({ target: 'feature', connections: 10, route })));
      expect(own).toEqual([1, 2, 1]);
    },
  );

  it('leave the rounds one by one, when they are decided', () => {
    const plan = planOf('--threshold 2%');
    const trials = measure(plan, 18).map((trial): Trial =>
      // Their ratio jumps between rounds.
      trial.route === 'GET /a' && trial.target.id === 'feature' && trial.status !== 'failed'
        ? {
            ...trial,
            measured: { ...trial.measured, cpuUsPerRequest: 100 * (trial.round % 2 === 0 ? 1.2 : 0.85) },
          }
        : trial,
    );
    const tracker = trackRun(plan);
    expect(tracker.standing(trials)?.open.map(({ route }) => route)).toEqual(['GET /a']);
    expect(
      new Set(
        trackRun(plan)
          .left(trials)
          .map(({ route }) => route),
      ),
    ).toEqual(new Set(['GET /a']));
  });

  it('have budgets of their own', () => {
    const plan = planOf('--rounds 12');
    const run = { plan, trials: measure(plan) };
    const worse = { kind: 'worse', share: 0.05, against: 'main' } as const;
    const judge = (route?: string) =>
      judgeBudget(run, { metric: 'cpu', limit: worse, ...(route && { route }) }, ['main']).rows.map((row) => [
        row.route,
        row.verdict,
      ]);
    expect(judge('GET /b')).toEqual([['GET /b', 'broken']]);
    expect(judge('GET /a')).toEqual([['GET /a', 'kept']]);
    expect(judge()).toEqual([
      ['GET /a', 'kept'],
      ['GET /b', 'broken'],
      ['GET /c', 'kept'],
    ]);
    const figure = { metric: 'cpu', route: 'GET /c', limit: { kind: 'figure', value: 200 } } as const;
    expect(judgeBudget(run, figure, []).rows.map(({ verdict }) => verdict)).toEqual(['broken', 'broken']);
  });
});
