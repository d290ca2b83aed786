import { describe, expect, it } from 'vitest';
import { readVerdict } from '../../src/commands/projects.ts';

const failed = { status: 'failed', reasons: [{ code: 'trial', text: 'it ended with exit status 2' }] };
const ok = { status: 'ok', reasons: [] };
const row = (verdict: string): object => ({
  comparison: {
    verdict,
    why: 'wide',
    rounds: 12,
    unbounded: 0,
    ratio: { estimate: 1.01, interval: { low: 0.99, high: 1.02 } },
  },
});
const run = (trials: object[], rows: object[]): string =>
  JSON.stringify({
    trials,
    comparisons: [
      { by: 'goodput', rows: [] },
      { by: 'cpu', rows },
    ],
  });

describe('the outcome of a project', () => {
  it('is the verdict of its comparison, which an undecided one is not', () => {
    expect(readVerdict(run([ok, ok], [row('same')]))).toMatchObject({
      verdict: expect.stringMatching(/^same: \+1/),
      isRight: true,
    });
    expect(readVerdict(run([ok, ok], [row('undecided')])).isRight).toBe(false);
  });

  it('is the reason of the first failed trial if all failed', () => {
    const reason = { verdict: 'it ended with exit status 2', isRight: false };
    expect(readVerdict(run([failed, failed], []), 'node failed with exit status 1')).toEqual(reason);
  });

  it('is the error of a run without trials', () => {
    expect(readVerdict('', 'port 3000 is taken')).toEqual({ verdict: 'port 3000 is taken', isRight: false });
  });
});
