import { describe, expect, it } from 'vitest';
import { compareStored, runCompare } from '../../src/commands/compare.ts';
import { runHere } from '../cli/cli.ts';

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

/** Published runs of one plan and the same code, on one day. */
const EQUAL = ['130242', '185935', '190629', '191639'].map((time) => `20261123-${time}-devices`);

const PAIRS = EQUAL.flatMap((old, index) => EQUAL.slice(index + 1).map((now) => [old, now] as const));

describe('two runs of identical code', () => {
  it.each(PAIRS)('have ratios, but no verdict: %s and %s', async (old, now) => {
    const { status, stdout } = await runHere(runCompare, [old, now]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/fastapi@3\.12 .* × \d\.\d{3}\s*$/m);
    expect(stdout).not.toMatch(/slower|faster|confidence/);
  });

  it('cannot fail a job: both sides must be in one run', async () => {
    const [old, now] = PAIRS[4]!;
    const { status, stderr } = await runHere(runCompare, [old, now, '--fail-on', 'slower']);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: [
        'error: --fail-on needs one run that holds both sides: two runs of different times have no verdict',
        `       measure both sides in one run: pnpm bench --again ${old} --rev HEAD --fail-on slower, or pnpm bench:ci`,
        '',
      ].join('\n'),
    });
  });
});
