import type { Trial } from 'bench-model/record';
import { present } from 'bench-model/options';
import { estimateSeconds } from 'bench-model/planned';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BenchError } from 'bench-model/errors';
import { describePlan } from 'bench-report/plan';
import { longestSilence, planTurns, sizeWindow } from '../../src/plan/turns.ts';
import type { PinnedCommands } from 'bench-machine/placement';
import { run } from '../../src/measure/run.ts';
import { makePlan, repeatPlan } from '../../src/plan/plan.ts';
import {
  CAPACITY,
  parseBench,
  sampleCounts,
  sampleLoad,
  sampleStack,
  sampleTurns,
} from '../../../bench-lab/testing/samples.ts';
import { createWorld, prepareFor, SAMPLED, type Twist, type World } from './world.ts';

const placed: PinnedCommands = {
  placement: { kind: 'separate', server: [1], generator: [0] },
  server: [],
  generator: [],
};

afterEach(() => vi.useRealTimers());

async function duel(
  twist: Twist = {},
  line = '--rounds 1 --connections 10 --duration 0.2',
  before: Trial[] = [],
): Promise<{ world: World; trials: Trial[] }> {
  const plan = sampleTurns(line);
  const world = createWorld(twist);
  const trials = await run(plan, { placed, prepared: prepareFor(plan), before }, world.effects);
  return { world, trials };
}

const meanOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const fail = (text: string) => () => {
  throw new BenchError('trial', text);
};

const placesOf = (order: number[], side: number) =>
  order.flatMap((one, place) => (one === side ? [place] : []));

describe('the window of a side', () => {
  const plan = sampleTurns('--threshold 2% --connections 10', ['a', 'b']);

  it.each([
    ['at the default', 0.01, 1],
    ['long enough for 200 responses', 0.1, 2],
    ['at most five times the default', 1, 5],
  ])('is %s, if a connection is answered every %d s', (_what, cycleSeconds, seconds) => {
    expect(sizeWindow(plan, { cycleSeconds, connections: 10 })).toBe(seconds);
  });

  it('is as long as it was asked to be', () => {
    const asked = sampleTurns('--threshold 2% --connections 10 --duration 2', ['a', 'b']);
    expect(sizeWindow(asked, { cycleSeconds: 1, connections: 10 })).toBe(2);
  });
});

describe('the turns of a duel', () => {
  it('alternate, so that a drift affects both sides', () => {
    expect(planTurns({ turnSeconds: 0.02, sides: 2, windowSeconds: 0.1, cycleSeconds: 0 }).order).toEqual([
      0, 1, 1, 0,
    ]);
    expect(planTurns({ turnSeconds: 0.02, sides: 2, windowSeconds: 0.4, cycleSeconds: 0 }).order).toEqual([
      0, 1, 1, 0, 1, 0, 0, 1,
    ]);
    for (const seconds of [1, 3, 5, 8, 20]) {
      const { order } = planTurns({
        turnSeconds: 0.02,
        sides: 2,
        windowSeconds: seconds,
        cycleSeconds: 0.01,
      });
      // Both sides have as many windows with the same mean position: a linear drift cancels out.
      expect(placesOf(order, 0)).toHaveLength(placesOf(order, 1).length);
      expect(meanOf(placesOf(order, 0))).toBe(meanOf(placesOf(order, 1)));
    }
  });

  it.each([
    ['at least 0.1 s long', 0, 0.1],
    ['ten responses long', 0.05, 0.5],
    ['no longer than servers keep idle connections', 20, 1],
  ])('are %s', (_, cycleSeconds, span) => {
    for (const sides of [2, 3]) {
      const { order, spanSeconds } = planTurns({ turnSeconds: 0.02, sides, windowSeconds: 10, cycleSeconds });
      expect(spanSeconds).toBeCloseTo(span);
      // The windows of each side add up to the length that was asked for, with at most two in a row.
      expect(placesOf(order, 1).length * spanSeconds).toBeCloseTo(10);
      expect(order.join('')).not.toMatch(/000|111|222/);
    }
  });

  it('begin with the time of one response, outside the window', () => {
    expect(
      [0, 0.05, 20].map(
        (cycle) =>
          planTurns({ turnSeconds: 0.02, sides: 2, windowSeconds: 5, cycleSeconds: cycle }).rampSeconds,
      ),
    ).toEqual([expect.closeTo(0.01), 0.05, 0.5]);
  });
});

