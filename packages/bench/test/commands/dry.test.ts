import { refuseBudget } from '../../src/conduct/dry.ts';
import { expect, it } from 'vitest';
import { BenchError } from 'bench-model/errors';
import { errorOf, samplePlan } from '../../../bench-lab/testing/samples.ts';

const budget = (line: string) => samplePlan(`--connections 10 --until-decided --budget ${line}`, ['a', 'b']);

it('a budget that does not hold six rounds is refused, with one that does', () => {
  const error = errorOf(() => refuseBudget({ plan: budget('60s'), resumed: undefined }));
  expect(error).toBeInstanceOf(BenchError);
  expect(error).toMatchObject({
    code: 'usage',
    message: 'a budget of 60 s allows about 5 rounds, and a comparison needs 6',
    hint: 'use --budget 85s or more',
  });
  expect(() => refuseBudget({ plan: budget('85s'), resumed: undefined })).not.toThrow();
});
