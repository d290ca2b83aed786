import { deferredCpu, deferredShare, sharesOf } from '../../src/judge/deferred.ts';
import { createRandom } from 'bench-statistics/random';
import { mean } from 'bench-statistics/numbers';
import { describe, expect, it } from 'vitest';

const turns = { cpuUs: 900_000, seconds: 1 };

describe('deferred work', () => {
  it('is what a server uses between its turns above its upkeep', () => {
    const cpu = { turns, rests: { cpuUs: 320_000, seconds: 2 }, upkeepUsPerSecond: 10_000 };
    expect(deferredCpu(cpu)).toBe(300_000);
    expect(deferredShare(cpu)).toBe(0.25);
    expect(sharesOf(cpu)).toEqual({ turns: 900 / 1220, answers: 1200 / 1220 });
  });

  it('does not include a login', () => {
    const cpu = { turns, rests: { cpuUs: 0, seconds: 2 }, asideUs: 100_000, upkeepUsPerSecond: 0 };
    expect(deferredCpu(cpu)).toBe(0);
    expect(sharesOf(cpu)).toEqual({ turns: 0.9, answers: 0.9 });
  });

  it('is unknown without the upkeep, and only the turns count', () => {
    const cpu = { turns, rests: { cpuUs: 300_000, seconds: 2 }, upkeepUsPerSecond: undefined };
    expect(deferredCpu(cpu)).toBe(0);
    expect(sharesOf(cpu)).toEqual({ turns: 0.75, answers: 0.75 });
  });

  it('lowers the cost by no more than the upkeep in the turns', () => {
    const cpu = { turns, rests: { cpuUs: 0, seconds: 10 }, upkeepUsPerSecond: 20_000 };
    expect(deferredCpu(cpu)).toBe(-20_000);
    expect(deferredShare(cpu)).toBe(0);
    // A server that used less than its upkeep has no negative cost.
    expect(deferredCpu({ ...cpu, turns: { cpuUs: 5000, seconds: 1 } })).toBe(-5000);
  });

  it('is all of the CPU between the turns of a server without upkeep, and 1 of nothing', () => {
    const cpu = { turns, rests: { cpuUs: 1000, seconds: 2 }, upkeepUsPerSecond: 0 };
    expect(sharesOf(cpu).answers).toBe(1);
    const nothing = { cpuUs: 0, seconds: 1 };
    expect(sharesOf({ turns: nothing, rests: nothing, upkeepUsPerSecond: 0 })).toEqual({
      turns: 1,
      answers: 1,
    });
  });
});

/** The moments of a round in s: the watch before the turns, the turns with the time for deferred work, and the watch after them. */
interface Round {
  watchSeconds: number;
  allSeconds: number;
  /** Those of this one. */
  ownSeconds: number;
}

const PAIR: Round = { watchSeconds: 0.5, allSeconds: 2, ownSeconds: 1 };
const TABLE: Round = { watchSeconds: 2, allSeconds: 40, ownSeconds: 5 };

/** Returns the mean factor on the cost of the turns over many rounds, for a server that works at regular intervals in any case. */
function meanFactor(round: Round, { upkeep, period }: { upkeep: number; period: number }): number {
  const random = createRandom(1);
  const { watchSeconds, allSeconds, ownSeconds } = round;
  const factors = Array.from({ length: 4000 }, () => {
    const phase = random.float() * period;
    /** Returns the work between two moments, in µs. */
    const work = (from: number, to: number): number =>
      upkeep * period * 1e6 * (Math.floor((to + phase) / period) - Math.floor((from + phase) / period));
    const begin = watchSeconds;
    // The turns are so short that a server has its part of all work in them.
    const end = begin + allSeconds + 0.6;
    const part = ownSeconds / (allSeconds + 0.6);
    const inAll = work(begin, end);
    const watched = work(0, begin) + work(end, end + watchSeconds);
    const cpu = {
      turns: { cpuUs: ownSeconds * 1e6 * (1 - upkeep) + inAll * part, seconds: ownSeconds },
      rests: { cpuUs: inAll * (1 - part), seconds: (end - begin) * (1 - part) },
      upkeepUsPerSecond: watched / (2 * watchSeconds),
    };
    return 1 + deferredCpu(cpu) / (ownSeconds * 1e6);
  });
  return mean(factors);
}

describe('an upkeep', () => {
  it.each(
    [PAIR, TABLE].flatMap((round) =>
      [0, 0.01, 0.05].flatMap((upkeep) => [0.01, 0.1, 1].map((period) => ({ round, upkeep, period }))),
    ),
  )('of $upkeep of a core each $period s does not bias the cost: $round', ({ round, upkeep, period }) => {
    expect(Math.abs(meanFactor(round, { upkeep, period }) - 1)).toBeLessThan(0.004);
  });
});
