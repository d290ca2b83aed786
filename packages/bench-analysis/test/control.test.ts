import type { Control } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { createRandom, type Random } from 'bench-statistics/random';
import { describe, expect, it } from 'vitest';
import { okTrial, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';
import { compareWithin } from '../src/compare.ts';
import { readControl } from '../src/control.ts';
import { judgeBudget } from '../src/budgets.ts';
import { drawTests, NOISES } from './noise.ts';

const SHARE = 0.02;

/** What a meter reads of a server of 100 µs that sees these parts of the planted cost; `noise` are log ratios. */
function control(seen: { turns: number; between: number }, noise = { turns: 0, between: 0 }): Control {
  const half = (100 * SHARE) / 2;
  return {
    turns: { plainUs: 100, plantedUs: (100 + seen.turns * half) * Math.exp(noise.turns), burntUs: half },
    between: { plainUs: 0, plantedUs: seen.between * half + 100 * noise.between, burntUs: half },
  };
}

function trialsOf(controls: readonly Control[]): Trial[] {
  return controls.map((own, index) =>
    okTrial('old', sampleMeasured({ cpu: 100, given: { control: own } }), { round: index + 1 }),
  );
}

/** The share of runs that are called blind. Turns vary by 1 %, and the rests between them by 0.2 %. */
function shareOfBlind(
  rounds: number,
  seen: { turns: number; between: number },
  runs: number,
  controls = 1,
): number {
  const random = createRandom(31);
  const draws = NOISES.map((noise) => [0.01, 0.002].map((sd) => drawTests(noise, sd, 0, random)));
  let blind = 0;
  for (let run = 0; run < runs; run++) {
    const [turns = [], between = []] = draws[run % draws.length]!.map((draw) => draw(rounds));
    const own = turns.map((one, index) => control(seen, { turns: one, between: between[index]! }));
    if (readControl(trialsOf(own), controls)?.isBlind === true) blind++;
  }
  return blind / runs;
}

describe('a control', () => {
  it('is read back, with its interval', () => {
    const random = createRandom(5);
    const all = Array.from({ length: 12 }, () =>
      control({ turns: 1, between: 1 }, { turns: 0.003 * random.normal(), between: 0 }),
    );
    const found = readControl(trialsOf(all), 1)!;
    expect(found.isBlind).toBe(false);
    expect(found.planted).toBeCloseTo(1.02, 6);
    expect(found.read).toBeCloseTo(1.02, 2);
    expect(found.interval!.low).toBeGreaterThan(1.01);
    expect(found.interval!.high).toBeLessThan(1.03);
  });

  it('is absent if nothing was planted, and of one round says nothing', () => {
    expect(readControl([okTrial('old', sampleMeasured({ cpu: 100 })), undefined], 1)).toBeUndefined();
    const one = readControl(trialsOf([control({ turns: 0, between: 0 })]), 1);
    expect(one).toMatchObject({ isBlind: false });
    expect(one).not.toHaveProperty('interval');
  });

  it.each([3, 6, 12, 24])(
    'of %d rounds is called blind in at most 0.5 %% of runs that read it rightly',
    (rounds) => {
      expect(shareOfBlind(rounds, { turns: 1, between: 1 }, 4000)).toBeLessThanOrEqual(0.005);
    },
  );

  it('may be read half too high: its helper disturbs the caches of the server', () => {
    expect(shareOfBlind(24, { turns: 2, between: 1 }, 1000)).toBeLessThanOrEqual(0.005);
    expect(shareOfBlind(24, { turns: 6, between: 1 }, 200)).toBeGreaterThan(0.97);
  });

  it.each([
    [6, 0.9],
    [12, 0.97],
  ])(
    'after %d rounds, is blind of a meter that misses what is done between turns: in %d of runs',
    (rounds, share) => {
      expect(shareOfBlind(rounds, { turns: 1, between: 0 }, 1000)).toBeGreaterThan(share);
    },
  );

  it('of a meter that misses all of it is blind', () => {
    expect(shareOfBlind(12, { turns: 0, between: 0 }, 1000)).toBeGreaterThan(0.97);
  });
});

describe('a comparison whose control is not read back', () => {
  const plan = {
    ...samplePlan('--threshold 2% --connections 10', ['old', 'new'], { looks: '12/18/24' }),
    control: { share: SHARE, targets: ['old'] },
  };
  const runOf = (between: number, cpu: number): { plan: typeof plan; trials: Trial[] } => {
    const random: Random = createRandom(7);
    const noisy = (): number => Math.exp(0.002 * random.normal());
    const trials = Array.from({ length: 12 }, (_, index) => {
      const own = control({ turns: 1, between }, { turns: 0.002 * random.normal(), between: 0 });
      const head = { round: index + 1 };
      return [
        okTrial('old', sampleMeasured({ cpu: 100 * noisy(), given: { control: own } }), head),
        okTrial('new', sampleMeasured({ cpu: cpu * noisy() }), head),
      ];
    }).flat();
    return { plan, trials };
  };
  const compare = (between: number, cpu: number) =>
    compareWithin(runOf(between, cpu), { by: 'cpu', threshold: SHARE }).rows[0]!.comparison;

  it.each([
    ['same', 100],
    ['faster', 86],
    ['slower', 114],
  ])('has no verdict, and no interval that a budget could keep: %s', (verdict, cpu) => {
    expect(compare(1, cpu)).toMatchObject({ verdict, control: { isBlind: false } });
    const blind = compare(0, cpu);
    expect(blind).toMatchObject({ verdict: 'undecided', why: 'blind', control: { isBlind: true } });
    expect(blind).not.toHaveProperty('interval');
    const limit = { kind: 'worse', share: 0.05, against: 'old' } as const;
    const { rows } = judgeBudget(runOf(0, cpu), { metric: 'cpu', limit }, ['old']);
    expect(rows.map((row) => row.verdict)).toEqual(['undecided']);
  });
});
