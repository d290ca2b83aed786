import { benchOptions } from 'bench-model/options';
import { coresOf, estimateSeconds } from 'bench-model/planned';
import { asksDatabase, fixturesOf } from 'bench-targets/catalogue/workloads/index';
import { describe, expect, it } from 'vitest';
import { makePlan } from '../../src/plan/plan.ts';
import { refuseAlone } from '../../src/plan/refusals.ts';
import {
  CAPACITY,
  errorOf,
  parseBench,
  samplePlan,
  sampleStack,
  sampleTurns,
} from '../../../bench-lab/testing/samples.ts';

const FOUR = ['vanilla', 'fastify', 'fastapi', 'litestar'];

const looksOf = (line: string, names = ['vanilla', 'fastify']) => {
  const { sequentialTest, rounds } = samplePlan(`--threshold 2% ${line}`, names);
  return [sequentialTest?.looks, rounds];
};

describe('refuseAlone', () => {
  it('refuses a comparison of which one target is left, but not a table', () => {
    const { targets, ...rest } = samplePlan('--threshold 2%', ['vanilla', 'fastify']);
    expect(errorOf(() => refuseAlone({ targets, ...rest }, ['fastify'])).message).toContain(
      'only vanilla can be measured',
    );
    expect(() => refuseAlone({ targets, ...rest }, [])).not.toThrow();
    expect(() => refuseAlone({ ...rest, targets: targets.slice(0, 1) }, [])).not.toThrow();
    expect(() => refuseAlone({ targets }, ['fastify'])).not.toThrow();
  });
});

