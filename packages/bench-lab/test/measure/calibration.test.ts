import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  calibrate,
  latencyOfStalls,
  measureTwins,
  planScenario,
  plantScenarios,
  SCENARIOS,
  serversOf,
} from '../../src/measure/calibration.ts';
import type { CalibrationRound, Scenario, TwinScenario } from 'bench-model/calibration';
import type { Trial } from 'bench-model/record';
import { sampleResources, sampleStack } from '../../testing/samples.ts';
import { PLACED } from '../../../bench/test/measure/one-trial.ts';
import { createWorld, prepareFor, type Twist } from '../../../bench/test/measure/world.ts';

const LOOKS = [{ rounds: 10 }, { rounds: 15 }, { rounds: 20 }];
const round: CalibrationRound = { kind: 'failed', host: {}, disturbances: [], why: '' };
const [first, second] = SCENARIOS as [Scenario, Scenario];

/** Measures scenarios that are settled after this many rounds. Returns the orders in which rounds were asked for. */
async function orders(
  settled: Record<string, number>,
  isOver: (orders: number) => boolean = () => false,
): Promise<string[]> {
  const taken: string[] = [];
  await calibrate([first, second], LOOKS, {
    async measure({ name }, rounds) {
      taken.push(`${name}: ${rounds}`);
      return Array.from({ length: rounds }, () => round);
    },
    isSettled: ({ name }, rounds) => rounds.length >= (settled[name] ?? 0),
    isOver: () => isOver(taken.length),
  });
  return taken;
}

describe('a calibration', () => {
  it('ends after the first look if all is settled', async () => {
    expect(await orders({})).toEqual([`${first.name}: 10`, `${second.name}: 10`]);
  });

  it('repeats only what is unsettled, after all other scenarios', async () => {
    expect(await orders({ [first.name]: 15 })).toEqual([
      `${first.name}: 10`,
      `${second.name}: 10`,
      `${first.name}: 5`,
    ]);
  });

  it('gives up after the last look', async () => {
    expect(await orders({ [second.name]: Infinity })).toEqual([
      `${first.name}: 10`,
      `${second.name}: 10`,
      `${second.name}: 5`,
      `${second.name}: 5`,
    ]);
  });

  it('ends with its budget, and keeps the rounds so far', async () => {
    expect(await orders({ [second.name]: Infinity }, (count) => count >= 3)).toHaveLength(3);
    const rounds = await calibrate([first, second], LOOKS, {
      measure: async () => [round],
      isSettled: () => true,
      isOver: () => true,
    });
    expect([...rounds]).toEqual([
      [first.name, []],
      [second.name, []],
    ]);
  });

  it('takes up where a failed scenario stopped', async () => {
    const counts: number[] = [];
    await calibrate([first], LOOKS, {
      async measure(_, rounds) {
        counts.push(rounds);
        return [round];
      },
      isSettled: () => false,
      isOver: () => false,
    });
    expect(counts).toEqual([10, 14, 18]);
  });
});

describe('the planted stack of a calibration', () => {
  it('has one variant for each server, with its faults', () => {
    const planted = sampleStack('planted', { steady: {}, threads: { command: ['python3'] } });
    const { variants } = plantScenarios(planted);
    expect(Object.keys(variants)).toHaveLength(SCENARIOS.flatMap(serversOf).length);
    expect(variants['5-ms-at-1']?.command.slice(-2)).toEqual(['--delay-ms', '5']);
    expect(variants['100-ms-stalls-at-1000-s']?.command.slice(-4)).toEqual([
      '--stall-every',
      '250',
      '--stall-ms',
      '100',
    ]);
    expect(variants['threads-burn']?.command).toEqual(['python3', '--burn-us', '1000']);
  });
});

