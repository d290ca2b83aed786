import { estimateSeconds } from 'bench-model/planned';
import { describe, expect, it } from 'vitest';
import { exactly } from '../src/differences.ts';
import {
  foreseeOpen,
  foreseePower,
  foreseeReach,
  noiseOf,
  noiseOfPlan,
  secondsUntil,
} from '../src/outlook.ts';
import { countVerdicts } from 'bench-lab/analyse/sequential-test';
import { scheduleNamed } from 'bench-targets/catalogue/looks';
import { createRandom } from 'bench-statistics/random';
import type { Trial } from 'bench-model/record';
import { okTrial, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

const planOf = (names: string[], line = '--looks 12/18/24') =>
  samplePlan(`--connections 10 --until-decided ${line}`, names);

/** Rounds of `a` and others, whose ratios have this standard deviation between rounds. */
function measure(deviations: Record<string, number>, rounds: number): Trial[] {
  const random = createRandom(5);
  return Array.from({ length: rounds }, (_, index) =>
    Object.entries({ a: 0, ...deviations }).map(([name, deviation]) => {
      const cpu = 100 * Math.exp(deviation * random.normal());
      return okTrial(name, sampleMeasured({ cpu }), { round: index + 1 });
    }),
  ).flat();
}

const noise = (deviation: number, candidate = 'b', baseline = 'a') => ({
  connections: 10,
  candidate,
  baseline,
  deviation,
  residuals: [-deviation, deviation],
});

const roundsOf = (names: string[], deviation: number) =>
  foreseePower(planOf(names), [noise(deviation)])?.rounds ?? 0;

describe('the noise of a run', () => {
  it('is the deviation of each ratio between rounds', () => {
    const plan = planOf(['a', 'b', 'c']);
    const found = noiseOf({ plan, trials: measure({ b: 0.02, c: 0.08 }, 200) }, 'cpu');
    expect(found.map(({ candidate, baseline }) => [candidate, baseline])).toEqual([
      ['b', 'a'],
      ['c', 'a'],
    ]);
    expect(found[0]?.deviation).toBeCloseTo(0.02, 2);
    expect(found[1]?.deviation).toBeCloseTo(0.08, 2);
  });

  it('needs six rounds', () => {
    const plan = planOf(['a', 'b']);
    expect(noiseOf({ plan, trials: measure({ b: 0.02 }, 5) }, 'cpu')).toEqual([]);
  });
});

describe('the foreseen power', () => {
  it('names the look at which nearly all tests find the difference', () => {
    const plan = planOf(['a', 'b'], '--looks 12/18/24');
    for (const deviation of [0.018, 0.028]) {
      const { rounds = 0 } = foreseePower(plan, [noise(deviation)]) ?? {};
      const random = createRandom(3);
      const looks = scheduleNamed('12/18/24').filter((look) => look.rounds <= rounds);
      const rules = { schedule: looks, better: 'lower', threshold: 0.02, tests: 300 } as const;
      const { verdicts } = countVerdicts(rules, () =>
        exactly(Array.from({ length: rounds }, () => Math.log(1.03) + deviation * random.normal())),
      );
      expect(verdicts.slower).toBeGreaterThan(0.85);
    }
  });

  it('takes longer with more noise and with more comparisons', () => {
    expect(roundsOf(['a', 'b'], 0.01)).toBe(12);
    expect(roundsOf(['a', 'b'], 0.03)).toBeGreaterThan(12);
    expect(roundsOf(['a', 'b', 'c', 'd', 'e', 'f'], 0.028)).toBeGreaterThan(roundsOf(['a', 'b'], 0.028));
    expect(roundsOf(['a', 'b'], 0.1)).toBeGreaterThan(100);
  });

  it('uses the noise of the same stacks if there is some', () => {
    const plan = planOf(['a', 'b', 'c']);
    const stored = [noise(0.01, 'b@3.12', 'a@3.11'), noise(0.03, 'b', 'a'), noise(0.5, 'x', 'y')];
    const found = foreseePower(plan, stored);
    expect(found?.rows[0]?.deviation).toBeCloseTo(0.02);
    expect(found?.rows[1]?.deviation).toBeCloseTo(0.03);
    expect(noiseOfPlan(plan, stored)).toEqual({
      deviations: { low: expect.closeTo(0.02), high: expect.closeTo(0.03) },
      isOfOthers: true,
    });
    expect(noiseOfPlan(planOf(['a', 'b']), stored)?.isOfOthers).toBe(false);
    expect(foreseePower(plan, [])).toBeUndefined();
  });

  it('counts the time of a target only until it has probably left', () => {
    const plan = planOf(['a', 'b', 'c']);
    const first = plan.trials.filter(({ round }) => round === 1);
    const [all, two] = [
      estimateSeconds(plan, first),
      estimateSeconds(
        plan,
        first.filter(({ target }) => target !== 'b'),
      ),
    ];
    const rows = [
      { ...noise(0.01, 'b'), rounds: 12, measured: 0 },
      { ...noise(0.02, 'c'), rounds: 18, measured: 0 },
    ];
    expect(secondsUntil(plan, rows)).toBeCloseTo(12 * all + 6 * two);
    expect(secondsUntil(plan, rows, 12)).toBeCloseTo(6 * two);
    expect(secondsUntil(plan, rows, 18)).toBe(0);
  });
});

describe('the differences that a plan finds', () => {
  const sought = { by: 'cpu', threshold: 0.02, finding: 'verdict' } as const;

  it('are those of the comparison with the most noise', () => {
    const plan = samplePlan('--connections 10 --rounds 12', ['a', 'b', 'c']);
    const stored = noiseOf({ plan, trials: measure({ b: 0.01, c: 0.03 }, 40) }, 'cpu');
    const [quiet, loud] = stored;
    const both = foreseeReach(plan, stored, sought);
    const only = (one: typeof quiet) => foreseeReach(plan, one === undefined ? [] : [one], sought);
    expect(both).toEqual(only(loud));
    expect(both?.rows).toBe(2);
    expect(only(quiet)?.found[0]?.difference).toBeLessThan(both?.found[0]?.difference ?? 0);
  });

  it('are larger if a budget ends the run before, and unknown without stored noise', () => {
    const plan = planOf(['a', 'b']);
    const stored = noiseOf({ plan, trials: measure({ b: 0.03 }, 40) }, 'cpu');
    const within = (line: string) =>
      foreseeReach(planOf(['a', 'b'], `--looks 12/18/24 ${line}`), stored, sought)?.found[0]?.difference ?? 0;
    // A round of two trials takes 14 s.
    expect(within('--budget 115s')).toBeGreaterThan(within('--budget 10m') + 0.01);
    expect(foreseeReach(plan, [], sought)).toBeUndefined();
  });
});

it('an open comparison needs more rounds the more it varies', () => {
  const plan = planOf(['a', 'b', 'c']);
  const trials = measure({ b: 0.03, c: 0.09 }, 12);
  const [quiet, loud] = foreseeOpen({ plan, trials }, [noise(0, 'b'), noise(0, 'c')]);
  expect(quiet?.measured).toBe(12);
  expect(quiet?.rounds).toBeGreaterThan(12);
  expect(loud?.rounds).toBeGreaterThan(3 * (quiet?.rounds ?? 0));
});
