import { expect, it } from 'vitest';
import type { Prepared } from 'bench-targets/prepare/prepare';
import { Profiles } from '../../src/conduct/profiles.ts';
import type { TakenProfile } from '../../src/measure/profile.ts';
import type { Voice } from '../../src/terminal/voice.ts';
import { sampleStack, sampleTarget } from '../../../bench-lab/testing/samples.ts';

const VOICE = { log: () => {} } as unknown as Voice;
const TAKEN: TakenProfile = {
  cpuUs: 100,
  profiledUs: 120,
  perRequest: { threads: 1 },
  stacks: [{ frames: [{ name: 'work', file: 'app.js', module: 'app' }], samples: 50 }],
};

it('goes on without a profiler that fails too often, and then without the target', async ({ skip }) => {
  skip(process.platform !== 'linux', 'needs Linux: Bench profiles servers only there');
  const prepared = { stack: sampleStack('app'), target: sampleTarget('app') } as Prepared;
  const profiles = new Profiles();
  await profiles.find([prepared], VOICE);
  const found = profiles.of('app')!;
  expect(found.profiler?.name).toBe("V8's CPU profiler");
  profiles.add('app', found, TAKEN);
  expect(profiles.sides[0]).toMatchObject({ profiler: "V8's CPU profiler", profiles: [{ samples: [50] }] });

  const words = Array.from({ length: 4 }, () => profiles.fail('app', 'it did not respond'));
  expect(words).toEqual([true, true, true, false]);
  expect(profiles.missing).toEqual([{ target: 'app', reason: 'it did not respond' }]);
  // What a request takes stays; the stacks of the profiles so far say nothing without those of the others.
  const bare = { cpuUs: TAKEN.cpuUs, perRequest: TAKEN.perRequest, nodes: [], samples: [] };
  expect(profiles.of('app')).toEqual({ one: prepared });
  profiles.add('app', profiles.of('app')!, { ...TAKEN, stacks: [] });
  expect(profiles.sides).toEqual([{ target: 'app', profiles: [bare, bare] }]);

  for (let more = 0; more < 3; more++) profiles.fail('app', 'it has died');
  expect(profiles.of('app')).toBeUndefined();
  expect(profiles.missing).toEqual([{ target: 'app', reason: 'it did not respond' }]);
});
