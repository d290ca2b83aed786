import { describe, expect, it } from 'vitest';
import type { Spans } from 'bench-model/load';
import { okTrial, sampleLoad, sampleMeasured } from '../../bench-lab/testing/samples.ts';
import { summariseBurst } from '../src/burst.ts';

const FAST = 64;
const SLOW = 160;
const load = { mode: 'open', perSecond: 500, burst: { times: 5, seconds: 2 } } as const;

/** A window of 16 s in spans of 250 ms; the burst is from 4 s to 6 s, and answers are slow until `slowUntil`. */
function trialWith(slowUntil: number) {
  const length = 64;
  const isSlow = (span: number): boolean => span >= 16 && span < 4 * slowUntil;
  const spans: Spans = {
    milliseconds: 250,
    latencies: Array.from({ length }, (_, span) => [isSlow(span) ? SLOW : FAST, 1000]),
    failed: Array.from({ length }, (_, span) => (span === 20 ? 3 : 0)),
    open: Array.from({ length }, (_, span) => (isSlow(span) ? 900 : 2)),
  };
  return okTrial(
    'vanilla',
    { ...sampleMeasured(), load: { ...sampleLoad(), windowSeconds: 16, spans } },
    { load },
  );
}

describe('a burst', () => {
  it('tells how long after its end latency was as usual, what failed, and how many requests were open', () => {
    expect(summariseBurst([trialWith(7.5)])).toEqual({
      times: 5,
      seconds: 2,
      perSecond: 500,
      p99: 2 ** (SLOW / 8),
      backSeconds: 1.5,
      failed: 3,
      mostOpen: 900,
    });
  });

  it('ends at once if latency stayed as usual', () => {
    expect(summariseBurst([trialWith(0)])?.backSeconds).toBe(0);
  });

  it('has no end if latency was not back in most trials', () => {
    expect(summariseBurst([trialWith(16), trialWith(16), trialWith(7)])).not.toHaveProperty('backSeconds');
  });

  it('is not there without one', () => {
    expect(summariseBurst([okTrial('vanilla', sampleMeasured())])).toBeUndefined();
  });
});