describe('makePlan', () => {
  it('includes every target at every rung once per round', () => {
    const { trials } = samplePlan('--connections 100,10 --rounds 5', FOUR);
    const block = FOUR.flatMap((target) => [`${target} at 10`, `${target} at 100`]).toSorted();
    for (const [index, round] of [1, 2, 3, 4, 5].entries()) {
      const part = trials.slice(index * block.length, (index + 1) * block.length);
      expect(part.map((trial) => trial.round)).toEqual(block.map(() => round));
      expect(part.map(({ target, connections }) => `${target} at ${connections}`).toSorted()).toEqual(block);
    }
    expect(trials.map(({ order }) => order)).toEqual(trials.map((_, index) => index));
  });

  it('gives every trial a unique id and a unique seed', () => {
    const { trials } = samplePlan('--rounds 6', FOUR);
    expect(new Set(trials.map(({ id }) => id)).size).toBe(trials.length);
    expect(new Set(trials.map(({ seed }) => seed)).size).toBe(trials.length);
  });

  it('uses only characters in trial ids that are safe in file names', () => {
    const { trials } = makePlan(
      parseBench(['uvicorn/interpreted@26{A=1}', '--rounds', '1', '--connections', '10']),
      [sampleStack('uvicorn', { mypyc: {}, interpreted: {} })],
      'a-run',
      1,
    );
    expect(trials.map(({ id }) => id)).toEqual(['001-uvicorn_interpreted_26_A_1_-c10-r1']);
  });

  it('repeats the order for the same seed, and changes it for another', () => {
    expect(samplePlan('--rounds 4', FOUR, { seed: 42 })).toEqual(
      samplePlan('--rounds 4', FOUR, { seed: 42 }),
    );
    const orderOf = (seed: number) =>
      samplePlan('--rounds 4', FOUR, { seed }).trials.map(({ id }) => id.slice(4));
    expect(orderOf(42)).not.toEqual(orderOf(43));
  });

  it('orders any two targets like a fair coin toss, independently in each round', () => {
    const rounds = 1000;
    const { trials } = samplePlan(`--rounds ${rounds} --connections 10`, FOUR, { seed: 7 });
    const place = new Map(trials.map(({ target, round, order }) => [`${target} ${round}`, order]));
    const isFirst = (a: string, b: string, round: number) =>
      place.get(`${a} ${round}`)! < place.get(`${b} ${round}`)!;
    // Five standard deviations of this many coin tosses. The seed is fixed, so the test is deterministic.
    const far = 5 * Math.sqrt(rounds / 4);
    for (const [index, a] of FOUR.entries()) {
      for (const b of FOUR.slice(index + 1)) {
        const coins = Array.from({ length: rounds }, (_, round) => isFirst(a, b, round + 1));
        expect(Math.abs(coins.filter(Boolean).length - rounds / 2)).toBeLessThan(far);
        const repeats = coins.slice(1).filter((coin, round) => coin === coins[round]).length;
        expect(Math.abs(repeats - rounds / 2)).toBeLessThan(far);
      }
    }
  });

  it('produces all orders of four targets equally often', () => {
    const rounds = 960;
    const { trials } = samplePlan(`--rounds ${rounds} --connections 10`, FOUR, { seed: 11 });
    const orders = Array.from({ length: rounds }, (_, round) =>
      trials
        .slice(4 * round, 4 * round + 4)
        .map(({ target }) => target)
        .join(' '),
    );
    const often = [...Map.groupBy(orders, (order) => order).values()].map(({ length }) => length);
    expect(often).toHaveLength(24);
    for (const count of often) expect(Math.abs(count - 40)).toBeLessThan(5 * Math.sqrt(40));
  });

  it('sorts the rungs and removes duplicates', () => {
    expect(samplePlan('--connections 1000,10,1000,100').rungs).toEqual([10, 100, 1000]);
  });

  it('uses the defaults of the workload and the default stacks, or all stacks with */*', () => {
    const names = ['vanilla', 'fastify', 'fastapi', 'litestar', 'uvicorn', 'another'];
    const stacks = names.map((name) => sampleStack(name));
    const plan = makePlan(parseBench([]), stacks, 'a-run', 1);
    expect(plan).toMatchObject({
      rungs: [10, 100, 1000, 10_000],
      rounds: 3,
      windowSeconds: 5,
      warmupSeconds: 2,
      timeoutSeconds: 10,
      hashEvery: 64,
    });
    expect(plan.targets.map(({ id }) => id)).toEqual(names.slice(0, 5));
    const all = makePlan(parseBench(['*/*']), stacks, 'a-run', 1);
    expect(all.targets.map(({ id }) => id)).toEqual(names);
  });

  it('selects for each stack one variant that offers the workload, with */*', () => {
    const stacks = [
      sampleStack('fastapi', { model: {}, httpx: { workloads: ['gather'] } }),
      sampleStack('flask', { uwsgi: { workloads: ['gather'] }, gthread: {} }),
    ];
    const targetsOf = (...args: string[]) =>
      makePlan(parseBench(args), stacks, 'a-run', 1).targets.map(({ id }) => id);
    expect(targetsOf('*/*')).toEqual(['fastapi', 'flask/gthread']);
    expect(targetsOf('*/*', '--workload', 'gather')).toEqual(['fastapi/httpx', 'flask']);
  });

  it('selects the default stacks that offer the workload if no target is named, or else all that do', () => {
    const stacks = [
      sampleStack('vanilla', { node: { workloads: ['devices', 'gather'] } }),
      sampleStack('fastapi'),
      sampleStack('flask', { uwsgi: { workloads: ['gather', 'fib'] } }),
    ];
    const targetsOf = (workload: string) =>
      makePlan(parseBench(['--workload', workload]), stacks, 'a-run', 1).targets.map(({ id }) => id);
    expect(targetsOf('gather')).toEqual(['vanilla']);
    expect(targetsOf('fib')).toEqual(['flask']);
  });

  it('needs a database only if the workload uses one, and allows a duel with it', () => {
    const plan = sampleTurns('--workload users --param rows=0');
    expect(plan).toMatchObject({
      byTurns: { rungs: [1, 12, 24, 48, 200] },
      params: { rows: 0, pool: 5, overflow: 10, pooltimeout: 30 },
    });
    expect(plan).toMatchObject({ rungs: [1, 12, 24, 48, 200], windowSeconds: 10, timeoutSeconds: 40 });
    expect(asksDatabase(plan)).toBe(true);
    expect(asksDatabase(samplePlan('http://127.0.0.1:1/'))).toBe(false);
    expect(asksDatabase(samplePlan(''))).toBe(false);
  });

  it('looks later if decided comparisons can leave or if a budget limits the time, and early at two searches', () => {
    expect(looksOf('')).toEqual(['12/18/24', 24]);
    expect(looksOf('--budget 5m')).toEqual(['12/18/27/40/60', 60]);
    expect(looksOf('', ['vanilla', 'fastify', 'uvicorn'])).toEqual(['12/18/27/40/60', 60]);
    expect(looksOf('--slo p99<50ms --budget 5m')).toEqual(['8/12/18/24', 24]);
    expect(looksOf('--slo p99<50ms', ['vanilla', 'fastify', 'uvicorn'])[1]).toBe(60);
  });

  it('has the fixtures of an upstream, beside which servers take turns', () => {
    const stacks = ['vanilla', 'fastify'].map((name) =>
      sampleStack(name, { node: { workloads: ['devices', 'gather'] } }),
    );
    const planOf = (line: string) =>
      makePlan({ ...parseBench(line.split(' ')), capacity: CAPACITY }, stacks, 'a-run', 1);
    const plan = planOf('vanilla --workload gather --param items=2');
    expect(plan).toMatchObject({ params: { fixtures: 10, items: 2 } });
    expect(fixturesOf(plan)).toHaveLength(10);
    expect(fixturesOf(samplePlan(''))).toBeUndefined();
    expect(planOf('vanilla fastify --workload gather --threshold 2%')).toMatchObject({
      byTurns: { rungs: [10] },
      windowSeconds: 1,
    });
    expect(planOf('vanilla fastify --workload gather --threshold 2% --no-interleave')).toMatchObject({
      windowSeconds: 2,
    });
  });

  it('measures every target a second time with the background request, and never in a duel', () => {
    const names = ['vanilla', 'fastify'];
    const plan = samplePlan('--background "GET /fib/42" --rounds 6 --connections 10', names);
    expect(plan).toMatchObject({ background: { method: 'GET', path: '/fib/42' } });
    expect(plan.targets.map(({ id, repeats }) => [id, repeats])).toEqual([
      ['vanilla', undefined],
      ['fastify', undefined],
      ['vanilla (with GET /fib/42)', { targetId: 'vanilla', kind: 'background' }],
      ['fastify (with GET /fib/42)', { targetId: 'fastify', kind: 'background' }],
    ]);
    expect(plan.trials.filter(({ round }) => round === 1)).toHaveLength(4);
    expect(samplePlan('')).not.toHaveProperty('background');

    const stacks = [sampleStack('vanilla', { node: { workloads: ['devices', 'gather'] } })];
    const planOf = (...words: string[]) => {
      const all = ['vanilla', '--connections', '10', '--rounds', '6', '--background', 'GET /a', ...words];
      return makePlan({ ...parseBench(all), capacity: CAPACITY }, stacks, 'a-run', 1);
    };
    expect(planOf()).not.toHaveProperty('byTurns');
    expect(planOf('--workload', 'gather').targets).toHaveLength(2);
    const running = parseBench(['--background', 'GET /a', 'http://127.0.0.1:1/']);
    expect(errorOf(() => makePlan(running, stacks, 'a-run', 1)).message).toContain('--background');
  });

  it('uses windows of at least five whole waits if the workload waits by design', () => {
    const stacks = ['fastapi', 'flask'].map((name) =>
      sampleStack(name, { node: { workloads: ['devices', 'repository'] } }),
    );
    const planOf = (line: string) =>
      makePlan(
        { ...parseBench(`fastapi --workload repository ${line}`.trim().split(' ')), capacity: CAPACITY },
        stacks,
        'a-run',
        1,
      );
    const usual = { windowSeconds: 10, warmupSeconds: 2, timeoutSeconds: 60, barrierSeconds: 10 };
    expect(planOf('')).toMatchObject({ ...usual, waitSeconds: 2, rungs: [100, 500] });
    expect(planOf('--param ms=300')).toMatchObject({ windowSeconds: 10.2, warmupSeconds: 2 });
    expect(planOf('--param ms=3000')).toMatchObject({ windowSeconds: 15, warmupSeconds: 3 });
    expect(planOf('--quick')).toMatchObject({ windowSeconds: 10, warmupSeconds: 2 });
    expect(planOf('--param ms=1 --duration 0.5 --warmup 0')).toMatchObject({
      windowSeconds: 0.5,
      warmupSeconds: 0,
    });
    expect(errorOf(() => planOf('--duration 7'))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^--duration 7: .* waits 2 s/) as string,
      hint: 'e.g. --duration 10',
    });
    expect(errorOf(() => planOf('--duration 13')).hint).toBe('e.g. --duration 14');
    expect(planOf('flask --threshold 2%')).not.toHaveProperty('byTurns');
    expect(planOf('flask --param ms=50 --threshold 2%')).toMatchObject({
      byTurns: { turnSeconds: 0.02 },
      waitSeconds: 0.05,
    });
    expect(estimateSeconds(planOf(''))).toBeGreaterThan(3 * (10 + 2 + 10 * 2));
    expect(samplePlan('')).not.toHaveProperty('waitSeconds');
  });

  it('measures only the stacks given with --stack if no target is named', () => {
    const stacks = [sampleStack('vanilla'), { ...sampleStack('my-api'), manifest: '../my-api/stack.json' }];
    const plan = makePlan(parseBench(['--stack', '../my-api/stack.json']), stacks, 'a-run', 1);
    expect(plan.targets.map(({ id }) => id)).toEqual(['my-api']);
    expect(plan.stacks).toEqual(['../my-api/stack.json']);
  });

  it('shortens the run with --quick, except for options that are set explicitly', () => {
    expect(samplePlan('--quick')).toMatchObject({
      quick: true,
      rungs: [10, 1000],
      rounds: 1,
      windowSeconds: 1.5,
    });
    expect(samplePlan('--quick --rounds 4 --connections 5')).toMatchObject({
      rungs: [5],
      rounds: 4,
      windowSeconds: 1.5,
    });
  });

  it('neither warms up nor loads servers whose start-up alone decides, unless a load is named', () => {
    const { load, rungs, byTurns, autoWarmup, ...plan } = samplePlan('--by startup', FOUR);
    expect({ load, rungs, byTurns, autoWarmup }).toEqual({
      load: { mode: 'amount', requests: 1 },
      rungs: [1],
      byTurns: undefined,
      autoWarmup: undefined,
    });
    expect(plan.warmupSeconds).toBe(0);
    const loaded = samplePlan('--by startup --duration 2', FOUR);
    expect(loaded).toMatchObject({ load: { mode: 'closed' }, autoWarmup: true });
  });

  it('rejects an unknown workload', () => {
    for (const name of ['device', 'constructor']) {
      expect(errorOf(() => makePlan(benchOptions({ workload: name }), [], 'a-run', 1))).toMatchObject({
        code: 'usage',
        message: expect.stringContaining(`"${name}", expected one of devices,`),
      });
    }
  });

  it('uses the default parameters of the workload, or those given with --param', () => {
    const stacks = [sampleStack('fastapi', { def: { workloads: ['fib'] } })];
    const paramsOf = (...more: string[]) =>
      makePlan(parseBench(['fastapi', '--workload', 'fib', ...more]), stacks, 'a-run', 1).params;
    expect(paramsOf()).toEqual({ n: 20 });
    expect(paramsOf('--param', 'n=24')).toEqual({ n: 24 });
    expect(samplePlan('')).not.toHaveProperty('params');
    expect(errorOf(() => samplePlan('--param n=24')).code).toBe('usage');
  });

  it('gives a server one core per worker, or the number set with --cores', () => {
    expect(coresOf(samplePlan('--workers 3'))).toBe(3);
    expect(coresOf(samplePlan('--workers 1 --cores 2'))).toBe(2);
  });

  it('rejects --threads for a target with a fixed number, and suggests targets that accept it', () => {
    const command = ['{runtime}', '{port}', '--threads={threads}'];
    const stacks = [
      sampleStack('fastapi', { model: {}, def: { command }, sync: { command, workloads: ['wait'] } }),
      sampleStack('flask', { gthread: { command } }),
    ];
    const planOf = (...args: string[]) => makePlan(parseBench(args), stacks, 'a-run', 1);
    expect(planOf('fastapi/def', 'flask', '--threads', '2').threads).toBe(2);
    expect(errorOf(() => planOf('flask', 'fastapi', '--threads', '2'))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^fastapi /),
      hint: expect.stringMatching(/: fastapi\/def, flask$/),
    });
    // Every server has one thread by default.
    expect(planOf('fastapi', '--threads', '1').threads).toBe(1);
  });

  it('stores the request to a server that is already running', () => {
    const plan = samplePlan('http://127.0.0.1:3000/a --body {} --header x:1');
    expect(plan.userRequests).toEqual({
      requests: [{ method: 'POST', path: '/a', weight: 1, headers: { x: '1' }, body: '{}' }],
      files: {},
    });
    expect(plan.attached).toEqual([{ target: 'POST http://127.0.0.1:3000/a', url: 'http://127.0.0.1:3000' }]);
    expect(plan).toMatchObject({ workload: 'requests', startSeconds: 5, barrierSeconds: 30 });
    expect(plan).not.toHaveProperty('waitSeconds');
    expect(plan.targets).toEqual([
      expect.objectContaining({ id: 'POST http://127.0.0.1:3000/a', class: 'unknown' }),
    ]);
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });
});