describe('the short turns of more than two servers', () => {
  const needs = { windowSeconds: 1, cycleSeconds: 0, turnSeconds: 0.02, areShort: true };

  it.each([3, 4, 7])('give each of %d the same pause, and so the same caches', (sides) => {
    const { order, spanSeconds } = planTurns({ ...needs, sides });
    for (let side = 0; side < sides; side++) {
      const places = placesOf(order, side);
      expect(new Set(places.slice(1).map((place, index) => place - places[index]!))).toEqual(
        new Set([sides]),
      );
      expect(places.length * spanSeconds).toBeCloseTo(1);
    }
  });

  it('are taken by fresh servers in this order, and recorded with their places', async () => {
    const plan = sampleTurns('--rounds 1 --connections 10 --duration 0.12', ['a', 'b', 'c', 'd']);
    const world = createWorld({ turns: true });
    const trials = await run(plan, { placed, prepared: prepareFor(plan), before: [] }, world.effects);
    const placesIn = (name: string): number[] => {
      const trial = trials.find(({ target }) => target.id === name);
      return trial?.status === 'ok' ? (trial.measured.turns?.places ?? []) : [];
    };
    const all = ['a', 'b', 'c', 'd'].flatMap(placesIn);
    expect(all.toSorted((one, other) => one - other)).toEqual(all.map((_, place) => place));
    for (const name of ['a', 'b', 'c', 'd']) {
      expect(placesIn(name)).toHaveLength(all.length / 4);
      expect(new Set(placesIn(name).map((place) => place % 4)).size).toBe(1);
    }
  });
});

describe('the turns of servers that wait by design', () => {
  it.each([
    [2, 5, 0.05],
    [2, 2, 0.2],
    [3, 0.25, 0.05],
    [2, 3, 0.003],
  ])(
    'of %d sides over %d s contain at least five whole waits of %d s',
    (sides, windowSeconds, waitSeconds) => {
      const { order, spanSeconds, rampSeconds } = planTurns({
        turnSeconds: 0.02,
        sides,
        windowSeconds,
        cycleSeconds: waitSeconds,
        waitSeconds,
      });
      const waits = spanSeconds / waitSeconds;
      expect(waits).toBeCloseTo(Math.round(waits));
      expect(waits).toBeGreaterThanOrEqual(5);
      // Before each window, the connections spread over one wait again.
      expect(rampSeconds).toBe(waitSeconds);
      const sum = placesOf(order, 0).length * spanSeconds;
      expect(sum).toBeGreaterThan(windowSeconds * 0.75);
    },
  );

  it('keep the connections of the other sides silent', () => {
    expect(longestSilence(2, { rampSeconds: 0.05, spanSeconds: 0.25 })).toBeCloseTo(0.6);
    expect(longestSilence(5, { rampSeconds: 2, spanSeconds: 10 })).toBe(96);
  });
});

