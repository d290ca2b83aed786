import { describe, expect, it } from 'vitest';
import { createRandom } from 'bench-statistics/random';
import { CallTree } from '../../src/why/fold.ts';
import { explainPair } from '../../src/why/explain.ts';
import type { ComparedPair, ProfiledSide, Sampled } from 'bench-model/why';

const ROUNDS = 6;
const SAMPLES = 1500;

/** The true costs of a server by function, in µs per request. */
type Costs = Record<string, number>;

const SERVER: Costs = Object.fromEntries(
  Array.from({ length: 30 }, (_, index) => [`pkg${index % 5}.f${index}`, 200 / (2 + index)]),
);

/** Profiles servers: each process has its own pace, and each function its own luck beside that of the samples. */
function profile(
  costs: readonly Costs[],
  seed: number,
  paces = 0.03,
): { why: Parameters<typeof explainPair>[0]; ids: string[] } {
  const random = createRandom(seed);
  const around = (spread: number): number =>
    1 + spread * (random.float() + random.float() + random.float() + random.float() - 2) * 1.7;
  const tree = new CallTree(() => undefined);
  const sides = costs.map((own, index): ProfiledSide => {
    const profiles = Array.from({ length: ROUNDS }, () => {
      const pace = around(paces);
      const now = Object.entries(own).map(([name, us]) => [name, us * pace * around(0.03)] as const);
      const cpuUs = now.reduce((all, [, us]) => all + us, 0);
      const counts = now.map(([name, us]) => {
        const expected = (us / cpuUs) * SAMPLES;
        const samples = Math.max(0, Math.round(expected + Math.sqrt(expected) * (around(1) - 1)));
        return { frames: [{ name, file: `${name}.py`, module: name.split('.', 1)[0] ?? '' }], samples };
      });
      return {
        cpuUs,
        profiledUs: cpuUs,
        ...tree.add(
          counts.filter(({ samples }) => samples > 0),
          '/srv/shop',
        ),
      };
    });
    return { target: `t${index}`, profiler: 'none', profiles };
  });
  return { why: { frames: tree.frames, tree: tree.tree, sides }, ids: sides.map(({ target }) => target) };
}

function explain(before: Costs, after: Costs, seed: number, rounds = ROUNDS, paces?: number) {
  const { why, ids } = profile([before, after], seed, paces);
  const sides = why.sides.map((side) => ({ ...side, profiles: side.profiles.slice(0, rounds) }));
  return explainPair({ ...why, sides }, { baseline: ids[0] ?? '', candidate: ids[1] ?? '' });
}

const times = (estimate: number): Pick<ComparedPair, 'times'> => ({
  times: { estimate, low: 0.99 * estimate, high: 1.01 * estimate },
});

