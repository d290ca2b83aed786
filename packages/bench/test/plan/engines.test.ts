import { describe, expect, it } from 'vitest';
import { ENGINE_NAMES } from 'bench-model/engines';
import { ID } from 'bench-targets/catalogue/workloads/workload';
import { makePlan } from '../../src/plan/plan.ts';
import { refusePlan } from '../../src/plan/refusals.ts';
import {
  CAPACITY,
  errorOf,
  parseBench,
  samplePlan,
  sampleStack,
} from '../../../bench-lab/testing/samples.ts';

const duelOf = (engine: string) => {
  const options = parseBench(`a b --rounds 12 --connections 10 --engine ${engine}`.split(' '));
  return makePlan({ ...options, capacity: CAPACITY }, [sampleStack('a'), sampleStack('b')], 'run', 1).byTurns;
};

describe('--engine', () => {
  it.each(ENGINE_NAMES)('%s is accepted', (engine) => {
    expect(samplePlan(`--engine ${engine}`).engine).toBe(engine);
  });

  it('is autocannon by default, whatever the load mode', () => {
    const closed = { engine: 'autocannon', load: { mode: 'closed' } };
    expect(samplePlan('')).toMatchObject(closed);
    const open = { engine: 'autocannon', load: { mode: 'open', perSecond: 100 } };
    expect(samplePlan('--rate 100')).toMatchObject(open);
    const amount = { engine: 'autocannon', load: { mode: 'amount', requests: 20_000 } };
    expect(samplePlan('--amount 20000')).toMatchObject(amount);
  });

  it('omits the default rungs that the engine does not support', () => {
    expect(samplePlan('').rungs).toEqual([10, 100, 1000, 10_000]);
    expect(samplePlan('--engine aiohttp').rungs).toEqual([10, 100, 1000, 10_000]);
    expect(samplePlan('--engine wrk').rungs).toEqual([10, 100, 1000]);
    expect(samplePlan('--engine requests').rungs).toEqual([1]);
  });

  it('allows a duel only with autocannon', () => {
    expect(duelOf('autocannon')).toMatchObject({ turnSeconds: 0.02 });
    expect(duelOf('wrk')).toBeUndefined();
  });

  it.each([
    '--engine wrk --rate 100',
    '--engine aiohttp --rate 100',
    '--engine wrk --amount 20000',
    '--engine requests --connections 10',
    '--engine k6 --connections 10000',
    '--engine wrk --duration 1.5',
    '--engine wrk http://127.0.0.1:1 --request "POST /"',
    '--engine k6 http://127.0.0.1:1/ --body {}',
  ])('rejects %s', (line) => {
    const { code, hint } = errorOf(() => samplePlan(line));
    expect(code).toBe('usage');
    expect(hint).toBeTruthy();
  });

  it.each([
    ['k6', 2],
    ['wrk', 4],
  ])('refuses processes that %s cannot have', (engine, generators) => {
    const make = () => samplePlan(`--engine ${engine} --connections 2`, undefined, { generators });
    expect(errorOf(make)).toMatchObject({ code: 'usage', hint: expect.any(String) as string });
  });

  it('accepts requests with unique ids only for engines that check the ids of responses', () => {
    const drawn = { requests: [{ method: 'POST', path: '/', headers: {}, body: `{"id":"${ID}"}` }] };
    const refuse = (engine: string) =>
      refusePlan({ ...samplePlan('--connections 1'), engine }, drawn, undefined);
    expect(errorOf(() => refuse('aiohttp')).message).toMatch(/^aiohttp cannot .* id/);
    expect(() => refuse('autocannon')).not.toThrow();
  });

  it('accepts the options that the Python clients support', () => {
    for (const line of ['--amount 20000', '--duration 1.5', 'http://127.0.0.1:1/ --body {}'])
      expect(() => samplePlan(`--engine aiohttp ${line}`)).not.toThrow();
  });
});