describe('the time that a server may take to start', () => {
  const [quick, slow, hasty] = [
    sampleStack('quick', { app: {} }),
    sampleStack('slow', { app: {} }),
    sampleStack('hasty', { app: {} }),
  ];
  const startSeconds = (...targets: string[]): number =>
    makePlan(
      benchOptions({ targets }),
      [quick, { ...slow, startSeconds: 90 }, { ...hasty, startSeconds: 4 }],
      'a-run',
      1,
    ).startSeconds;

  it('is that of the slowest manifest', () => {
    expect(startSeconds('quick')).toBe(30);
    expect(startSeconds('quick', 'slow')).toBe(90);
    expect(startSeconds('hasty')).toBe(4);
    expect(startSeconds('quick', 'hasty')).toBe(30);
  });
});

describe('estimateSeconds', () => {
  it('counts the start-up of the servers in a duel only once, and the time without load around their turns', () => {
    const words = '--connections 10 --rounds 1 --duration 5 --warmup 2';
    const [apart, duel] = [samplePlan(`${words} --no-interleave`), sampleTurns(words)];
    expect(duel.trials).toHaveLength(2);
    expect(estimateSeconds(apart) - estimateSeconds(duel)).toBeCloseTo(3 - 2 * (0.6 + 0.5));
  });

  it('adds up connecting, warm-up, window and overhead', () => {
    const plan = samplePlan('--connections 10,10000 --rounds 1 --duration 5 --warmup 2', ['vanilla']);
    const connecting = 10 / 2000 + 10_000 / 2000;
    expect(estimateSeconds(plan)).toBeGreaterThanOrEqual(2 * (5 + 2) + connecting);
    expect(estimateSeconds(plan, plan.trials.slice(0, 1))).toBeLessThan(estimateSeconds(plan));
    expect(estimateSeconds(plan, [])).toBe(0);
    const longer = samplePlan('--connections 10,10000 --rounds 1 --duration 7 --warmup 2', ['vanilla']);
    expect(estimateSeconds(longer) - estimateSeconds(plan)).toBeCloseTo(4);
  });
});
