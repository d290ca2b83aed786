import { estimateSeconds } from 'bench-model/planned';
import { describeTurns } from 'bench-report/plan';
import { describe, expect, it } from 'vitest';
import { fitTurns } from '../../src/plan/by-turns.ts';
import { areSlow, repeatPlan, type Found } from '../../src/plan/plan.ts';
import { samplePlan, sampleTurns } from '../../../bench-lab/testing/samples.ts';

const duel = (line = '') => sampleTurns(`--connections 10 --threshold 2% ${line}`, ['a', 'b']);

/** The same plan, made after its servers were tried. */
const after = (plan: ReturnType<typeof duel>, found: Found) => repeatPlan(plan, plan, found);
const fitAnswers = (plan: ReturnType<typeof duel>, answerSeconds: number) => after(plan, { answerSeconds });

describe('a plan for servers that are slow to answer', () => {
  it('keeps its turns if they hold two responses, and lengthens windows to five', () => {
    for (const seconds of [0, 0.0004, 0.02, 0.1]) {
      expect(fitAnswers(duel(), seconds)).toEqual(duel());
      expect(areSlow(duel(), seconds)).toBe(false);
    }
    expect(areSlow(duel(), 0.4)).toBe(true);
    const fitted = fitAnswers(duel(), 0.4);
    expect(fitted).toEqual({ ...duel(), answerSeconds: 0.4, windowSeconds: 2 });
    expect(fitted.trials.every((trial) => trial.duel !== undefined)).toBe(true);
  });

  it('measures one server at a time if a turn does not hold two responses', () => {
    const fitted = fitAnswers(duel(), 3.004);
    expect(fitted).toMatchObject({
      answerSeconds: 3,
      windowSeconds: 15,
      warmupSeconds: 3,
      timeoutSeconds: 15,
    });
    expect(fitted.byTurns).toBeUndefined();
    expect(fitted.trials).toHaveLength(duel().trials.length);
    expect(fitted.trials.every((trial) => trial.duel === undefined)).toBe(true);
    // Start, verification, warm-up and window wait for responses.
    expect(estimateSeconds(fitted) / fitted.trials.length).toBeGreaterThan(30);
  });

  it('measures one server at a time if connections would be idle for too long between their turns', () => {
    const line = '--connections 10,1000 --threshold 2%';
    const fitted = fitAnswers(sampleTurns(line, Array.from('abcde')), 0.02);
    expect(fitted.byTurns?.rungs).toEqual([10]);
    expect(describeTurns(fitted)).toContain(
      'one server at a time at 1,000 connections: their responses are too slow for turns',
    );
    expect(fitAnswers(sampleTurns(line, Array.from('abcd')), 0.02).byTurns?.rungs).toEqual([10, 1000]);
  });

  it('keeps what the user gave more time', () => {
    const planned = duel('--warmup 5 --duration 20 --timeout 40');
    expect(fitAnswers(planned, 3)).toMatchObject({ windowSeconds: 20, warmupSeconds: 5, timeoutSeconds: 40 });
  });

  it('leaves alone what waits by design, and a fixed amount of requests', () => {
    const waiting = samplePlan('--connections 10 --workload wait', ['vanilla']);
    expect(fitAnswers(waiting, 3)).toEqual(waiting);
    const amount = samplePlan('--connections 10 --amount 1000', ['vanilla']);
    expect(fitAnswers(amount, 3)).toEqual(amount);
  });

  it('counts on the time that its servers took to start', () => {
    expect(after(duel(), { startupSeconds: 2.9 })).toEqual(duel());
    const fitted = after(duel(), { startupSeconds: 17.04 });
    expect(fitted).toEqual({ ...duel(), startupSeconds: 17 });
    // The servers of a round start at the same time.
    expect(estimateSeconds(fitted) - estimateSeconds(duel())).toBeCloseTo(14 * duel().rounds, 6);
  });

  it.each([
    [0, true],
    [0.5, true],
    [0.51, false],
  ])('answers of %d s fit turns: %s', (seconds, fits) => {
    expect(fitTurns(seconds)).toBe(fits);
  });
});