describe('the explanation of a pair', () => {
  const whole = Object.values(SERVER).reduce((all, us) => all + us, 0);

  it.each([3, ROUNDS])('names a function of 5 %% first, with its module, by %i profiles', (rounds) => {
    const found = Array.from({ length: 20 }, (_, seed) =>
      explain(SERVER, { ...SERVER, 'shop.planted': 0.05 * whole }, seed, rounds),
    );
    expect(
      found.filter((one) => one?.modules[0]?.functions[0]?.name === 'shop.planted').length,
    ).toBeGreaterThanOrEqual(19);
    expect(found.filter((one) => one?.modules[0]?.module === 'shop').length).toBeGreaterThanOrEqual(18);
    const [first] = found;
    const change = first?.modules[0]?.functions[0];
    expect(change?.before).toBe(0);
    expect(change?.after).toBeGreaterThan(0.04 * whole);
    expect(change?.after).toBeLessThan(0.06 * whole);
  });

  it.each([3, ROUNDS])('names nothing between equal builds, by %i profiles', (rounds) => {
    const found = Array.from({ length: 60 }, (_, seed) => explain(SERVER, SERVER, 100 + seed, rounds));
    const named = found.filter((one) => one === undefined || one.modules.length > 0);
    expect(named.length).toBeLessThanOrEqual(7);
  });

  it('is not misled by the pace of the machine, which moves all functions of a profile', () => {
    const find = (after: Costs) =>
      Array.from({ length: 60 }, (_, seed) => explain(SERVER, after, seed, 3, 0.25)?.modules[0]);
    const planted = find({ ...SERVER, 'shop.planted': 0.05 * whole });
    expect(planted.filter((one) => one?.module === 'shop').length).toBeGreaterThan(45);
    expect(find(SERVER).filter(Boolean).length).toBeLessThanOrEqual(4);
  });

  it('names what became cheaper', () => {
    const { 'pkg0.f0': _, ...rest } = SERVER;
    const [first] = explain(SERVER, rest, 7)?.modules[0]?.functions ?? [];
    expect(first).toMatchObject({ name: 'pkg0.f0', after: 0 });
    expect(first?.difference).toBeLessThan(-80);
  });

  it('names under a module the functions that took over as well, so that they add up', () => {
    const { 'pkg0.f0': _, ...rest } = SERVER;
    const modules = explain(SERVER, { ...rest, 'pkg0.instead': 60 }, 8)?.modules ?? [];
    expect(modules[0]).toMatchObject({
      module: 'pkg0',
      functions: [{ name: 'pkg0.f0' }, { name: 'pkg0.instead' }],
    });
  });

  it('takes the ratio of the whole from the rounds: short profiles on a busy machine do not tell it', () => {
    const slower = Object.fromEntries(
      Object.entries(SERVER).map(([name, us]) => [name, name.startsWith('pkg0.') ? 1.16 * us : us]),
    );
    const after = Object.values(slower).reduce((all, us) => all + us, 0);
    const explainAll = (costs: Costs, given: Pick<ComparedPair, 'times'>) =>
      Array.from({ length: 20 }, (_, seed) => {
        const { why, ids } = profile([SERVER, costs], 500 + seed, 0.15);
        return explainPair(why, { baseline: ids[0] ?? '', candidate: ids[1] ?? '', ...given });
      });
    const named = (found: ReturnType<typeof explainAll>): number =>
      found.filter((one) => one?.modules.some(({ module }) => module === 'pkg0')).length;
    expect(named(explainAll(slower, {}))).toBeLessThan(4);
    expect(named(explainAll(slower, times(after / whole)))).toBeGreaterThan(9);
    const [first] = explainAll(slower, times(after / whole));
    expect((first?.whole.after ?? 0) / (first?.whole.before ?? 0)).toBeCloseTo(after / whole, 6);
    // The ratio of equal servers is off by half of its interval.
    const alike = explainAll(SERVER, times(1.005)).filter(
      (one) => one === undefined || one.modules.length > 0,
    );
    expect(alike.length).toBeLessThanOrEqual(3);
  });

  it('is absent with too few profiles', () => {
    const { why, ids } = profile([SERVER, SERVER], 3);
    const [first, second] = why.sides as [ProfiledSide, ProfiledSide];
    const few = { ...why, sides: [first, { ...second, profiles: second.profiles.slice(0, 2) }] };
    expect(explainPair(few, { baseline: ids[0] ?? '', candidate: ids[1] ?? '' })).toBeUndefined();
  });
});

/** Lines of the project and what they call, as `main.py:5 total > json`: the samples of each side. */
type Samples = Record<string, [before: number, after: number]>;

/** Explains two sides whose stacks have these samples, all about 2 µs each. `hunks` are lines that replace as many others. */
function explainLines(samples: Samples, hunks: number[] = []) {
  const tree = new CallTree(() => undefined);
  const random = createRandom(5);
  const sides = [0, 1].map((side): ProfiledSide => {
    const profiles = Array.from({ length: ROUNDS }, () => {
      const stacks = Object.entries(samples).map(([path, counts]) => ({
        frames: path.split(' > ').map(frameOf),
        samples: Math.round((counts[side] ?? 0) * (1 + random.float() / 50)),
      }));
      const all = stacks.reduce((sum, stack) => sum + stack.samples, 0);
      const own = tree.add(
        stacks.filter((stack) => stack.samples > 0),
        '/srv/shop',
      );
      return { cpuUs: 2 * all, profiledUs: 2 * all, ...own };
    });
    return { target: `t${side}`, profiler: 'none', profiles };
  });
  const lines = tree.linesIn('/srv/shop');
  const why = { frames: tree.frames, tree: tree.tree, sides: sides.map((side) => ({ ...side, lines })) };
  return explainPair(why, {
    baseline: 't0',
    candidate: 't1',
    hunks: hunks.map((line) => ({ file: 'main.py', before: line, removed: 1, after: line, added: 1 })),
  });
}

function frameOf(text: string): Sampled {
  const [, file = '', line, name = ''] = /^(\S+):(\d+) (.+)$/.exec(text) ?? [];
  return line === undefined
    ? { name: `${text}.f`, file: `${text}/f.py`, module: text, ...(text !== 'json' && { from: 'package' }) }
    : { name, file, module: file, from: 'project', line: Number(line) };
}

const told = ({ path, calls, modules, isMain }: NonNullable<ReturnType<typeof explainLines>>) => ({
  path: path.map(({ line }) => line),
  calls: calls.map(({ module }) => module),
  elsewhere: modules.map(({ module }) => module),
  isMain,
});

