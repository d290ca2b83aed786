import { LONGEST_WARMUP_SECONDS } from 'bench-model/planned';
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
    seconds: 2,
    loaded: () => seconds,
    meter: { source: 'test', readUs: () => cpuUs },
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

describe('the warm-up of a duel', () => {
  it('takes turns so that no server waits for long, for the time that was planned', async () => {
    const fired: string[] = [];
    const [a, b] = [sideOf(level(10), fired, 'a'), sideOf(level(20), fired, 'b')];
    const { cycleSeconds, trends } = await warmTogether([a, b]);
    expect(fired.join('')).toMatch(/^(abba){8}$/);
    expect([a.loaded(), b.loaded()]).toEqual([2, 2]);
    expect(trends).toEqual([]);
    // Ten connections, 1,000 answers a second.
    expect(cycleSeconds).toBeCloseTo(0.01);
  });

  it('goes on while one server gets faster than the other, and stops when it is warm', async () => {
    const warming = (seconds: number) => level(20 - 2 * Math.min(5, seconds))(seconds);
    const [a, b] = [sideOf(level(10)), sideOf(warming)];
    const { trends } = await warmTogether([a, b]);
    expect(trends).toEqual([]);
    expect(b.loaded()).toBeGreaterThan(5);
    expect(b.loaded()).toBeLessThan(12);
    expect(a.loaded()).toBe(b.loaded());
  });

  it('says so if a server still changes after the longest warm-up', async () => {
    const [a, b] = [sideOf(level(10)), sideOf((seconds) => 10 + seconds)];
    const { trends } = await warmTogether([a, b]);
    expect(b.loaded()).toBe(LONGEST_WARMUP_SECONDS);
    expect(trends).toEqual([{ side: 1, change: expect.closeTo(1.07, 1) as number }]);
  });

  it('goes on for a minute in all, however many servers there are', async () => {
    const sides = [(seconds: number) => 10 + seconds, ...Array.from({ length: 11 }, () => level(10))].map(
      (cost) => sideOf(cost),
    );
    const { trends } = await warmTogether(sides);
    expect(sides.map((side) => side.loaded())).toEqual(sides.map(() => 2 + 60 / 12));
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
    const working = { ...b, meter: { source: 'test', readUs: () => b.meter!.readUs() + restUs } };
    const { trends } = await warmTogether([others[0]!, working, others[1]!]);
    expect(trends).toEqual([]);
    expect(b.loaded()).toBe(2);
  });

  it('ends in the planned time although each turn waits for slow answers', async () => {
    let nowMs = 0;
    const slow = (name: string) => {
      let ok = 0;
      return {
        seconds: 2,
        meter: { source: 'test', readUs: () => 10 * ok },
        async fire() {
          // Ten connections, each with one answer after 3 s.
          fired.push(name);
          nowMs += 3000;
          ok += 10;
          return sampleLoad({ lifetime: sampleCounts({ ok, sent: ok }) });
        },
      };
    };
    const fired: string[] = [];
    const { cycleSeconds } = await warmTogether([slow('a'), slow('b')], undefined, () => nowMs);
    expect(fired.join('')).toBe('ab');
    expect(cycleSeconds).toBeCloseTo(3);
  });

  it('gives each server its own time, and lets those that need less begin later', async () => {
    const fired: string[] = [];
    const [a, b] = [sideOf(level(10), fired, 'a'), sideOf(level(20), fired, 'b')];
    await warmTogether([{ ...a, seconds: 0.25 }, b]);
    expect([a.loaded(), b.loaded()]).toEqual([0.25, 2]);
    expect(fired.join('')).toMatch(/^b{14}abba$/);
  });

  it('finds the one of several servers that changes, and does not go on if no time is left', async () => {
    const sides = [level(10), (seconds: number) => 20 - 2 * seconds, level(30), level(40)].map((cost) =>
      sideOf(cost),
    );
    const { trends } = await warmTogether(sides, 2);
    expect(trends).toEqual([{ side: 1, change: expect.closeTo(0.81, 1) as number }]);
    expect(sides.map((side) => side.loaded())).toEqual([2, 2, 2, 2]);
  });

  it('needs no CPU time: then each server has turns of 2 s', async () => {
    const fired: string[] = [];
    const sides = ['a', 'b'].map((name) => ({
      ...sideOf(level(10), fired, name),
      seconds: 4,
      meter: undefined,
    }));
    const { trends } = await warmTogether(sides);
    expect(fired.join('')).toBe('abba');
    expect(trends).toEqual([]);
  });

  it('goes on with one server if the other has failed', async () => {
    const a = sideOf(level(10));
    const gone: WarmingSide = { seconds: 2, meter: undefined, fire: async () => undefined };
    const { cycleSeconds } = await warmTogether([a, gone]);
    expect(a.loaded()).toBe(2);
    expect(cycleSeconds).toBeCloseTo(0.01);
  });
});
