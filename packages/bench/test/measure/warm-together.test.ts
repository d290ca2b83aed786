import { describe, expect, it } from 'vitest';
import { warmTogether, type WarmingSide } from '../../src/measure/warm-together.ts';
import { sampleCounts, sampleLoad } from '../../../bench-lab/testing/samples.ts';

/** A server that answers 1,000 times a second, at this cost by its time under load. */
function sideOf(
  costUs: (seconds: number) => number,
  fired: string[] = [],
  name = 'a',
): WarmingSide & { loaded: () => number } {
  let [seconds, ok, cpuUs] = [0, 0, 0];
  return {
    leastSeconds: 2,
    mostSeconds: 40,
    sliceSeconds: 0.125,
    runtime: 'python',
    loaded: () => seconds,
    meter: { readUs: () => cpuUs },
    compilers: undefined,
    async fire(length) {
      fired.push(name);
      cpuUs += 1000 * length * costUs(seconds);
      seconds += length;
      ok += 1000 * length;
      return sampleLoad({ lifetime: sampleCounts({ ok, sent: ok }) });
    },
  };
}

type Side = ReturnType<typeof sideOf>;

/** A small noise without chance, so that a level has no ties. */
const level = (cost: number) => (seconds: number) => cost * (1 + 0.002 * Math.sin(97 * seconds));

/** The same server as a JVM whose compilers use this share of its CPU, by its time under load. */
function jvmOf(side: Side, share: (seconds: number) => number): Side {
  let [us, before] = [0, 0];
  const readUs = (): number => {
    const now = side.meter!.readUs();
    us += (now - before) * share(side.loaded());
    before = now;
    return us;
  };
  return { ...side, runtime: 'jvm', leastSeconds: 5, compilers: { readUs } };
}

describe('the warm-up of one server', () => {
  it('ends after the least load if it is level', async () => {
    const a = sideOf(level(10));
    const { cycleSeconds, sides } = await warmTogether([a]);
    expect(a.loaded()).toBe(2);
    expect(sides).toEqual([{ seconds: 2 }]);
    // Ten connections, 1,000 responses a second.
    expect(cycleSeconds).toBeCloseTo(0.01);
  });

  it('goes on while its cost changes', async () => {
    const a = sideOf((seconds) => level(30 - 4 * Math.min(5, seconds))(seconds));
    await warmTogether([a]);
    expect(a.loaded()).toBeGreaterThan(5);
    expect(a.loaded()).toBeLessThan(10);
  });

  it('goes on until its compilers have rested for three seconds, between their turns too', async () => {
    const a = jvmOf(sideOf(level(10)), (seconds) => (seconds < 9 ? 0.3 : 0));
    const { sides } = await warmTogether([a]);
    expect(a.loaded()).toBeGreaterThan(11.5);
    expect(a.loaded()).toBeLessThan(13);
    expect(sides[0]).not.toHaveProperty('compilersShare');
  });

  it('gives up after the most, and tells the share of compilers that do not rest', async () => {
    const a = { ...jvmOf(sideOf(level(10)), () => 0.12), mostSeconds: 8 };
    const { sides } = await warmTogether([a]);
    expect(a.loaded()).toBe(8);
    expect(sides).toEqual([{ seconds: 8, compilersShare: expect.closeTo(0.12) as number }]);
  });

  it('lasts exactly as long as the user has set, whatever it does', async () => {
    const a = {
      ...jvmOf(
        sideOf((seconds) => 100 - 10 * seconds),
        () => 0.5,
      ),
      leastSeconds: 1,
      mostSeconds: 1,
    };
    const { sides } = await warmTogether([a]);
    expect(a.loaded()).toBe(1);
    expect(sides[0]?.compilersShare).toBeCloseTo(0.5);
    const none = { ...sideOf(level(10)), leastSeconds: 0, mostSeconds: 0 };
    await warmTogether([none]);
    expect(none.loaded()).toBe(0);
  });
});

