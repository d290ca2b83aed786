import { describe, expect, it } from 'vitest';
import { compareStored } from '../../src/commands/compare.ts';

const compare = (...runs: string[]) =>
  compareStored({ runs, force: false, question: { by: 'cpu', threshold: 0.02 } });

describe('two runs that differ', () => {
  it('in one factor are refused with the option that declares it', () => {
    expect(() => compare('20261122-014714-wait', '20261122-014908-wait')).toThrow(
      expect.objectContaining({
        message: 'the runs are unlike: engine: threads and aiohttp',
        hint: '--across engine declares that they may differ in this; --force compares anyway and marks the output',
      }),
    );
  });

  it('in anything else are refused with the way to force it', () => {
    expect(() => compare('20261123-185935-devices', '20261123-192645-devices')).toThrow(
      expect.objectContaining({
        message: 'the runs are unlike: connections: 10 and 100',
        hint: '--force compares anyway and marks the output',
      }),
    );
  });
});
