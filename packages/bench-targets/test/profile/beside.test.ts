import { expect, it } from 'vitest';
import { besideServer } from '../../src/profile/beside.ts';

it.runIf(process.platform === 'linux')('a sampler runs on the cores of its server', async () => {
  const { words, isStill } = await besideServer(process.pid);
  const [cores = ''] = words.slice(-1);
  expect(words.slice(-3)).toEqual(['taskset', '-c', cores]);
  expect(isStill).toBe(/^\d+$/.test(cores));
});
