import type { Control, Measured } from 'bench-model/measured';
import type { PlannedTrial } from 'bench-model/plan';
import { measuredOf } from 'bench-model/trial';
import { tryCgroup } from 'bench-machine/cgroup';
import { beforeAll, describe, expect, it } from 'vitest';
import { sum } from 'bench-statistics/numbers';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { makePlan } from 'bench-http/plan/plan';
import { openRig, PLANTED } from './rig.ts';
import { parseBench } from '../../testing/samples.ts';

const rig = openRig();
const hasCgroup = (await tryCgroup()).version !== undefined;

type Mode = 'by turns' | 'one after the other';

/** Measures planted servers with these options in one round, by turns or one after the other. */
async function measure(mode: Mode, servers: Record<string, string>): Promise<Record<string, Measured>> {
  const stack = readManifest(PLANTED);
  const { steady } = stack.variants;
  if (steady === undefined) throw new Error('the planted stack has no variant "steady"');
  const variants = Object.fromEntries(
    Object.entries(servers).map(([name, options]) => [
      idOf(name),
      { ...steady, command: [...steady.command, ...options.split(' ')] },
    ]),
  );
  const stacks = [{ ...stack, variants: { ...stack.variants, ...variants } }];
  const targets = Object.keys(servers).map((name) => `planted/${idOf(name)}`);
  const options = parseBench([
    ...targets,
    ...`--rounds 1 --connections 5 --warmup 0.3 --duration 0.6`.split(' '),
  ]);
  const seen = await rig.measureAll(
    makePlan({ ...options, interleave: mode === 'by turns' }, stacks, 'known', 1),
    stacks,
  );
  return Object.fromEntries(
    Object.keys(servers).flatMap((name) => {
      const trial = seen.find((one) => one.trial.target.variant === idOf(name))?.trial;
      if (trial === undefined || trial.status === 'failed') throw new Error(trial?.reasons[0]?.text ?? name);
      return [[name, trial.measured]];
    }),
  );
}

function idOf(name: string): string {
  return name.replaceAll(' ', '-');
}

/**
 * Without what is done between the turns, the ratio of those that do two thirds of their work 500 ms later would be 0.33;
 * with it twice, 1.67. What is burnt is much more than a message to a child costs.
 */
const SERVERS = {
  inline: '--burn-us 6000',
  'after 50 ms': '--burn-us 2000 --later-us 4000 --later-ms 50',
  'after 500 ms': '--burn-us 2000 --later-us 4000 --later-ms 500',
  'in a child': '--burn-us 2000 --later-us 4000 --later-ms 500 --later-in child',
};

describe.each([
  ['by turns', Object.keys(SERVERS)],
  ['one after the other', ['inline', 'in a child']],
] as [Mode, (keyof typeof SERVERS)[]][])('CPU per request %s', (mode, names) => {
  let measured: Record<string, Measured>;
  beforeAll(async () => {
    measured = await measure(mode, Object.fromEntries(names.map((name) => [name, SERVERS[name]])));
  });

  it.each(names.slice(1))('includes two thirds of the work of a response, done %s', (name) => {
    const [inline = Number.NaN, later = Number.NaN] = ['inline', name].map(
      (one) => measured[one]?.cpuUsPerRequest,
    );
    expect(later / inline).toBeGreaterThan(0.5);
    expect(later / inline).toBeLessThan(1.5);
    expect((measured[name]?.turns?.deferred ?? 0) > 0.05).toBe(mode === 'by turns');
  });
});

describe('CPU per request', () => {
  it('includes nothing of what a server uses between its turns without a cause', async () => {
    const { inline } = SERVERS;
    const { upkeep } = await measure('by turns', { inline, upkeep: `${inline} --upkeep-percent 20` });
    // About a third of its CPU is used between its turns.
    const { cpuUs = [], restsCpuUs = 0, deferred } = upkeep?.turns ?? {};
    expect(restsCpuUs / sum(cpuUs)).toBeGreaterThan(0.15);
    expect(deferred).toBeLessThan(0.15);
  });
});

describe.runIf(hasCgroup)('a control', () => {
  it('of half the cost is burnt in the accounting of a running server, and read back', async () => {
    const stack = readManifest(PLANTED);
    const options = parseBench(
      'planted/burns planted/delays-1-ms --connections 5 --warmup 0.6 --duration 1 --threshold 2%'.split(' '),
    );
    const plan = makePlan({ ...options, interleave: true }, [stack], 'known', 1);
    const [{ round }] = plan.trials as [PlannedTrial];
    const control = { share: 0.5, targets: ['planted/burns'] };
    const trials = plan.trials.filter((one) => one.round === round);
    const seen = await rig.measureAll({ ...plan, control, trials }, [stack]);
    const measured = seen.map(({ trial }) => measuredOf(trial)?.control);
    const [{ turns, between }] = measured.filter((one) => one !== undefined) as [Control];
    // A quarter each, of which a busy machine gives the helper less.
    expect(turns.burntUs / turns.plainUs).toBeGreaterThan(0.1);
    expect(between.burntUs / turns.plainUs).toBeGreaterThan(0.1);
    expect((between.plantedUs - between.plainUs) / between.burntUs).toBeGreaterThan(0.5);
    expect((turns.plantedUs - turns.plainUs) / turns.burntUs).toBeGreaterThan(0.5);
  });
});
