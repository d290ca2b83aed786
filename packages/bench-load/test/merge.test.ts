import { countCompletions } from 'bench-model/counts';
import { describe, expect, it } from 'vitest';
import { createHistogram, encodeHistogram, mergeHistograms } from 'bench-statistics/histogram';
import { mergeConnects, mergeReports, splitShares } from '../src/merge.ts';
import type { LoadReport } from '../src/protocol.ts';
import type { Counts } from 'bench-model/figures';
import { createRandom, type Random } from 'bench-statistics/random';
import { sampleCounts, sumOf } from '../../bench-lab/testing/samples.ts';

const connect = { planned: 10, established: 9, seconds: 0.5, refused: 1, retried: 2 };

function reportOf(given: Partial<LoadReport> = {}): LoadReport {
  const histogram = createHistogram();
  histogram.recordValue(100);
  return {
    connect: { planned: 5, established: 5, seconds: 0, refused: 0, retried: 0 },
    openedAtMs: 1000,
    closedAtMs: 6000,
    windowSeconds: 5,
    counts: sampleCounts({ ok: 100, inFlight: 5 }),
    lifetime: sampleCounts({ ok: 200 }),
    statusCodes: { 200: 100 },
    latencyHistogram: encodeHistogram(histogram),
    timing: undefined,
    cycleUs: { sum: 5000, count: 50 },
    silentConnections: 0,
    slices: { milliseconds: 250, ok: [50, 50] },
    bodyBytes: 541,
    bodiesHashed: 2,
    crossed: undefined,
    unsolicited: 0,
    schedule: undefined,
    use: { cpuUs: 1, seconds: 5, utilisation: 0.5 },
    ...given,
  };
}

function randomCounts(random: Random): Counts {
  const below = (n: number): number => random.below(n);
  const answered = { ok: below(5000), non2xx: below(50), mismatch: below(3) };
  const lost = { timeout: below(9), reset: below(9), closedEarly: below(9) };
  return sampleCounts({ ...answered, ...lost, inFlight: below(99) });
}

/** A histogram of these values. */
function encode(values: number[]): string {
  const histogram = createHistogram();
  for (const value of values) histogram.recordValue(value);
  return encodeHistogram(histogram);
}

describe('splitShares', () => {
  it('splits exactly, into shares that differ by at most one', () => {
    for (let total = 0; total <= 60; total++) {
      for (let parts = 1; parts <= 9; parts++) {
        const shares = splitShares(total, parts);
        expect(shares).toHaveLength(parts);
        expect(shares.reduce((sum, share) => sum + share)).toBe(total);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      }
    }
    expect(splitShares(10, 4)).toEqual([3, 3, 2, 2]);
  });
});

describe('mergeConnects', () => {
  it('adds up the connections and waits for the last', () => {
    expect(mergeConnects([connect, { ...connect, established: 10, seconds: 0.2, retried: 5 }])).toEqual({
      planned: 20,
      established: 19,
      seconds: 0.5,
      refused: 2,
      retried: 7,
    });
  });
});

const timing = (told: number[], rest: number[]) => ({
  metric: 'gather',
  told: encode(told),
  rest: encode(rest),
});