describe('the latency of stalls', () => {
  it('has 50 s as p75 if the server stalls for 100 of 200 s', () => {
    expect(latencyOfStalls({ everyMs: 200_000, ms: 100_000, percentile: 75 })).toBe(50e6);
    expect(latencyOfStalls({ everyMs: 200_000, ms: 100_000, percentile: 50 })).toBe(0);
  });

  it.each(SCENARIOS.flatMap((one) => (one.kind === 'latency' && one.stalls ? [one] : [])))(
    'is what requests at the rate of $name wait',
    ({ rate = 0, stalls }) => {
      const { everyMs, ms, percentile } = stalls!;
      const waits = Array.from({ length: 500 }, (_, index) => {
        const into = ((index * 1000) / rate + 17) % everyMs;
        return into < ms ? ms - into : 0;
      }).toSorted((a, b) => a - b);
      const waited = waits[Math.ceil((percentile / 100) * waits.length) - 1];
      // Requests are due every 1000 / rate ms.
      expect(Math.abs(latencyOfStalls(stalls!) / 1000 - (waited ?? 0))).toBeLessThanOrEqual(1000 / rate);
    },
  );
});

describe('fresh twins', () => {
  const scenario = SCENARIOS.find(({ name }) => name === 'burn') as TwinScenario;
  const stack = plantScenarios(sampleStack('planted', { steady: {}, threads: {} }));
  const plan = planScenario(scenario, stack, { run: '20261123-000000-calibration', seed: 1, rounds: 2 });
  let readings = 0;
  let accounts: Server;
  let attest: { accountPort: number };

  beforeAll(async () => {
    accounts = createServer((_request, response) => {
      readings++;
      response.end(JSON.stringify({ burn: { burns: readings, burnedUs: 0 } }));
    });
    await new Promise<void>((resolve) => {
      accounts.listen(0, '127.0.0.1', resolve);
    });
    attest = { accountPort: (accounts.address() as AddressInfo).port };
  });
  afterAll(() => accounts.close());

  async function measure(twist: Twist = {}) {
    const world = createWorld({ turns: true, attestations: () => [attest], ...twist });
    const recorded: Trial[] = [];
    const context = {
      plan,
      placed: PLACED,
      prepared: prepareFor(plan),
      effects: world.effects,
      record: (trials: Trial[]) => void recorded.push(...trials),
    };
    return { measured: await measureTwins(scenario, 2, context), recorded };
  }

  it('asks for the same rate one after the other, and measures the trials of its round', async () => {
    expect(plan).toMatchObject({ load: { mode: 'open', perSecond: scenario.rate } });
    expect(plan.trials.every(({ duel }) => duel === undefined)).toBe(true);
    const { recorded } = await measure();
    expect(recorded.map(({ round: number }) => number)).toEqual([2, 2]);
  });

  it('reads the account of each twin before and after its load', async () => {
    readings = 0;
    const { measured } = await measure();
    if (measured.kind !== 'twins') throw new Error(`it is ${JSON.stringify(measured)}`);
    const seen = [measured.plain, measured.planted].map(({ before, after }) => [
      before.burn.burns,
      after.burn.burns,
    ]);
    // One twin is read to its end before the other starts.
    expect(new Set(seen.map(([before = 0, after = 0]) => after - before))).toEqual(new Set([1]));
    expect(new Set(seen.flat())).toEqual(new Set([1, 2, 3, 4]));
    expect(measured.plain.trial.target.variant).toBe('no-burn');
    expect(measured.planted.trial.target.variant).toBe('burn');
    expect(measured.disturbances).toEqual([]);
  });

  it('names what the machine did meanwhile', async () => {
    const sampled = { server: sampleResources(0.5), host: { stealCores: 0.4, otherProcessesCores: 0.02 } };
    const { measured } = await measure({ sampled });
    expect(measured).toMatchObject({
      kind: 'twins',
      host: { stealCores: 0.4 },
      disturbances: [{ code: 'steal' }],
    });
  });

  it('gives no figures if a twin fails', async () => {
    const { measured, recorded } = await measure({
      at: {
        launch: (count) => {
          if (count === 2) throw new Error('it does not start');
        },
      },
    });
    expect(measured).toMatchObject({ kind: 'failed', why: expect.stringContaining('it does not start') });
    expect(recorded).toHaveLength(2);
  });
});
