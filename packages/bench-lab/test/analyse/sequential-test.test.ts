import { describe, expect, it } from 'vitest';
import { scheduleNamed } from 'bench-targets/catalogue/looks';
import { exactly } from 'bench-analysis/differences';
import { replayTest } from '../../testing/replay.ts';

const RULES = { schedule: scheduleNamed('12/18/24'), better: 'lower', threshold: 0.02 } as const;

const even = (rounds: number, centre: number): number[] =>
  Array.from({ length: rounds }, (_, i) => centre + 0.001 * ((i % 5) - 2));

describe('replayTest', () => {
  it('stops at the first look with a verdict', () => {
    expect(replayTest(exactly(even(24, 0.05)), RULES)).toMatchObject({ verdict: 'slower', rounds: 12 });
    const late = [...even(12, 0.05).map((d, i) => (i % 4 ? d : -0.5 * d)), ...even(12, 0.05)];
    expect(replayTest(exactly(late), RULES)).toMatchObject({ verdict: 'slower', rounds: 18 });
  });

  it('looks where the rounds end, from six on, and nowhere else between the looks', () => {
    expect(replayTest(exactly(even(5, 0.05)), RULES)).toMatchObject({ verdict: 'undecided', rounds: 5 });
    expect(replayTest(exactly(even(11, 0.05)), RULES)).toMatchObject({ verdict: 'slower', rounds: 11 });
    expect(replayTest(exactly(even(15, 0.05)), RULES)).toMatchObject({ verdict: 'slower', rounds: 12 });
    const late = [...even(12, 0.05).map((d, i) => (i % 4 ? d : -0.5 * d)), ...even(5, 0.05)];
    expect(replayTest(exactly(late), RULES)).toMatchObject({ verdict: 'slower', rounds: 17 });
  });
});