describe('the cause in the project', () => {
  const rest: Samples = { uvicorn: [500, 500], 'uvicorn > main.py:9 ping': [200, 200] };

  it('is the line where the difference ends, down the calls, and the package that it spends it in', () => {
    const samples: Samples = {
      ...rest,
      'uvicorn > main.py:30 get > main.py:12 load': [100, 100],
      'uvicorn > main.py:30 get > main.py:12 load > sqlalchemy > json': [100, 400],
      'uvicorn > main.py:30 get > main.py:12 load > json': [50, 50],
    };
    const found = explainLines(samples);
    expect(found && told(found)).toEqual({
      path: [30, 12],
      calls: ['sqlalchemy'],
      elsewhere: [],
      isMain: true,
    });
    expect(found?.path[1]?.difference).toBeGreaterThan(500);
  });

  it('is a line that the two sides have differently, if it explains enough', () => {
    const samples: Samples = {
      ...rest,
      'uvicorn > main.py:30 get > main.py:12 load > json': [100, 400],
      'uvicorn > main.py:31 get > json': [100, 300],
    };
    const line = (hunks: number[]) => explainLines(samples, hunks)?.path.at(-1);
    expect(line([])).toMatchObject({ line: 12, isTouched: false });
    expect(line([31])).toMatchObject({ line: 31, isTouched: true });
    expect(line([30])).toMatchObject({ line: 30, isTouched: true });
    expect(explainLines({ ...samples, 'uvicorn > main.py:40 log': [10, 40] }, [40])?.path.at(-1)?.line).toBe(
      12,
    );
  });

  it('is no code that has only moved, and what has not moved beside it', () => {
    const samples: Samples = {
      ...rest,
      'uvicorn > main.py:31 get > json': [300, 0],
      'uvicorn > main.py:32 get > json': [0, 300],
    };
    expect(explainLines(samples, [31, 32])).toMatchObject({ path: [], others: [], modules: [] });
    const part = { 'uvicorn > main.py:31 get': [600, 570], 'uvicorn > main.py:32 get': [0, 30] } as Samples;
    expect(explainLines({ ...rest, ...part }, [31, 32])).toMatchObject({ path: [], others: [] });
    const more = { ...samples, 'uvicorn > main.py:33 get': [0, 200] as [number, number] };
    for (const hunks of [[31, 32, 33], [33]]) expect(explainLines(more, hunks)?.path.at(-1)?.line).toBe(33);
  });

  it('is found within a rewrite that costs more, less or as much, however large', () => {
    for (const now of [300, 250, 400]) {
      const samples: Samples = {
        ...rest,
        'uvicorn > main.py:31 get > json': [300, 0],
        'uvicorn > main.py:32 get > json': [0, now],
        'uvicorn > main.py:40 log > sentry': [0, 30],
      };
      const { path = [], others = [] } = explainLines(samples, [31, 32, 40]) ?? {};
      const named = [...path, ...others].map((one) => one.line);
      expect(new Set(named)).toEqual(new Set({ 300: [40], 250: [31, 40], 400: [32, 40] }[now]));
    }
  });

  it('has lines beside it that no other of them calls', () => {
    const samples: Samples = {
      ...rest,
      'uvicorn > main.py:30 get > main.py:12 load > json': [100, 400],
      'uvicorn > main.py:20 log > main.py:50 write': [50, 150],
    };
    const { others = [], beside = [] } = explainLines(samples, [30]) ?? {};
    expect([others, beside].map((own) => own.map(({ line }) => line))).toEqual([[12, 20, 50], [20]]);
  });

  it('counts a line once in each stack, however often it calls itself', () => {
    const samples: Samples = { ...rest, 'uvicorn > main.py:5 walk > main.py:5 walk': [100, 400] };
    const [line] = explainLines(samples)?.path ?? [];
    expect(line?.after).toBeLessThan(2 * 400 * 1.02);
  });

  it('comes after the packages if it explains little of the difference', () => {
    const samples: Samples = { ...rest, anyio: [0, 500], 'uvicorn > main.py:30 get': [50, 100] };
    const found = explainLines(samples);
    expect(found && told(found)).toEqual({
      path: [30],
      calls: ['main.py'],
      elsewhere: ['anyio', 'main.py'],
      isMain: false,
    });
  });

  it('is none between equal builds', () => {
    expect(explainLines({ ...rest, 'uvicorn > main.py:30 get > json': [300, 300] })).toMatchObject({
      path: [],
      modules: [],
      others: [],
    });
  });
});