describe('measureTogether', () => {
  it('starts and warms up both servers before the first window, then alternates', async () => {
    const { world, trials } = await duel({ tellWindows: true });
    expect(trials.map(({ status }) => status)).toEqual(['ok', 'ok']);
    expect(world.done.filter((what) => /^(launch|arm|fire|stop|record)/.test(what))).toEqual([
      `launch ${trials[0]!.id}`,
      `launch ${trials[1]!.id}`,
      'arm /api/devices',
      'arm /api/devices',
      'fire 3000 0',
      'fire 3001 0',
      'fire 3001 0',
      'fire 3000 0',
      'fire 3000 0.1',
      'fire 3001 0.1',
      'fire 3001 0.1',
      'fire 3000 0.1',
      'stop',
      'stop',
      `record ${trials[0]!.id}`,
      `record ${trials[1]!.id}`,
    ]);
  });

  it('samples every window except warm-ups, and counts the other server as ours', async () => {
    const { world } = await duel();
    expect(world.done.filter((what) => what.startsWith('sample start'))).toEqual([
      'sample start 4711,4709',
      'sample start 4711,4710',
      'sample start 4711,4710',
      'sample start 4711,4709',
    ]);
  });

  it('records the duel in both trials', async () => {
    const { trials } = await duel();
    expect(trials.map(({ duel: name }) => name)).toEqual(['c10-r1', 'c10-r1']);
    expect(new Set(trials.map(({ target }) => target.id))).toEqual(new Set(['vanilla', 'fastify']));
  });

  it('adds the CPU of all windows of a side', async () => {
    const { trials } = await duel();
    for (const trial of trials) {
      if (trial.status === 'failed') throw new Error('failed');
      // Two windows of 2.5 s of CPU in 5 s.
      expect(trial.measured.server).toMatchObject({
        seconds: 10,
        cpuUserUs: 4e6,
        cpuSystemUs: 1e6,
        coresUsed: 0.5,
      });
      expect(trial.measured.server?.peakBytes).toBe(60e6);
    }
  });

  it.each(['launch', 'ready', 'verify before the load', 'arm', 'fire'] as const)(
    'continues with the other server if one fails: %s',
    async (step) => {
      let count = 0;
      const { trials, world } = await duel({
        at: { [step]: () => (++count === 2 ? fail('it is not well')() : undefined) },
      });
      expect(trials.map(({ status }) => status)).toEqual(['ok', 'failed']);
      expect(trials[1]?.reasons[0]?.text).toBe('it is not well');
      expect(world.done.filter((what) => what === 'stop')).toHaveLength(step === 'launch' ? 1 : 2);
    },
  );

  it.each(['fire', 'turn'] as const)(
    'fails a server that gives no correct response for the timeout of a request: %s',
    async (step) => {
      vi.useFakeTimers({ toFake: ['performance'] });
      let count = 0;
      const { trials, world } = await duel(
        {
          turns: true,
          load: sampleLoad({ lifetime: sampleCounts({ sent: 100, ok: 0 }) }),
          answers: 0,
          // The load of each side waits for the requests that the server leaves open.
          at: { [step]: () => (++count <= 20 ? vi.advanceTimersByTime(5000) : undefined) },
        },
        '--rounds 1 --connections 10 --duration 0.2 --warmup 1 --timeout 10',
      );
      expect(trials.map(({ reasons }) => reasons[0]?.text)).toEqual(
        Array(2).fill('no correct response for 10 s under load'),
      );
      // Two waits of each server instead of one in each of its turns.
      expect(world.done.filter((what) => what.startsWith(step))).toHaveLength(4);
    },
  );

  it('waits until the generators are done with a dead server', async () => {
    let firing = 0;
    let most = 0;
    let dead = false;
    const { trials } = await duel({
      // The fourth window is the first of the second server.
      ended: () => (dead ? 'exit status 1' : undefined),
      at: {
        async fire(count) {
          most = Math.max(most, ++firing);
          if (count === 4) dead = true;
          await sleep(count >= 4 ? 100 : 0);
          firing--;
        },
      },
    });
    expect(trials.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(most).toBe(1);
  });

  it('may have more than two sides, in order and in reverse', async () => {
    const names = ['vanilla', 'fastify', 'litestar'];
    const plan = sampleTurns('--rounds 1 --connections 10 --duration 0.2', names);
    const world = createWorld({ tellWindows: true });
    const trials = await run(plan, { placed, prepared: prepareFor(plan), before: [] }, world.effects);
    expect(trials.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    const windows = world.done.filter((what) => /^fire .* 0.1$/.test(what)).map((what) => what.split(' ')[1]);
    expect(windows).toEqual(['3000', '3001', '3002', '3002', '3001', '3000']);
  });

  it('keeps one server if only the other gives wrong responses', async () => {
    const { trials } = await duel({
      at: { 'verify after the load': (count) => (count === 1 ? fail('wrong')() : undefined) },
    });
    expect(trials.map(({ status }) => status)).toEqual(['failed', 'ok']);
  });

  it('resumes an interrupted run with whole duels only', async () => {
    const line = '--rounds 3 --connections 10 --duration 1';
    const first = await duel({}, line);
    const kept = first.trials.slice(0, 3);
    const { trials, world } = await duel({}, line, kept);
    expect(trials.map(({ id }) => id)).toEqual([0, 1, 2, 4, 5].map((index) => first.trials[index]!.id));
    expect(world.done.filter((what) => what.startsWith('launch'))).toHaveLength(2);
  });
});

const planOf = (words: string, readsCpu: boolean, names = ['vanilla', 'fastify']) => {
  const options = parseBench([...words.split(' '), ...names]);
  const stacks = names.map((name) => sampleStack(name));
  return makePlan({ ...options, ...(readsCpu && { capacity: CAPACITY }) }, stacks, 'a-run', 1);
};

describe('the plan of a duel', () => {
  it('pairs the two targets of each rung, in random order', () => {
    const { trials } = sampleTurns('--rounds 200 --connections 10,100');
    const pairs = trials
      .filter(({ order }) => order % 2 === 0)
      .map((trial) => [trial, trials[trial.order + 1]!] as const);
    for (const [first, second] of pairs) {
      expect([second.connections, second.round]).toEqual([first.connections, first.round]);
      expect(new Set([first.target, second.target])).toEqual(new Set(['vanilla', 'fastify']));
      expect([first.duel, second.duel]).toEqual(Array(2).fill(`c${first.connections}-r${first.round}`));
    }
    const heads = pairs.filter(([{ target }]) => target === 'vanilla').length;
    // 400 coins: five standard deviations.
    expect(Math.abs(heads - 200)).toBeLessThan(50);
  });

  it('is the default between two targets if CPU is read from a cgroup', () => {
    const byTurns = { rungs: [10], turnSeconds: 0.02 };
    expect(planOf('--threshold 2%', true)).toMatchObject({ byTurns, rungs: [10], rounds: 24 });
    expect(planOf('--threshold 2%', false)).not.toHaveProperty('byTurns');
    expect(planOf('--threshold 2% --no-interleave', true)).not.toHaveProperty('byTurns');
    expect(planOf('--rounds 6 --connections 10', true)).toMatchObject({ byTurns });
    expect(planOf('--rounds 12 --connections 10000', true)).not.toHaveProperty('byTurns');
  });

  it.each(['--threshold 2%', '--rounds 12 --connections 10', '--connections 10'])(
    'is never chosen for an open loop, in whose rests requests would become due: %s',
    (line) => {
      expect(planOf(line, true)).toHaveProperty('byTurns');
      const plan = planOf(`${line} --rate 500`, true);
      expect(plan).not.toHaveProperty('byTurns');
      expect(plan.trials.some((trial) => trial.duel !== undefined)).toBe(false);
      // Every target once in each round, whose order is drawn.
      const rounds = Object.values(Object.groupBy(plan.trials, ({ order }) => order >> 1));
      expect(rounds).toHaveLength(plan.rounds);
      for (const round of rounds) expect(new Set(round?.map(({ target }) => target)).size).toBe(2);
      expect(describePlan(plan)).toContain('one server at a time');
    },
  );

  it('may have the same target twice', () => {
    const { targets } = sampleTurns('--noise', ['vanilla']);
    expect(targets.map(({ id, repeats }) => [id, repeats])).toEqual([
      ['vanilla', undefined],
      ['vanilla (A/A)', { targetId: 'vanilla', kind: 'a/a' }],
    ]);
  });
});

describe('the plan of a comparison of several servers of a user', () => {
  const THREE = ['main', 'asgi', 'http'];
  const made = (words: string, { names = THREE, capacity = CAPACITY, stack = {} } = {}) => {
    const options = parseBench(['--get', '/ping', ...words.split(' '), ...names]);
    const stacks = names.map((name) => ({ ...sampleStack(name), ...stack }));
    return makePlan({ ...options, ...present({ capacity }) }, stacks, 'a-run', 1);
  };

  it.each([
    ['--threshold 2%', 0.02],
    ['--rounds 6 --connections 10', 0.02],
    ['--connections 10', 0.1],
  ])('has them go round like built-in stacks: %s', (words, turnSeconds) => {
    const plan = made(words);
    expect(plan).toMatchObject({
      byTurns: { rungs: [10], turnSeconds },
      windowSeconds: words.startsWith('--threshold') ? 1 : 5,
    });
    expect(plan.trials.every((trial) => trial.duel === `c10-r${trial.round}`)).toBe(true);
    expect(describePlan(plan)).toContain('the 3 servers of a round run at once');
    expect(plan).not.toHaveProperty('apart');
  });

  it.each([
    [
      'memory',
      '--threshold 2%',
      { capacity: { servers: 2, connections: 10_000 } },
      'one server at a time: the memory of this machine may not hold the 3 servers of a round',
    ],
    [
      'connections',
      '--rounds 6 --connections 10,10000',
      {},
      'one server at a time at 10,000 connections: the 3 servers of a round together can have 10,000 connections',
    ],
    [
      'an engine',
      '--threshold 2% --engine wrk',
      {},
      'one server at a time: wrk does not load servers in turn',
    ],
    [
      'a fixed port',
      '--threshold 2%',
      { stack: { surroundings: { services: { cache: { command: ['cache'], port: 6379 } } } } },
      'one server at a time: each server needs its own service cache, which has the fixed port 6379',
    ],
  ])('says in one line why they cannot: %s', (_, words, given, line) => {
    expect(describePlan(made(words, given)).split('\n')).toContain(line);
  });

  it('says so where the CPU of each cannot be read', () => {
    const options = parseBench(['--get', '/ping', '--threshold', '2%', ...THREE]);
    const plan = makePlan(
      options,
      THREE.map((name) => sampleStack(name)),
      'a-run',
      1,
    );
    expect(describePlan(plan)).toContain('one server at a time: the CPU time of each server cannot be read');
  });

  it('says nothing to a quick run or to one that asks for it', () => {
    for (const words of ['--quick', '--threshold 2% --no-interleave'])
      expect(describePlan(made(words))).not.toContain('one server at a time');
  });

  it('is made once, from what was found of its targets', () => {
    const options = { ...parseBench(['--get', '/ping', '--threshold', '2%', ...THREE]), capacity: CAPACITY };
    const stacks = THREE.map((name) => sampleStack(name));
    expect(makePlan(options, stacks, 'a-run', 1).sequentialTest?.looks).toBe('12/18/27/40/60');
    const plan = makePlan(options, stacks, 'a-run', 1, { leftOut: ['asgi'], answerSeconds: 0.4 });
    const two = makePlan({ ...options, targets: ['main', 'http'] }, stacks, 'a-run', 1);
    expect(plan).toEqual({ ...two, answerSeconds: 0.4, windowSeconds: 2 });
    expect(plan.sequentialTest?.looks).toBe('12/18/24');
    const old = makePlan(options, stacks, 'a-run', 1);
    const again = repeatPlan(old, { run: 'b', seed: 2 }, { leftOut: ['asgi', 'http'] });
    expect(again.targets.map(({ id }) => id)).toEqual(['main']);
    expect(again.trials.every((trial) => trial.target === 'main' && trial.duel === undefined)).toBe(true);
  });
});

describe('the plan of a table', () => {
  const FIVE = ['vanilla', 'fastify', 'litestar', 'uvicorn', 'fastapi'];

  it('has the servers of a round take turns where one generator can hold all their connections', () => {
    const plan = planOf('--connections 10,100,1000,10000', true, FIVE);
    expect(plan.byTurns).toEqual({ rungs: [10, 100, 1000], turnSeconds: 0.1 });
    for (const { connections, round, ...trial } of plan.trials)
      expect(trial.duel).toBe(connections === 10_000 ? undefined : `c${connections}-r${round}`);
    const orders = plan.trials.map((trial) => trial.duel);
    // Servers that take turns follow one another, and other trials are on their own.
    const blocks = orders.filter((name, at) => name === undefined || name !== orders[at - 1]);
    expect(blocks).toHaveLength(3 * (3 + 5));
    expect(estimateSeconds(plan)).toBeLessThan(
      estimateSeconds(planOf('--connections 10,100,1000,10000 --no-interleave', true, FIVE)),
    );
  });

  it.each([
    ['too many servers to see each other often', '--connections 10', Array.from('abcdefghi'), CAPACITY],
    ['a machine with too little memory', '--connections 10', FIVE, { servers: 4, connections: 10_000 }],
    ['too few open files', '--connections 1000', FIVE, { servers: 9, connections: 4000 }],
    ['a quick run', '--connections 10 --quick', FIVE, CAPACITY],
    ['a fixed rate', '--connections 10 --rate 100', FIVE, CAPACITY],
    ['a fixed amount', '--connections 10 --amount 1000', FIVE, CAPACITY],
    ['another engine', '--connections 10 --engine wrk', FIVE, CAPACITY],
    ['the option', '--connections 10 --no-interleave', FIVE, CAPACITY],
  ])('measures one server at a time: %s', (_, words, names, capacity) => {
    const options = parseBench([...words.split(' '), ...names]);
    const stacks = names.map((name) => sampleStack(name));
    expect(makePlan({ ...options, capacity }, stacks, 'a-run', 1)).not.toHaveProperty('byTurns');
  });

  it('measures one server at a time if a server needs a companion', () => {
    const workload = ['devices', 'gather', 'users', 'wait'];
    const stacks = FIVE.map((name) => sampleStack(name, { node: { workloads: workload } }));
    const made = (words: string, given = stacks) =>
      makePlan({ ...parseBench([...words.split(' '), ...FIVE]), capacity: CAPACITY }, given, 'a-run', 1);
    for (const name of ['gather', 'users', 'wait'])
      expect(made(`--workload ${name}`)).not.toHaveProperty('byTurns');
    expect(made('--connections 10')).toHaveProperty('byTurns');
    const served = stacks.map((stack) => ({ ...stack, surroundings: { services: {} } }));
    expect(made('--connections 10', served)).not.toHaveProperty('byTurns');
  });
});

describe('the short turns of a duel', () => {
  const steps = /^(arm|fire|turn|collect|read CPU|sample start|sample stop|look|pause)/;
  const watch = ['read CPU 3000', 'read CPU 3001', 'pause 0.5', 'read CPU 3000', 'read CPU 3001'];

  it('are taken after the warm-up, and the CPU of a server is read before and after each of its turns', async () => {
    const { world, trials } = await duel(
      { turns: true },
      '--rounds 1 --connections 10 --duration 0.12 --warmup 0.1',
    );
    expect(trials.map(({ status }) => status)).toEqual(['ok', 'ok']);
    const turns = [0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0].flatMap((side) => [
      `read CPU ${3000 + side}`,
      `turn ${3000 + side} 0.02`,
      `read CPU ${3000 + side}`,
    ]);
    expect(world.done.filter((what) => steps.test(what))).toEqual([
      'arm',
      'arm',
      'read CPU 3000',
      'read CPU 3001',
      'read CPU 3000',
      'fire',
      'read CPU 3000',
      'read CPU 3001',
      'fire',
      'read CPU 3001',
      'pause 0.6',
      ...watch,
      'sample start 4711,4709',
      'read CPU 3000',
      'sample start 4711,4710',
      'read CPU 3001',
      ...turns,
      'pause 0.6',
      'read CPU 3000',
      'sample stop',
      'read CPU 3001',
      'sample stop',
      ...watch,
      'collect 3000',
      'collect 3001',
    ]);
  });

  it('are kept in the record, and relate the resources to the time under load', async () => {
    const { trials } = await duel({ turns: true }, '--rounds 1 --connections 10 --duration 0.12');
    const places = [
      [0, 3, 5, 6, 8, 11],
      [1, 2, 4, 7, 9, 10],
    ];
    for (const [index, trial] of trials.entries()) {
      if (trial.status === 'failed') throw new Error('failed');
      expect(trial.measured.turns).toEqual({
        places: places[index],
        answers: Array(6).fill(1000),
        cpuUs: Array(6).fill(10_000),
        restsCpuUs: 0,
        // Six turns of the other server, and the time for deferred work.
        upkeepUsPerSecond: 0,
        deferred: 0,
        goodputPerSecond: Array(6).fill(40_000),
      });
      // The fake sampler sees 2.5 s of CPU for 6,000 responses in six turns of 25 ms.
      expect(trial.measured.cpuUsPerRequest).toBeCloseTo(2.5e6 / 6000);
      expect(trial.measured.server?.seconds).toBeCloseTo(0.15);
      expect(trial.measured.server?.coresUsed).toBeCloseTo(2.5 / 0.15);
    }
  });

  it.each([
    ['no', 0],
    ['a little', 500],
    ['much', 10_000],
  ])('cost a request what it uses between them too: %s CPU', async (_, rest) => {
    const { trials } = await duel(
      { turns: true, cpuUs: { turn: 10_000, rest } },
      '--rounds 1 --connections 10 --duration 0.12',
    );
    for (const trial of trials) {
      if (trial.status === 'failed') throw new Error('failed');
      const { turns, server, cpuUsPerRequest } = trial.measured;
      expect(turns?.cpuUs).toEqual(Array(6).fill(10_000));
      // A rest after each of the six turns.
      expect(turns?.restsCpuUs).toBe(6 * rest);
      expect(turns?.deferred).toBeCloseTo(rest / (10_000 + rest), 3);
      // The sampler saw 2.5 s of CPU in turns and rests together.
      expect(cpuUsPerRequest).toBeCloseTo(2.5e6 / 6000);
      // The work between the turns did not load the server in them.
      expect(server?.coresUsed).toBeCloseTo((2.5 * 10_000) / (10_000 + rest) / 0.15);
    }
  });

  it('cost a request nothing of what the server uses without load', async () => {
    const { trials } = await duel(
      { turns: true, cpuUs: { turn: 10_000, rest: 500, upkeep: 50_000 } },
      '--rounds 1 --connections 10 --duration 0.12',
    );
    for (const trial of trials) {
      if (trial.status === 'failed') throw new Error('failed');
      const { turns, cpuUsPerRequest } = trial.measured;
      expect(turns?.upkeepUsPerSecond).toBe(50_000);
      // 5 % of a core, also in the six turns of 25 ms.
      const turnsUs = 60_000 + 0.15 * 50_000;
      expect(turns?.deferred).toBeCloseTo(3000 / (turnsUs + 3000), 3);
      const share = (turnsUs + 3000) / (turnsUs + 3000 + 0.75 * 50_000);
      expect(cpuUsPerRequest).toBeCloseTo((2.5e6 * share) / 6000);
    }
  });

  it('continue with the other server if one fails', async () => {
    const { world, trials } = await duel(
      { turns: true, at: { turn: (count) => (count === 2 ? fail('it is not well')() : undefined) } },
      '--rounds 1 --connections 10 --duration 0.12',
    );
    expect(trials.map(({ status }) => status)).toEqual(['ok', 'failed']);
    expect(world.done.filter((what) => what.startsWith('turn 3000'))).toHaveLength(6);
    expect(world.done.filter((what) => what.startsWith('turn 3001'))).toHaveLength(1);
  });

  it('relate the CPU of a companion to the time under load', async () => {
    const line = '--rounds 1 --connections 10 --duration 0.12';
    let reads = 0;
    const { world, trials } = await duel(
      {
        turns: true,
        looks: Array.from({ length: 4 }, () => ({ requests: 0, fetchUs: 0 })),
        sampled: { ...SAMPLED, beside: { upstream: SAMPLED.server } },
        // Both servers read it: 1 ms passes in each turn, and 26 ms from their first reading to their last.
        besideUs: () => 1000 * ++reads,
      },
      line,
    );
    expect(world.done.filter((what) => what.startsWith('turn'))).toHaveLength(12);
    for (const trial of trials) {
      if (trial.status === 'failed') throw new Error(JSON.stringify(trial.reasons));
      const beside = trial.measured.companions?.upstream?.resources;
      expect(beside?.seconds).toBeCloseTo(0.15);
      expect(beside?.coresUsed).toBeCloseTo((2.5 * 6) / 26 / 0.15);
    }
  });

  it('go on if a companion ends', async () => {
    let reads = 0;
    const { trials } = await duel(
      {
        turns: true,
        looks: Array.from({ length: 4 }, () => ({ requests: 0, fetchUs: 0 })),
        besideUs() {
          if (++reads > 5) throw new Error('process 4720 has ended');
          return reads;
        },
      },
      '--rounds 1 --connections 10 --duration 0.12',
    );
    expect(reads).toBeGreaterThan(5);
    expect(trials.map(({ status }) => status)).toEqual(['ok', 'ok']);
  });

  it('are left for long windows if the CPU of a companion cannot be read between them', async () => {
    const line = '--rounds 1 --connections 10 --duration 0.2 --warmup 0.1';
    const { world } = await duel({ turns: true, looks: [{ requests: 0, fetchUs: 0 }] }, line);
    expect(world.done.filter((what) => what.startsWith('turn'))).toEqual([]);
    expect(world.done.filter((what) => what.startsWith('fire'))).toHaveLength(6);
  });

  it.each([
    ['at least 20 ms long', 0, 0.02],
    ['ten responses long', 0.01, 0.1],
    ['no longer than servers keep idle connections', 20, 1],
  ])('are %s', (_, cycleSeconds, span) => {
    const { spanSeconds } = planTurns({
      turnSeconds: 0.02,
      sides: 2,
      windowSeconds: 10,
      cycleSeconds,
      areShort: true,
    });
    expect(spanSeconds).toBeCloseTo(span);
  });

  it('hold as many responses as a plan wants', () => {
    const needs = { turnSeconds: 0.02, sides: 2, windowSeconds: 10, cycleSeconds: 0.02, areShort: true };
    expect(planTurns({ ...needs, turnAnswers: 2 }).spanSeconds).toBeCloseTo(0.04);
    expect(planTurns({ ...needs, turnAnswers: 10 }).spanSeconds).toBeCloseTo(0.2);
  });

  it.each([
    [0, 0.002],
    [0.05, 0.05],
    [20, 0.5],
  ])('begin with the time of one response of %s s, between 2 ms and 0.5 s', (cycleSeconds, ramp) => {
    const turns = planTurns({ turnSeconds: 0.02, sides: 2, windowSeconds: 5, cycleSeconds, areShort: true });
    expect(turns.rampSeconds).toBe(ramp);
  });
});