describe('the warm-up of several servers', () => {
  it('takes turns so that no server waits for long', async () => {
    const fired: string[] = [];
    const [a, b] = [sideOf(level(10), fired, 'a'), sideOf(level(20), fired, 'b')];
    const { trends } = await warmTogether([a, b], { compares: true });
    expect(fired.join('')).toMatch(/^(abba){8}$/);
    expect([a.loaded(), b.loaded()]).toEqual([2, 2]);
    expect(trends).toEqual([]);
  });

  it('goes on with both while one of two that are compared gets faster than the other', async () => {
    const warming = (seconds: number) => level(20 - 2 * Math.min(5, seconds))(seconds);
    const [a, b] = [sideOf(level(10)), sideOf(warming)];
    const { trends } = await warmTogether([a, b], { compares: true });
    expect(trends).toEqual([]);
    expect(b.loaded()).toBeGreaterThan(5);
    expect(b.loaded()).toBeLessThan(12);
    expect(a.loaded()).toBe(b.loaded());
  });

  it('goes on only with the one that is not warm in a table', async () => {
    const [a, b] = [sideOf(level(10)), jvmOf(sideOf(level(20)), (seconds) => (seconds < 6 ? 0.3 : 0))];
    await warmTogether([a, b]);
    expect(a.loaded()).toBe(2);
    expect(b.loaded()).toBeGreaterThan(8.5);
  });

  it('says so if a server still changes after the most', async () => {
    const [a, b] = [sideOf(level(10)), sideOf((seconds) => 10 + seconds)].map((side) => ({
      ...side,
      mostSeconds: 20,
    })) as [Side, Side];
    const { trends } = await warmTogether([a, b], { compares: true });
    expect(b.loaded()).toBe(20);
    expect(trends).toEqual([{ side: 1, change: expect.closeTo(1.1, 1) as number }]);
  });

  it('has a limit over all of them, however many there are', async () => {
    const sides = [(seconds: number) => 10 + seconds, ...Array.from({ length: 11 }, () => level(10))].map(
      (cost) => sideOf(cost),
    );
    const { trends } = await warmTogether(sides, { compares: true });
    expect(sides.map((side) => side.loaded())).toEqual(sides.map(() => 2 + 84 / 12));
    expect(trends.map(({ side }) => side)).toEqual([0]);
  });

  it('finds no trend in the CPU that a server uses while the others have their turns', async () => {
    let [restUs, turns] = [0, 0];
    const [a, b, c] = [10, 20, 30].map((cost) => sideOf(level(cost))) as [Side, Side, Side];
    const others = [a, c].map((side) => ({
      ...side,
      fire(seconds: number) {
        restUs += 20 * turns++;
        return side.fire(seconds);
      },
    }));
    const working = { ...b, meter: { readUs: () => b.meter!.readUs() + restUs } };
    const { trends } = await warmTogether([others[0]!, working, others[1]!], { compares: true });
    expect(trends).toEqual([]);
    expect(b.loaded()).toBe(2);
  });

  it('ends in the planned time although each slice waits for slow responses', async () => {
    let nowMs = 0;
    const slow = (name: string): WarmingSide => {
      let ok = 0;
      return {
        ...sideOf(level(10)),
        meter: { readUs: () => 10 * ok },
        async fire() {
          // Ten connections, each with one response after 3 s.
          fired.push(name);
          nowMs += 3000;
          ok += 10;
          return sampleLoad({ lifetime: sampleCounts({ ok, sent: ok }) });
        },
      };
    };
    const fired: string[] = [];
    const { cycleSeconds } = await warmTogether([slow('a'), slow('b')], { compares: true, now: () => nowMs });
    expect(fired.join('')).toBe('ab');
    expect(cycleSeconds).toBeCloseTo(3);
  });

  it('gives each server its own time, and lets those that need less begin later', async () => {
    const fired: string[] = [];
    const [a, b] = [sideOf(level(10), fired, 'a'), sideOf(level(20), fired, 'b')];
    await warmTogether([{ ...a, leastSeconds: 0.25 }, b]);
    expect([a.loaded(), b.loaded()]).toEqual([0.25, 2]);
    expect(fired.join('')).toMatch(/^b{14}abba$/);
  });

  it('needs no CPU time', async () => {
    const fired: string[] = [];
    const sides = ['a', 'b'].map((name) => ({ ...sideOf(level(10), fired, name), meter: undefined }));
    const { trends } = await warmTogether(sides, { compares: true });
    expect(sides.map((side) => side.loaded())).toEqual([2, 2]);
    expect(trends).toEqual([]);
  });

  it('goes on with one server if the other has failed', async () => {
    const a = sideOf(level(10));
    const gone: WarmingSide = { ...sideOf(level(10)), fire: async () => undefined };
    const { cycleSeconds } = await warmTogether([a, gone], { compares: true });
    expect(a.loaded()).toBe(2);
    expect(cycleSeconds).toBeCloseTo(0.01);
  });
});
