import { describe, expect, it } from 'vitest';
import { ENGINE_NAMES, refuseEngine } from '../../src/catalogue/engines.ts';
import { ID } from '../../src/catalogue/workloads/workload.ts';
import { BENCH } from '../../src/cli/bench.ts';
import { enginesOf, makePlan } from '../../src/plan.ts';
import { errorOf, samplePlan, sampleStack } from '../samples.ts';

const duelOf = (engine: string) => {
  const options = BENCH.parse(`a b --rounds 12 --connections 10 --engine ${engine}`.split(' '));
  return makePlan({ ...options, mayDuel: true }, [sampleStack('a'), sampleStack('b')], 'run', 1).duel;
};

describe('--engine', () => {
  it.each(ENGINE_NAMES)('%s is planned', (engine) => {
    expect(samplePlan(`--engine ${engine}`).engine).toBe(engine);
  });

  it('is autocannon unless told, and an open loop is told apart', () => {
    expect(samplePlan('').engine).toBe('autocannon');
    expect(samplePlan('--rate 100').engine).toBe('paced');
    expect(samplePlan('--rate 100 --engine autocannon').engine).toBe('paced');
  });

  it('leaves out the usual rungs that it does not reach', () => {
    expect(samplePlan('').rungs).toEqual([10, 100, 1000, 10_000]);
    expect(samplePlan('--engine aiohttp').rungs).toEqual([10, 100, 1000, 10_000]);
    expect(samplePlan('--engine wrk').rungs).toEqual([10, 100, 1000]);
    expect(samplePlan('--engine requests').rungs).toEqual([1]);
  });

  it('is no duel unless it is autocannon', () => {
    expect(duelOf('autocannon')).toBe(true);
    expect(duelOf('wrk')).toBeUndefined();
  });

  it.each([
    ['--engine wrk --rate 100', 'wrk sends no given rate'],
    ['--engine aiohttp --rate auto', 'aiohttp sends no given rate'],
    ['--engine threads --duel', 'threads is in no duel'],
    ['--engine oha --amount 20000', 'oha sends no given number of requests'],
    ['--engine requests --connections 10', 'requests opens 1 connections at the most, not 10'],
    ['--engine k6 --connections 10000', 'k6 opens 1,000 connections at the most, not 10,000'],
    ['--engine oha --generators 2', 'oha is one process that uses all cores of the load'],
    ['--engine wrk --generators 4 --connections 2', 'wrk has 4 threads for 2 connections'],
    ['--engine wrk --duration 1.5', 'wrk takes whole seconds, not 2 s warm-up and 1.5 s window'],
    ['--engine wrk --url http://127.0.0.1:1/ --method POST', 'wrk is driven with GET only'],
    ['--engine k6 --url http://127.0.0.1:1/ --body {}', 'k6 is driven with GET only'],
    ['--cross-check autocannon', '--cross-check autocannon: that is the engine itself'],
    ['--cross-check wrk --connections 10000', 'wrk opens 1,000 connections at the most, not 10,000'],
    ['--cross-check wrk --amount 20000', 'wrk sends no given number of requests'],
  ])('refuses %s', (line, words) => {
    const error = errorOf(() => samplePlan(line));
    expect(error.message).toContain(words);
    expect(error.code).toBe('usage');
    expect(error.hint).toBeTruthy();
  });

  it('leaves requests with ids of their own to those who know answers by them', () => {
    const requests = [{ method: 'POST', body: `{"id":"${ID}"}` }];
    const wanted = { rungs: [1], generators: 1, isDuel: false, windowSeconds: 5, warmupSeconds: 2, requests };
    expect(errorOf(() => refuseEngine('aiohttp', wanted)).message).toMatch(/^aiohttp gives requests no ids/);
    expect(() => refuseEngine('autocannon', wanted)).not.toThrow();
  });

  it('lets the Python clients do what they can', () => {
    for (const line of [
      '--amount 20000',
      '--generators 2',
      '--duration 1.5',
      '--url http://127.0.0.1:1/ --body {}',
    ])
      expect(() => samplePlan(`--engine aiohttp ${line}`)).not.toThrow();
  });
});

const crossCheckOf = (...args: string[]) => BENCH.parse(args).crossCheck;

describe('--cross-check', () => {
  it('may name its engine, or stand alone wherever it stands', () => {
    expect(crossCheckOf('--cross-check', 'oha', 'fastify')).toBe('oha');
    expect(crossCheckOf('--cross-check', 'fastify')).toBe('any');
    expect(crossCheckOf('fastify', '--cross-check')).toBe('any');
    expect(crossCheckOf('--cross-check', '--rounds', '5')).toBe('any');
    expect(BENCH.parse(['--cross-check', 'fastify']).targets).toEqual(['fastify']);
  });

  it('plans every target once by each engine, in every round', () => {
    const plan = samplePlan('--cross-check wrk --rounds 4 --connections 10');
    expect(plan.targets.map(({ id, engine, crossOf }) => [id, engine, crossOf])).toEqual([
      ['vanilla', undefined, undefined],
      ['vanilla by wrk', 'wrk', 'vanilla'],
      ['fastify', undefined, undefined],
      ['fastify by wrk', 'wrk', 'fastify'],
    ]);
    for (const round of [1, 2, 3, 4]) {
      const here = plan.trials.filter((trial) => trial.round === round).map(({ target }) => target);
      expect(here.toSorted()).toEqual(['fastify', 'fastify by wrk', 'vanilla', 'vanilla by wrk']);
    }
    expect(enginesOf(plan)).toEqual(['autocannon', 'wrk']);
  });

  it('keeps to the rungs that both engines reach', () => {
    expect(samplePlan('--cross-check wrk').rungs).toEqual([10, 100, 1000]);
    expect(samplePlan('--engine aiohttp --cross-check threads').rungs).toEqual([10, 100, 1000]);
  });
});
