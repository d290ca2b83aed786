import { describe, expect, it } from 'vitest';
import { compareWithin, scheduleOf } from '../src/compare.ts';
import type { Comparison } from '../src/comparison.ts';
import type { Control, Limit } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { present } from 'bench-model/options';
import { createRandom } from 'bench-statistics/random';
import {
  okTrial,
  sampleLoad,
  sampleMeasured,
  sampleResources,
  samplePlan,
} from '../../bench-lab/testing/samples.ts';
import { drawTests, NOISES } from './noise.ts';

const PLAN = {
  ...samplePlan('--threshold 2% --connections 10', ['old', 'new'], { looks: '12/18/24' }),
  control: { share: 0.02, targets: ['old'] },
};
const CPU = { by: 'cpu', threshold: 0.02 } as const;

interface Server {
  cpu: number;
  services?: number;
  p50: number;
  p99: number;
  goodput: number;
  limit: Limit;
  control?: Control;
}
/** It waits for 2 ms. */
const WAITS: Server = { cpu: 40, p50: 2300, p99: 4000, goodput: 4300, limit: 'waiting' };
const BUSY: Server = { cpu: 100, p50: 1000, p99: 2000, goodput: 9700, limit: 'server' };

function toTrial(target: 'old' | 'new', round: number, server: Server): Trial {
  const { cpu, services, p50, p99, goodput, limit, control } = server;
  const load = sampleLoad({ goodputPerSecond: goodput, latencyUs: { mean: p50, p50, p99, max: 2 * p99 } });
  const use = (us: number) => sampleResources((us * goodput) / 1e6);
  const companions = services && { database: { resources: use(services) } };
  const given = { load, limit, server: use(cpu), ...present({ control }), ...(companions && { companions }) };
  const targets = PLAN.targets.filter(({ id }) => id === target);
  return { ...okTrial(target, sampleMeasured({ cpu, given }), { round }), target: targets[0]! };
}

function scale(server: Server, draw: (times: number) => number): Server {
  const { cpu, p50, p99, goodput } = server;
  return {
    ...server,
    cpu: cpu * draw(1),
    p50: p50 * draw(1),
    p99: p99 * draw(5),
    goodput: goodput * draw(1),
  };
}

/** Compares at each look until one decides, as a run does. */
function decide(trials: readonly Trial[]): Comparison {
  const at = (rounds: number): Comparison =>
    compareWithin({ plan: PLAN, trials: trials.filter(({ round }) => round <= rounds) }, CPU).rows[0]!
      .comparison;
  const looks = scheduleOf(PLAN, []).map(({ rounds }) => at(rounds));
  return looks.find(({ verdict }) => verdict !== 'undecided') ?? looks.at(-1)!;
}

/** Compares two servers over 24 rounds, each with the figures that it has then. */
function compareDrawn(old: () => Server, own: () => Server): Comparison {
  return decide(
    Array.from({ length: 24 }, (_, index) => [
      toTrial('old', index + 1, old()),
      toTrial('new', index + 1, own()),
    ]).flat(),
  );
}

/** Compares servers whose figures vary by 1 %, their tails by 5 %. */
function compare(old: Server, own: Server): Comparison {
  const random = createRandom(5);
  const noisy = (server: Server) => scale(server, (times) => Math.exp(0.01 * times * random.normal()));
  return compareDrawn(
    () => noisy(old),
    () => noisy(own),
  );
}

const timesOf = ({ whole }: Comparison) =>
  whole?.times.map(({ by, comparison: { verdict } }) => `${by} ${verdict}`);

