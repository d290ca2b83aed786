import { expect, it } from 'vitest';
import { isHopeless } from '../../src/conduct/measure.ts';
import type { Trial } from 'bench-model/record';

const plan = { targets: [{ id: 'old' }, { id: 'new' }] } as Parameters<typeof isHopeless>[0];
const rounds = (statuses: Record<string, Trial['status'][]>) =>
  Object.entries(statuses).flatMap(([id, own]) =>
    own.map((status) => ({ status, target: { id } as Trial['target'] })),
  );

it('gives up when each trial of every target failed three times, and not before', () => {
  const failed = Array.from({ length: 3 }, () => 'failed' as const);
  expect(isHopeless(plan, rounds({ old: failed, new: failed }))).toBe(true);
  expect(isHopeless(plan, rounds({ old: failed, new: failed.slice(1) }))).toBe(false);
  expect(isHopeless(plan, rounds({ old: failed, new: [...failed, 'suspect'] }))).toBe(false);
  expect(isHopeless(plan, [])).toBe(false);
});
