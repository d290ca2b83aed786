import { describe, expect, it } from 'vitest';
import { createRandom } from 'bench-statistics/random';
import { CallTree } from '../../src/why/fold.ts';
import { explainPair } from '../../src/why/explain.ts';
import type { ComparedPair, ProfiledSide } from 'bench-model/why';

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
  const tree = new CallTree();
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
      return { cpuUs, profiledUs: cpuUs, ...tree.add(counts.filter(({ samples }) => samples > 0)) };
    });
    return { target: `t${index}`, profiler: 'none', profiles };
  });
  return { why: { frames: tree.frames, tree: tree.tree, sides }, ids: sides.map(({ target }) => target) };
}

function explain(before: Costs, after: Costs, seed: number) {
  const { why, ids } = profile([before, after], seed);
  return explainPair(why, { baseline: ids[0] ?? '', candidate: ids[1] ?? '' });
}

const times = (estimate: number): Pick<ComparedPair, 'times'> => ({
  times: { estimate, low: 0.99 * estimate, high: 1.01 * estimate },
});

describe('the explanation of a pair', () => {
  const whole = Object.values(SERVER).reduce((all, us) => all + us, 0);

  it('names a function of 5 % first, with its module', () => {
    const found = Array.from({ length: 20 }, (_, seed) =>
      explain(SERVER, { ...SERVER, 'shop.planted': 0.05 * whole }, seed),
    );
    expect(
      found.filter((one) => one?.functions[0]?.frame.name === 'shop.planted').length,
    ).toBeGreaterThanOrEqual(19);
    expect(found.filter((one) => one?.modules[0]?.module === 'shop').length).toBeGreaterThanOrEqual(18);
    const [first] = found;
    const change = first?.functions[0];
    expect(change?.before).toBe(0);
    expect(change?.after).toBeGreaterThan(0.04 * whole);
    expect(change?.after).toBeLessThan(0.06 * whole);
  });

  it('names nothing between equal builds', () => {
    const named = Array.from({ length: 60 }, (_, seed) => explain(SERVER, SERVER, 100 + seed)).filter(
      (one) => one === undefined || one.functions.length + one.modules.length > 0,
    );
    expect(named.length).toBeLessThanOrEqual(7);
  });

  it('names what became cheaper', () => {
    const { 'pkg0.f0': _, ...rest } = SERVER;
    const [first] = explain(SERVER, rest, 7)?.functions ?? [];
    expect(first).toMatchObject({ frame: { name: 'pkg0.f0' }, after: 0 });
    expect(first?.difference).toBeLessThan(-80);
  });

  it('names under a module the functions that took over as well, so that they add up', () => {
    const { 'pkg0.f0': _, ...rest } = SERVER;
    const modules = explain(SERVER, { ...rest, 'pkg0.instead': 60 }, 8)?.modules ?? [];
    expect(modules[0]).toMatchObject({
      module: 'pkg0',
      functions: [{ frame: { name: 'pkg0.f0' } }, { frame: { name: 'pkg0.instead' } }],
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
      (one) => one === undefined || one.functions.length + one.modules.length > 0,
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
