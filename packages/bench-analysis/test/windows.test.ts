/**
 * The default length of each side of a round of `--threshold 2%`. Longer windows make a round more precise,
 * shorter ones make more rounds of fresh processes. The simulation has the deviations that were recorded: 1.5 % between
 * processes of one program, and 0.5 (quiet) or 1.4 % (busy) in 2 s of turns.
 */
import { exactly } from '../src/differences.ts';
import { describe, expect, it } from 'vitest';
import { countVerdicts } from '../../bench-lab/testing/replay.ts';
import { scheduleNamed } from 'bench-targets/catalogue/looks';
import { createRandom } from 'bench-statistics/random';
import { sampleTurns } from '../../bench-lab/testing/samples.ts';

const PROCESSES = 0.015;
const TURNS = { quiet: 0.005, busy: 0.014 };
const WARMUP_SECONDS = 2;
/** Start, verification and stop of both servers, in seconds. */
const OVERHEAD_SECONDS = 1.7;
/** Orders, and the beginning of each turn. */
const TURN_OVERHEAD = 1.15;
const TESTS = 200;

/** A difference, the threshold of the test, and the verdict that is right. */
const QUESTIONS = [
  { effect: 0.03, threshold: 0.02, right: 'slower' },
  { effect: 0.015, threshold: 0.01, right: 'slower' },
  { effect: 0, threshold: 0.02, right: 'same' },
] as const;

/** The mean time of tests with these windows ÷ the share of them that are right: the time that a right verdict takes. */
function secondsPerVerdict(
  windowSeconds: number,
  turns: number,
  { effect, threshold, right }: (typeof QUESTIONS)[number],
): number {
  const random = createRandom(5);
  const sd = Math.hypot(PROCESSES, turns * Math.sqrt(2 / windowSeconds));
  const schedule = scheduleNamed('12/18/24');
  const { verdicts, meanRounds } = countVerdicts({ schedule, better: 'lower', threshold, tests: TESTS }, () =>
    exactly(Array.from({ length: 24 }, () => Math.log(1 + effect) + sd * random.normal())),
  );
  const roundSeconds = OVERHEAD_SECONDS + 2 * (WARMUP_SECONDS + TURN_OVERHEAD * windowSeconds);
  return (meanRounds * roundSeconds) / verdicts[right];
}

/** The geometric mean over the questions, on a quiet and on a busy machine. */
function costOf(windowSeconds: number): { quiet: number; busy: number } {
  const over = (turns: number): number =>
    QUESTIONS.reduce((product, one) => product * secondsPerVerdict(windowSeconds, turns, one), 1) **
    (1 / QUESTIONS.length);
  return { quiet: over(TURNS.quiet), busy: over(TURNS.busy) };
}

describe('the default window of a duel until it is decided', () => {
  const { windowSeconds } = sampleTurns('--threshold 2%');
  const usual = costOf(windowSeconds);

  it('takes less time per verdict than 2 s, on any machine', () => {
    const long = costOf(2);
    expect(usual.quiet).toBeLessThan(0.9 * long.quiet);
    expect(usual.busy).toBeLessThan(long.busy);
  });

  it('takes less than 0.5 s on a busy machine, and hardly more on a quiet one', () => {
    const short = costOf(0.5);
    expect(usual.busy).toBeLessThan(0.9 * short.busy);
    expect(usual.quiet).toBeLessThan(1.15 * short.quiet);
  });
});
