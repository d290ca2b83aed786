import { refuseBudget } from '../../src/plan/refusals.ts';
import { describe, expect, it } from 'vitest';
import { estimateSeconds } from 'bench-model/planned';
import bench from '../../src/commands/bench.ts';
import { resolveRequest } from '../../src/conduct/resolve.ts';
import { BenchError } from 'bench-model/errors';
import { errorOf, samplePlan } from '../../../bench-lab/testing/samples.ts';

const budget = (line: string) => samplePlan(`--connections 10 --budget ${line}`, ['a', 'b']);

it('a budget that does not hold the rounds of a look is refused, with one that does', () => {
  const error = errorOf(() => refuseBudget(budget('40s')));
  expect(error).toBeInstanceOf(BenchError);
  expect(error).toMatchObject({
    code: 'usage',
    message: 'a budget of 40s allows about 1 round; a large difference needs 3 rounds, others at least 6',
    hint: 'use --budget 3m for a large difference, 5m for others',
  });
  expect(() => refuseBudget(budget('85s'))).not.toThrow();
});

/** The estimated time of a comparison of two servers in this language, in seconds. */
function secondsIn(language: string): number {
  const plan = samplePlan('--connections 10 --rounds 12', ['a', 'b']);
  return estimateSeconds({ ...plan, targets: plan.targets.map((target) => ({ ...target, language })) });
}

it('a plan takes as long as servers of its languages usually need to be warm', () => {
  expect(secondsIn('java') - secondsIn('go')).toBe(24 * (8 - 0.5));
});

const planOf = async (line: string) => (await resolveRequest(bench.parse(line.split(' ')))).outline;

describe('two targets', () => {
  it.each([
    'vanilla fastify',
    'vanilla fastify --rate 500',
    'vanilla --node 22,26',
    'vanilla fastify --fail-on slower',
  ])('are compared until decided: %s', async (line) => {
    const { sequentialTest, rungs } = await planOf(line);
    expect({ sequentialTest, rungs }).toMatchObject({
      sequentialTest: { by: 'cpu', threshold: 0.02 },
      rungs: [10],
    });
  });

  it.each([
    'vanilla',
    'vanilla fastify express',
    'vanilla fastify --rounds 3',
    'vanilla fastify --quick',
    'vanilla fastify --amount 20000',
    'vanilla fastify --slo p99<50ms',
    'vanilla --noise',
    'express/v4*',
  ])('are not named, or another run is asked for: %s', async (line) => {
    expect((await planOf(line)).sequentialTest).toBeUndefined();
  });

  it('are decided by the metric, the threshold and the budget that are named, as several are', async () => {
    const { sequentialTest } = await planOf('vanilla fastify express --by p99 --threshold 5% --budget 20m');
    expect(sequentialTest).toMatchObject({ by: 'p99', threshold: 0.05, budgetSeconds: 1200 });
  });
});