describe('mergeReports', () => {
  const random = createRandom(11);

  it('merges the times that the server reported', () => {
    const reports = [timing([300, 500], [100, 100]), undefined, timing([700], [400])].map((one) =>
      reportOf({ timing: one }),
    );
    expect(mergeReports(reports, connect, 10, 'autocannon').timing).toMatchObject({
      metric: 'gather',
      toldUs: { mean: 500, max: 700 },
      restUs: { mean: 200, max: 400 },
    });
    expect(mergeReports([reportOf()], connect, 10, 'autocannon')).not.toHaveProperty('timing');
  });

  it('adds the load before the window if every process reports it', () => {
    const [first, second] = [
      [10, 20],
      [1, 2, 3],
    ].map((ok) => ({ milliseconds: 50, ok, answers: 40 }));
    const merged = mergeReports(
      [reportOf({ warmup: first! }), reportOf({ warmup: second! })],
      connect,
      10,
      'autocannon',
    );
    expect(merged.warmup).toEqual({ milliseconds: 50, ok: [11, 22, 3], answers: 80 });
    const partly = mergeReports([reportOf({ warmup: first! }), reportOf()], connect, 10, 'autocannon');
    expect(partly).not.toHaveProperty('warmup');
  });

  it('adds the counts of the window and of the whole life', () => {
    for (let round = 0; round < 50; round++) {
      const reports = Array.from({ length: 1 + random.below(4) }, () =>
        reportOf({ counts: randomCounts(random), lifetime: randomCounts(random) }),
      );
      const { counts, lifetime } = mergeReports(reports, connect, 10, 'autocannon');
      expect(sumOf(counts)).toBe(counts.sent);
      expect(sumOf(lifetime)).toBe(lifetime.sent);
      expect(counts.sent).toBe(reports.reduce((sum, report) => sum + report.counts.sent, 0));
      expect(counts.closedEarly).toBe(reports.reduce((sum, report) => sum + report.counts.closedEarly, 0));
    }
  });

  it('adds rates of windows with different lengths', () => {
    const reports = [
      reportOf({ counts: sampleCounts({ ok: 1000, non2xx: 10, inFlight: 3 }), windowSeconds: 5 }),
      reportOf({ counts: sampleCounts({ ok: 1000, reset: 8 }), windowSeconds: 4 }),
    ];
    const load = mergeReports(reports, connect, 10, 'autocannon');
    expect(load.goodputPerSecond).toBe(200 + 250);
    expect(load.completionsPerSecond).toBe(202 + 252);
    expect(load.windowSeconds).toBe(4.5);
  });

  it('spans from the first window that opened to the last that closed', () => {
    const reports = [
      reportOf({ openedAtMs: 1001, closedAtMs: 6003 }),
      reportOf({ openedAtMs: 1002, closedAtMs: 6001 }),
    ];
    expect(mergeReports(reports, connect, 10, 'autocannon')).toMatchObject({
      openedAtMs: 1001,
      closedAtMs: 6003,
    });
  });

  it('merges histograms, and takes percentiles of the result', () => {
    const fast = createHistogram();
    const slow = createHistogram();
    for (let index = 0; index < 900; index++) fast.recordValue(100);
    for (let index = 0; index < 100; index++) slow.recordValue(50_000);
    const reports = [fast, slow].map((one) => reportOf({ latencyHistogram: encodeHistogram(one) }));
    const { latencyUs, latencyHistogram } = mergeReports(reports, connect, 10, 'autocannon');
    expect(latencyUs?.p90).toBe(100);
    expect(Math.abs((latencyUs?.p97_5 ?? 0) / 50_000 - 1)).toBeLessThan(0.001);
    const stored = mergeHistograms([latencyHistogram!]);
    expect(stored.totalCount).toBe(1000);
  });

  it('weights cycles by their number, and adds slices one by one', () => {
    const reports = [
      reportOf({ cycleUs: { sum: 1000, count: 10 }, slices: { milliseconds: 250, ok: [1, 2, 3] } }),
      reportOf({ cycleUs: { sum: 9000, count: 10 }, slices: { milliseconds: 250, ok: [10, 20] } }),
    ];
    const load = mergeReports(reports, connect, 10, 'autocannon');
    expect(load.meanCycleUs).toBe(500);
    expect(load.slices).toEqual({ milliseconds: 250, ok: [11, 22, 3] });
    expect(load.silentConnections).toBe(0);
    expect(load.generators).toHaveLength(2);
  });

  it('adds the schedules of an open loop, and has none for a closed loop', () => {
    const open = [
      reportOf({ schedule: { intended: 10, late: 1, dropped: 2 } }),
      reportOf({ schedule: { intended: 20, late: 3, dropped: 0 } }),
    ];
    expect(mergeReports(open, connect, 10, 'autocannon').schedule).toEqual({
      intended: 30,
      late: 4,
      dropped: 2,
    });
    expect(mergeReports([reportOf()], connect, 10, 'autocannon')).not.toHaveProperty('schedule');
  });

  it('merges the latencies of an open loop since its requests were sent', () => {
    const schedule = { intended: 50, late: 0, dropped: 0 };
    const reports = [10, 5000].map((us) => {
      const text = encode(Array.from({ length: 50 }, () => us));
      return reportOf({ schedule, sinceSentHistogram: text });
    });
    const { sinceSentUs } = mergeReports(reports, connect, 10, 'autocannon').schedule ?? {};
    expect(sinceSentUs?.p50).toBe(10);
    expect(sinceSentUs?.max).toBeCloseTo(5000, -1);
  });

  it('counts the requests that were older than the slowest response of all processes', () => {
    const reports = [
      reportOf({ latencyHistogram: encode(Array.from({ length: 900 }, () => 100)) }),
      reportOf({ latencyHistogram: encode([5000]), openAges: encode([50, 4000]) }),
      reportOf({
        latencyHistogram: encode(Array.from({ length: 99 }, () => 200)),
        openAges: encode([...Array.from({ length: 100 }, () => 2e6), 90]),
        unansweredAges: encode([7e6, 7e6, 90]),
      }),
    ];
    const load = mergeReports(reports, connect, 10, 'autocannon');
    expect(mergeHistograms([load.censoredHistogram!]).totalCount).toBe(100);
    expect(load.unanswered?.count).toBe(2);
    expect(Math.abs((load.unanswered?.leastUs ?? 0) / 7e6 - 1)).toBeLessThan(0.001);
    // Of 1,100 requests, 1,000 were answered.
    expect(load.latencyUs).toMatchObject({ p90: 200, atLeast: ['p97_5', 'p99', 'max'] });
    expect(Math.abs((load.latencyUs?.p99 ?? 0) / 2e6 - 1)).toBeLessThan(0.001);
    const none = mergeReports([reportOf({ openAges: encode([90]) })], connect, 10, 'autocannon');
    expect(none).not.toHaveProperty('censoredHistogram');
    expect(none).not.toHaveProperty('unanswered');
  });

  it('adds status codes that only some generators received', () => {
    const reports = [
      reportOf({ statusCodes: { 200: 5, 500: 1 } }),
      reportOf({ statusCodes: { 200: 2, 404: 3 } }),
    ];
    expect(mergeReports(reports, connect, 10, 'autocannon').statusCodes).toEqual({ 200: 7, 404: 3, 500: 1 });
  });

  it('keeps the connections at the opening of the window, and the time to establish them', () => {
    const late = { planned: 5, established: 4, seconds: 0, refused: 2, retried: 3 };
    const load = mergeReports([reportOf({ connect: late }), reportOf()], connect, 10, 'autocannon');
    expect(load.connect).toEqual({ planned: 10, established: 9, seconds: 0.5, refused: 2, retried: 3 });
  });

  it('has no latency, cycle or body without responses', () => {
    const empty = reportOf({
      counts: sampleCounts({ inFlight: 5 }),
      latencyHistogram: encodeHistogram(createHistogram()),
      cycleUs: { sum: 0, count: 0 },
      bodyBytes: undefined,
    });
    const load = mergeReports([empty], connect, 10, 'autocannon');
    const stored = JSON.parse(JSON.stringify(load)) as object;
    for (const field of ['latencyUs', 'latencyHistogram', 'meanCycleUs', 'bodyBytes'])
      expect(stored).not.toHaveProperty(field);
    expect(load.goodputPerSecond).toBe(0);
  });

  it('counts completions of every class, and no request in flight', () => {
    expect(
      countCompletions(
        sampleCounts({ ok: 5, non2xx: 1, mismatch: 1, timeout: 1, reset: 1, closedEarly: 1, inFlight: 9 }),
      ),
    ).toBe(10);
  });
});
