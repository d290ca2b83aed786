import { describe, expect, it } from 'vitest';
import { asyncwait, wait } from '../../../src/catalogue/workloads/wait.ts';
import { makePlan } from 'bench-http/plan/plan';
import { CAPACITY, parseBench, samplePlan, sampleStack } from '../../../../bench-lab/testing/samples.ts';

const answer = (body: string) => ({ status: 200, contentType: 'application/json', body: Buffer.from(body) });

describe.each([
  [wait, '/wait'],
  [asyncwait, '/asyncwait'],
])('$name', (workload, path) => {
  it.each([
    [50, '{"duration":0.05}'],
    [1, '{ "duration": 1e-3 }'],
    [2000, '{"duration":2.0}'],
  ])('tells the server to wait %i ms, and accepts %s', (ms, right) => {
    const draw = workload.draw(() => 0.5, { ms });
    expect(draw).toMatchObject({ env: { BENCH_WAIT_MS: String(ms) }, timing: 'wait' });
    expect(draw.requests).toEqual([{ method: 'GET', path, headers: {} }]);
    expect(draw.check(answer(right), 0)).toBeUndefined();
    expect(draw.check(answer('{"duration":0.051}'), 0)).toMatch(/^wrong body/);
  });
});

describe('the window of a workload that waits', () => {
  it.each([
    ['', { windowSeconds: 5, warmupSeconds: 2, timeoutSeconds: 10 }],
    ['--param ms=30', { windowSeconds: 5.01, warmupSeconds: 2, timeoutSeconds: 10 }],
    ['--param ms=2000', { windowSeconds: 10, warmupSeconds: 2, timeoutSeconds: 10 }],
    ['--param ms=3000', { windowSeconds: 15, warmupSeconds: 3, timeoutSeconds: 15 }],
    ['--param ms=2000 --quick', { windowSeconds: 10, warmupSeconds: 2 }],
    ['--param ms=2000 --threshold 2%', { windowSeconds: 10, warmupSeconds: 2 }],
    ['--param ms=2000 --duration 12 --warmup 1', { windowSeconds: 12, warmupSeconds: 1 }],
  ])('contains only whole waits, at least five by default: %s', (line, spans) => {
    expect(samplePlan(`--workload asyncwait ${line}`)).toMatchObject(spans);
  });

  it('can be part of a duel, whose turns contain whole waits', () => {
    const names = ['vanilla', 'fastify'];
    const stacks = names.map((name) => sampleStack(name, { node: { workloads: ['devices', 'wait'] } }));
    const planOf = (...words: string[]) =>
      makePlan(
        { ...parseBench([...names, '--connections', '10', ...words]), capacity: CAPACITY },
        stacks,
        'a-run',
        1,
      );
    expect(planOf('--rounds', '6').byTurns).toEqual({ rungs: [10], turnSeconds: 0.02 });
    expect(planOf('--workload', 'wait', '--rounds', '6')).toMatchObject({
      byTurns: { rungs: [10] },
      waitSeconds: 0.05,
    });
    expect(planOf('--workload', 'wait')).not.toHaveProperty('byTurns');
  });
});
