import { describe, expect, it } from 'vitest';
import COMPARE, { compareStored } from '../../src/commands/compare.ts';
import { runHere } from '../cli/cli.ts';

const compare = (...runs: string[]) => compareStored(runs);

describe('two runs that differ', () => {
  it('in one factor are refused with the option that declares it', () => {
    expect(() => compare('20261123-202155-wait', '20261123-202329-wait')).toThrow(
      expect.objectContaining({
        message: 'the runs are unlike: engine: threads and aiohttp',
        hint: '--across engine declares that they may differ in this; --force compares anyway and marks the output',
      }),
    );
  });

  it('in anything else are refused with the way to force it', () => {
    expect(() => compare('20261123-202155-wait', '20261123-202600-asyncwait')).toThrow(
      expect.objectContaining({
        message: 'the runs are unlike: workload: wait and asyncwait',
        hint: '--force compares anyway and marks the output',
      }),
    );
  });
});

/** Published runs of one plan and the same code, on one day. */
const EQUAL = [
  '20261123-130242-devices',
  '20261123-185935-devices',
  '20261123-190629-devices',
  '20261123-191639-devices',
];

const PAIRS = EQUAL.flatMap((old, index) => EQUAL.slice(index + 1).map((now) => [old, now] as const));

describe('two runs of identical code', () => {
  it.each(PAIRS)('have ratios, but no verdict: %s and %s', async (old, now) => {
    const { status, stdout } = await runHere(COMPARE, [old, now]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/fastapi@3\.12 .* × \d\.\d{3}\s*$/m);
    expect(stdout).not.toMatch(/slower|faster|confidence/);
  });

  it('cannot fail a job: both sides must be in one run', async () => {
    const [old, now] = PAIRS[4]!;
    const { status, stderr } = await runHere(COMPARE, [old, now, '--fail-on', 'slower']);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: [
        'error: --fail-on needs one run that holds both sides: two runs of different times have no verdict',
        `       measure both sides in one run: pnpm compare main HEAD --fail-on slower, or pnpm bench:ci`,
        '',
      ].join('\n'),
    });
  });
});

describe('--fail-on', () => {
  it.each([
    ['faster', 1, '--fail-on: found faster\n'],
    ['faster,slower', 1, '--fail-on: found faster\n'],
    // The run has two that are slower, but not by their whole interval.
    ['slower', 0, ''],
  ])('%s ends with exit code %i', async (verdicts, status, stderr) => {
    const ended = await runHere(COMPARE, [EQUAL[0]!, '--fail-on', verdicts]);
    expect(ended.stdout).toMatch(/ slower: [^]* faster: /);
    expect(ended).toMatchObject({ status, stderr });
  });
});
