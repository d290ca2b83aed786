import type { Control } from 'bench-model/measured';
import { estimateSeconds } from 'bench-model/planned';
import { measuredOf } from 'bench-model/trial';
import type { PinnedCommands } from 'bench-machine/placement';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/measure/run.ts';
import { samplePlan, sampleTurns } from '../../../bench-lab/testing/samples.ts';
import { createWorld, prepareFor } from './world.ts';

const placed: PinnedCommands = {
  placement: { kind: 'separate', server: [1], generator: [0] },
  server: [],
  generator: [],
};

/** The orders of a round: what is used already, in the turns, and between them. */
const BETWEEN = 2;

/** Measures one round with a helper whose orders of these places are missed by the meter of the server. */
async function measure({ misses = [], ends = false }: { misses?: number[]; ends?: boolean } = {}) {
  const plan = {
    ...sampleTurns('--rounds 1 --connections 10 --duration 0.12'),
    control: { share: 0.02, targets: ['vanilla'] },
  };
  const world = createWorld({ turns: true });
  let [orders, used, open] = [0, 40_000, 0];
  const startBurner = async ({ port }: { port: number }) => {
    open++;
    return {
      async burn(us: number) {
        if (ends) throw new Error('the helper has ended');
        if (orders === BETWEEN) await world.effects.clock.pause(0.003);
        used += us;
        if (!misses.includes(orders++)) world.spend(port, us);
        return used;
      },
      async [Symbol.asyncDispose]() {
        open--;
      },
    };
  };
  const effects = { ...world.effects, startBurner };
  const trials = await run(plan, { placed, prepared: prepareFor(plan), before: [] }, effects);
  const found = new Map(trials.map((trial) => [trial.target.id, measuredOf(trial)]));
  return { world, trials, open, own: found.get('vanilla'), other: found.get('fastify') };
}

/** In 6 turns of 1,000 responses, 2 % of 10 ms in each are burnt, half of it in turns. */
const READ: Control = {
  turns: { plainUs: 10, plantedUs: 10.1, burntUs: 0.1 },
  between: { plainUs: 0, plantedUs: 0.1, burntUs: 0.1 },
};

describe('a control', () => {
  it('is planted into further turns of the baseline, and no other figure includes them', async () => {
    const { own, other, open, world } = await measure();
    const { turns = {}, between = {} } = own?.control ?? {};
    for (const [found, right] of [
      [turns, READ.turns],
      [between, READ.between],
    ] as const)
      for (const [name, us] of Object.entries(right)) expect(found).toHaveProperty(name, expect.closeTo(us));
    expect(other).not.toHaveProperty('control');
    expect(own?.turns?.cpuUs).toEqual(Array(6).fill(10_000));
    expect(own?.turns?.answers).toEqual(other?.turns?.answers);
    expect(own?.cpuUsPerRequest).toBe(other?.cpuUsPerRequest);
    expect(open).toBe(0);
    // What burning adds to a rest is added to one without it too.
    expect(world.done.filter((what) => what === 'pause 0.005')).toHaveLength(1);
    // The load of both is read before.
    const last = world.done.findLastIndex((what) => what.startsWith('collect'));
    expect(world.done.slice(last).filter((what) => what.startsWith('turn'))).toHaveLength(12);
  });

  it('shows a meter that misses what is done between turns', async () => {
    const { own } = await measure({ misses: [BETWEEN] });
    expect(own?.control?.turns.plantedUs).toBeCloseTo(10.1);
    expect(own?.control?.between).toMatchObject({ plantedUs: 0, burntUs: expect.closeTo(0.1) });
  });

  it('takes nothing from a trial if its helper ends', async () => {
    const { trials, own, open } = await measure({ ends: true });
    expect(trials.map(({ status }) => status)).toEqual(['ok', 'ok']);
    expect(own).not.toHaveProperty('control');
    expect(open).toBe(0);
  });
});

const planOf = (words: string) => sampleTurns(`--connections 10 ${words}`);

describe('the plan of a control', () => {
  it('plants the threshold into the baselines of a run until decided', () => {
    expect(planOf('--threshold 2%').control).toEqual({ share: 0.02, targets: ['vanilla'] });
    expect(planOf('--threshold 1%').control?.share).toBe(0.01);
  });

  it.each(['--threshold 2% --no-control', '--by memory', '--rounds 6'])('has none with %s', (words) =>
    expect(planOf(words)).not.toHaveProperty('control'),
  );

  it('has none without turns', () => {
    expect(samplePlan('--threshold 2% --no-interleave', ['a', 'b'])).not.toHaveProperty('control');
  });

  it('is refused where a run has none', () => {
    expect(() => planOf('--rounds 6 --no-control')).toThrow(/--no-control/);
  });

  it('takes at most a fifth of the time', () => {
    for (const words of ['', ' --duration 0.5', ' --duration 3']) {
      const [plain, own] = [' --no-control', ''].map((more) =>
        estimateSeconds(planOf(`--threshold 2%${words}${more}`)),
      ) as [number, number];
      expect(own).toBeGreaterThan(plain);
      expect((own - plain) / own).toBeLessThan(0.2);
    }
  });
});