describe('cost and time', () => {
  it('are both the same for equal servers, saturated or not', () => {
    for (const server of [WAITS, BUSY])
      expect(compare(server, server)).toMatchObject({ verdict: 'same', whole: { cost: 'same', times: [] } });
  });

  it('are told apart if a server waits for 4 ms more, although its CPU per request reads a third more', () => {
    const found = compare(WAITS, { ...WAITS, p50: 6400, p99: 8000, goodput: 1560, cpu: 54 });
    expect(found).toMatchObject({
      verdict: 'slower',
      byMoreThanThreshold: true,
      whole: { cost: 'undecided' },
    });
    expect(timesOf(found)).toContain('p50 slower');
    expect(found.whole?.rate).toBeCloseTo(0.363, 1);
    expect(found.rounds).toBeLessThanOrEqual(6);
  });

  it('are decided after three rounds if latency is forty times as long, although it varies by 4 %', () => {
    const random = createRandom(23);
    const drawn =
      ({ p50, ...rest }: Server) =>
      () => ({ ...rest, p50: p50 * Math.exp(0.04 * random.normal()) });
    const slept = { ...WAITS, p50: 40 * WAITS.p50, goodput: 110 };
    const found = Array.from({ length: 100 }, () => compareDrawn(drawn(WAITS), drawn(slept)));
    expect(found.every(({ verdict }) => verdict === 'slower')).toBe(true);
    expect(found.filter(({ rounds }) => rounds === 3).length).toBeGreaterThan(90);
  });

  it('find more CPU all the same, if the rate explains less than the difference', () => {
    const found = compare(WAITS, { ...WAITS, p50: 2500, goodput: 3950, cpu: 80 });
    expect(found).toMatchObject({ verdict: 'slower', whole: { cost: 'slower' } });
    expect(found.whole?.rate).toBeUndefined();
  });

  it('say nothing of rates that are alike, if a server does more work after its responses', () => {
    const found = compare(WAITS, { ...WAITS, goodput: 4420, cpu: 48 });
    expect(found).toMatchObject({ verdict: 'slower', whole: { cost: 'slower' } });
    expect(found.whole?.rate).toBeUndefined();
  });

  it('say nothing of the rate of a slower server that is saturated: its CPU is the reason', () => {
    const slow = { ...BUSY, cpu: 240, goodput: 3900, p50: 2500, p99: 5000 };
    expect(compare({ ...BUSY, limit: 'waiting' }, slow)).toMatchObject({ verdict: 'slower' });
    expect(
      compare({ ...BUSY, cpu: 150, limit: 'waiting' }, { ...slow, cpu: 160 }).whole?.rate,
    ).toBeUndefined();
  });

  it('make a server faster that waits less, whatever its rate does to its cost', () => {
    const found = compare({ ...WAITS, p50: 6400, p99: 8000, goodput: 1560, cpu: 54 }, WAITS);
    expect(found).toMatchObject({ verdict: 'faster', whole: { cost: 'undecided' } });
  });

  it('forbid `faster` and `same` if the other one is worse, and leave it open if it may be', () => {
    expect(compare(WAITS, { ...WAITS, cpu: 36, p50: 2600, goodput: 4200 })).toMatchObject({
      verdict: 'slower',
    });
    expect(compare(WAITS, { ...WAITS, cpu: 44, p50: 2000 })).toMatchObject({ verdict: 'slower' });
    const random = createRandom(3);
    const unsure = () => ({ ...WAITS, cpu: 36, p50: WAITS.p50 * Math.exp(0.03 + 0.2 * random.normal()) });
    const found = compareDrawn(() => WAITS, unsure);
    expect(found).toMatchObject({ verdict: 'undecided', why: 'time', whole: { cost: 'faster' } });
  });

  it('tell the time that decided, also where a wide interval of the cost reaches as far', () => {
    const random = createRandom(11);
    const dear = () => ({ ...WAITS, cpu: 42 * Math.exp(0.2 * random.normal()), p50: 2500 });
    const found = compareDrawn(() => WAITS, dear);
    expect(found).toMatchObject({ verdict: 'slower', whole: { cost: 'undecided' } });
    expect(timesOf(found)).toEqual(['p50 slower']);
  });

  it('count the tail if it is worse', () => {
    expect(timesOf(compare(WAITS, { ...WAITS, p99: 40_000 }))).toEqual(['p99 slower']);
  });

  it('of saturated servers are one: only a rate that falls without a cost is said', () => {
    const dearer = compare(BUSY, { ...BUSY, cpu: 130, p50: 1300, p99: 2600, goodput: 7460 });
    expect(dearer).toMatchObject({ verdict: 'slower', whole: { cost: 'slower', times: [] } });
    expect(timesOf(compare(BUSY, { ...BUSY, goodput: 8900, p50: 1090 }))).toEqual(['goodput slower']);
  });

  it('include what the server is given beside it', () => {
    const moved = compare({ ...WAITS, services: 20 }, { ...WAITS, cpu: 30, services: 60 });
    expect(moved).toMatchObject({ verdict: 'slower' });
    expect(moved.ratio?.estimate).toBeCloseTo(1.5, 1);
  });

  it('have at most 5 % false alarms together in 1,000 runs of equal servers, over all looks, with a control', () => {
    const random = createRandom(17);
    const sds = [0.08, 0.1, 0.3, 0.1, 0.02, 0.005];
    const draws = NOISES.map((noise) => sds.map((sd) => drawTests(noise, sd, 0, random)));
    let [alarms, blind] = [0, 0];
    for (let run = 0; run < 1000; run++) {
      const differences = draws[run % draws.length]!.map((draw) => draw(24));
      const busy = (run % 3) / 2;
      const trials = Array.from({ length: 24 }, (_, index) => {
        const server: Server = { ...WAITS, limit: random.float() < busy ? 'server' : 'waiting' };
        const factors = differences.map((own) => Math.exp(own[index]!));
        const other = scale(server, () => factors.shift()!);
        const [turns = 1, between = 1] = factors;
        const control: Control = {
          turns: { plainUs: 40, plantedUs: 40.4 * turns, burntUs: 0.4 },
          between: { plainUs: 0, plantedUs: 40 * Math.log(between) + 0.4, burntUs: 0.4 },
        };
        return [toTrial('old', index + 1, { ...server, control }), toTrial('new', index + 1, other)];
      }).flat();
      const found = decide(trials);
      if (['faster', 'slower'].includes(found.verdict)) alarms++;
      if (found.control?.isBlind === true) blind++;
    }
    expect(blind / 1000).toBeLessThanOrEqual(0.005);
    expect((alarms + blind) / 1000).toBeLessThanOrEqual(0.05);
    expect(alarms / 1000).toBeGreaterThan(0.02);
  });
});
