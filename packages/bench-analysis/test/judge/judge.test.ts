import { describe, expect, it } from 'vitest';
import { createHistogram, encodeHistogram } from 'bench-statistics/histogram';
import { findLimit, judge, type Evidence } from '../../src/judge/judge.ts';
import { METRIC_IDS, metricsOf } from 'bench-model/metrics';
import { isFatal } from 'bench-model/reasons';
import type { GeneratorUse, LoadResult, OwnLoadResult } from 'bench-model/load';
import type { HostWindow, Turns } from 'bench-model/measured';
import {
  sampleCounts,
  sampleEvidence,
  sampleLoad,
  sampleResources,
  sampleTold,
} from '../../../bench-lab/testing/samples.ts';

const ALL = [...METRIC_IDS];
const RATES = metricsOf('pace');

function evidenceOf(load: Partial<OwnLoadResult> = {}, given: Partial<Evidence> = {}): Evidence {
  return sampleEvidence({ load: sampleLoad(load), ...given });
}

function turnsOf(count: number): Turns {
  const answers = Array<number>(count).fill(1000);
  return { answers, goodputPerSecond: answers };
}

function reasonsOf(evidence: Evidence): Record<string, readonly string[]> {
  return Object.fromEntries(judge(evidence).reasons.map(({ code, invalidates }) => [code, invalidates]));
}

const fails = (evidence: Evidence): boolean => judge(evidence).reasons.some(isFatal);

const textOf = (evidence: Evidence): string =>
  judge(evidence)
    .reasons.map(({ text }) => text)
    .join('\n');

const withCounts = (given: Parameters<typeof sampleCounts>[0]): Evidence =>
  evidenceOf({ counts: sampleCounts({ ok: 50_000, inFlight: 10, ...given }) });

const judged = (given: Partial<LoadResult>) => judge(evidenceOf({}, { load: sampleTold(given) }));
const using = (cores: number) => judged({ generators: [{ cpuUs: cores * 5e6, seconds: 5, cores: 2 }] });

describe('a window measured by an engine that does not account for every request', () => {
  it('is not judged by what the engine does not report', () => {
    expect(judged({})).toMatchObject({ reasons: [], limit: 'waiting', shape: undefined });
  });

  it('is judged by what the engine reports', () => {
    expect(judged({ counts: { ok: 0, failed: 7 } })).toMatchObject({
      reasons: [{ code: 'no-answers' }, { code: 'errors' }],
    });
    expect(judged({ counts: { ok: 50_000, failed: 100 } }).reasons).toMatchObject([
      {
        code: 'errors',
        text: expect.stringContaining('0.20 % of the requests failed (100 failed)') as string,
      },
    ]);
  });

  it('is limited by the generator only if that used up all its cores', () => {
    expect(using(1.7)).toMatchObject({ limit: 'waiting', reasons: [] });
    expect(using(1.9)).toMatchObject({ limit: 'generator', reasons: [{ code: 'generator-bound' }] });
  });
});

describe('judge', () => {
  it('finds nothing wrong with a quiet window', () => {
    expect(judge(evidenceOf())).toEqual({
      reasons: [],
      limit: 'waiting',
      budget: { by: 'cores', usedCores: 0.5, usableCores: 1 },
      shape: 'flat',
    });
  });

  it('fails a trial if a single request is unaccounted for', () => {
    const counts = { ...sampleCounts({ ok: 50_000, inFlight: 10 }), sent: 50_011 };
    const evidence = evidenceOf({ counts });
    expect(fails(evidence)).toBe(true);
    expect(reasonsOf(evidence)).toEqual({ defect: ALL });
    expect(textOf(evidence)).toContain('50011 requests were sent, but 50010 are accounted for');
  });

  it('fails a trial for one wrong body', () => {
    const evidence = withCounts({ mismatch: 1 });
    expect(fails(evidence)).toBe(true);
    expect(reasonsOf(evidence)).toEqual({ 'wrong-answers': ALL });
  });

  it('distinguishes answers to another request from wrong bodies', () => {
    const crossed = evidenceOf({ counts: sampleCounts({ ok: 50_000, mismatch: 3 }), crossed: 3 });
    expect(fails(crossed)).toBe(true);
    expect(reasonsOf(crossed)).toEqual({ 'wrong-answers': ALL });
    expect(textOf(crossed)).toBe('3 responses belonged to another request');
    const both = evidenceOf({ counts: sampleCounts({ ok: 50_000, mismatch: 3 }), crossed: 1 });
    expect(textOf(both)).toBe('1 response belonged to another request; 2 responses had a wrong body');
  });

  it('fails a trial without a correct response, and reports the other outcomes', () => {
    const evidence = evidenceOf({
      counts: sampleCounts({ non2xx: 400, reset: 3, inFlight: 10 }),
      latencyUs: undefined,
    });
    expect(fails(evidence)).toBe(true);
    expect(reasonsOf(evidence)).toMatchObject({ 'no-answers': ALL });
    expect(textOf(evidence)).toContain(
      '10 of 10 connections were established: 400 with a wrong status, 3 on a reset or refused connection, 10 in flight at the end',
    );
    const nothing = evidenceOf({
      counts: sampleCounts(),
      meanCycleUs: undefined,
      silentConnections: 10,
      latencyUs: undefined,
    });
    expect(textOf(nothing)).toContain('no requests');
  });

  it('finds that not all connections were established', () => {
    const connect = { planned: 10, established: 8, seconds: 30, refused: 0, retried: 0 };
    expect(reasonsOf(evidenceOf({ connect }))).toEqual({ connections: [] });
    expect(textOf(evidenceOf({ connect }))).toContain(
      '8 of 10 connections were established when the window opened: 2 without a response',
    );
    expect(textOf(evidenceOf({ connect: { ...connect, refused: 5 } }))).toContain(
      '5 connects were refused or failed',
    );
    expect(reasonsOf(evidenceOf({ connect: { ...connect, established: 10, refused: 5 } }))).toEqual({});
  });

  it.each([
    ['non2xx', 'with a wrong status'],
    ['timeout', 'timed out'],
    ['reset', 'on a reset or refused connection'],
    ['closedEarly', 'on a closed connection'],
  ] as const)('tolerates 0.1 %% of %s, and no more', (outcome, words) => {
    expect(reasonsOf(withCounts({ [outcome]: 50 }))).toEqual({});
    const evidence = withCounts({ [outcome]: 51 });
    expect(fails(evidence)).toBe(false);
    expect(reasonsOf(evidence)).toEqual({ errors: [] });
    expect(textOf(evidence)).toBe(`0.10 % of the requests failed (51 ${words})`);
  });

  it('adds up errors of all classes', () => {
    const evidence = withCounts({ non2xx: 20, timeout: 20, reset: 20, closedEarly: 20 });
    expect(textOf(evidence)).toContain(
      '(20 with a wrong status, 20 timed out, 20 on a reset or refused connection, 20 on a closed connection)',
    );
  });
});

const paired = (mean: number, given: Partial<OwnLoadResult> = {}) =>
  reasonsOf(evidenceOf({ latencyUs: { mean, max: mean }, ...given }));

describe("Little's law", () => {
  it('holds within 5 %, and detects starved connections', () => {
    // At 10,000 completions/s, the mean cycle time gives the number of connections.
    expect(reasonsOf(evidenceOf({ meanCycleUs: 951 }))).toEqual({});
    expect(reasonsOf(evidenceOf({ meanCycleUs: 1049 }))).toEqual({});
    const starved = evidenceOf({ meanCycleUs: 700, latencyUs: undefined });
    expect(reasonsOf(starved)).toEqual({ connections: [] });
    expect(textOf(starved)).toBe(
      "7 of 10 connections were served: by their rate and cycle time (Little's law)",
    );
    // More than all: the figures contradict each other.
    expect(reasonsOf(evidenceOf({ meanCycleUs: 1060 }))).toEqual({
      little: metricsOf('pace', 'latency', 'tail'),
    });
  });

  it('reports connections without any response', () => {
    const silent = evidenceOf({ silentConnections: 1 });
    expect(reasonsOf(silent)).toEqual({ connections: [] });
    expect(textOf(silent)).toContain('1 got no response in the window');
    const few = {
      connect: { planned: 100, established: 100, seconds: 1, refused: 0, retried: 0 },
      meanCycleUs: 10_000,
    };
    expect(reasonsOf(evidenceOf({ ...few, silentConnections: 5 }))).toEqual({});
    expect(reasonsOf(evidenceOf({ ...few, silentConnections: 6 }))).toHaveProperty('connections');
  });

  it('is more tolerant in a window of few cycles', () => {
    const counts = sampleCounts({ ok: 20, inFlight: 10 });
    const slow = {
      counts,
      completionsPerSecond: 4,
      slices: { milliseconds: 250, ok: [] },
      latencyUs: undefined,
    };
    expect(reasonsOf(evidenceOf({ ...slow, meanCycleUs: 2.0e6 }))).toEqual({});
    expect(reasonsOf(evidenceOf({ ...slow, meanCycleUs: 1.8e6 }))).toHaveProperty('connections');
  });

  it('is more tolerant in short turns, each of which cuts a cycle of every connection', () => {
    // 54 turns of 20 ms with 10 connections and cycles of 1.4 ms.
    const counts = sampleCounts({ ok: 7000, inFlight: 10 });
    const inTurns = (meanCycleUs: number, turns?: number): Evidence => ({
      ...evidenceOf({ counts, completionsPerSecond: 6500, latencyUs: undefined, meanCycleUs }),
      ...(turns !== undefined && { turns: turnsOf(turns) }),
    });
    expect(reasonsOf(inTurns(1380, 54))).not.toHaveProperty('connections');
    expect(reasonsOf(inTurns(1300, 54))).toHaveProperty('connections');
    expect(reasonsOf(inTurns(1380))).toHaveProperty('connections');
  });

  it('detects latencies paired with other requests, by their sum', () => {
    expect(paired(1049)).toEqual({});
    expect(paired(1051)).toEqual({ little: metricsOf('pace', 'latency', 'tail') });
    // Half of the completions are quick errors, so correct responses may take twice the mean cycle.
    const counts = sampleCounts({ ok: 25_000, non2xx: 25_000, inFlight: 10 });
    expect(paired(1900, { counts })).not.toHaveProperty('little');
    expect(paired(2200, { counts })).toHaveProperty('little');
  });
});

/** The histogram of this many responses of `us`, and one of `slowestUs`. */
function encode(us: number, count: number, slowestUs = us): string {
  const histogram = createHistogram();
  histogram.recordValueWithCount(us, count);
  histogram.recordValue(slowestUs);
  return encodeHistogram(histogram);
}

/** A window of 5 s at 500 requests per second on 100 connections, whose responses take 1 ms. */
function atRate(
  given: Omit<Partial<OwnLoadResult>, 'schedule'> & { schedule?: Partial<OwnLoadResult['schedule']> } = {},
): Evidence {
  const counts = given.counts ?? sampleCounts({ ok: 2500, inFlight: 1 });
  const load: Partial<OwnLoadResult> = {
    connect: { planned: 100, established: 100, seconds: 0.1, refused: 0, retried: 0 },
    counts,
    latencyUs: { mean: 1000, max: 1000 },
    latencyHistogram: encode(1000, counts.ok),
    meanCycleUs: 200_000,
    slices: { milliseconds: 250, ok: [] },
    ...given,
    schedule: { intended: 2500, late: 0, dropped: 0, started: 2500, meanOpen: 0.5, ...given.schedule },
  };
  return evidenceOf(load, { mode: { mode: 'open', perSecond: 500 } });
}

describe('an open loop', () => {
  it('is sound if its requests start in time and its latencies account for the open ones', () => {
    expect(reasonsOf(atRate())).toEqual({});
  });

  it('names requests that vanish, or latencies of other requests', () => {
    const vanished = atRate({ schedule: { meanOpen: 0.6 } });
    expect(reasonsOf(vanished)).toEqual({ little: metricsOf('pace', 'latency', 'tail') });
    expect(textOf(vanished)).toBe(
      "rate and latency account for 0.50 open requests, but 0.60 were open on average (Little's law): some were lost, or their latencies are wrong",
    );
    expect(reasonsOf(atRate({ latencyUs: { mean: 1060, max: 1060 } }))).toHaveProperty('little');
    expect(reasonsOf(atRate({ latencyUs: { mean: 1040, max: 1040 } }))).toEqual({});
  });

  it('allows for a pause at the edge of the window', () => {
    // A pause of 100 ms before the opening: 50 responses of 50 ms on average, most of which was before it.
    const pause = atRate({
      latencyUs: { mean: 2000, max: 100_000 },
      latencyHistogram: encode(1000, 2500, 100_000),
    });
    expect(reasonsOf(pause)).toEqual({});
  });

  it('is overrun if fewer requests start than were due, because they pile up', () => {
    const counts = sampleCounts({ ok: 2200, inFlight: 100 });
    const slow = atRate({
      counts,
      schedule: { started: 2300, meanOpen: 300 },
      latencyUs: { mean: 6e5, max: 1e6 },
    });
    expect(reasonsOf(slow)).toMatchObject({ overrun: [] });
    expect(textOf(slow)).toContain('offered 500/s, served 440/s: the queue grew by 60/s');
    // After a pause just before the close, some requests wait, and the server would have kept up.
    expect(reasonsOf(atRate({ counts, schedule: { started: 2460, dropped: 40 } }))).not.toHaveProperty(
      'overrun',
    );
  });
});

/** A window in which this many of 2,700 requests got no response. */
const unanswered = (count: number, given: Partial<OwnLoadResult> = {}): Evidence =>
  atRate({
    counts: sampleCounts({ ok: 2000, inFlight: 700 }),
    unanswered: { count, leastUs: 5_020_000 },
    latencyUs: { mean: 1000, p50: 1000, max: 7e6, atLeast: ['max'] },
    schedule: { meanOpen: 450 },
    ...given,
  });

/** 20,000 responses of 500 µs on 10 connections in 5 s, some of which took 3 s instead. */
const stalled = (count: number, given: Partial<OwnLoadResult> = {}): Evidence => {
  const histogram = createHistogram();
  histogram.recordValueWithCount(500, 20_000 - count);
  histogram.recordValueWithCount(3_000_000, count);
  return evidenceOf({
    counts: sampleCounts({ ok: 20_000, inFlight: 10 }),
    latencyUs: { mean: 650, p50: 500, p99: 543, max: 3_000_000 },
    latencyHistogram: encodeHistogram(histogram),
    ...given,
  });
};

describe('a stall', () => {
  it('is named as one, and invalidates nothing', () => {
    // One connection was silent for most of the 3 s before the window opened: 6 % too much.
    const one = stalled(1, { meanCycleUs: 2650 });
    expect(reasonsOf(one)).toEqual({ stall: [] });
    expect(textOf(one)).toMatch(
      /^1 response stalled for up to 3 s: it took more than 1 s, while p99 is 543 µs$/,
    );
    expect(textOf(stalled(10, { meanCycleUs: 3900 }))).toContain(
      '10 responses stalled for up to 3 s: they took more than 1 s',
    );
    expect(reasonsOf(stalled(10, { meanCycleUs: 3900 }))).toEqual({ stall: [] });
    expect(reasonsOf(stalled(1, { meanCycleUs: 3000 }))).toHaveProperty('little');
  });

  it('is counted in short turns with all responses that end after theirs', () => {
    const turns = turnsOf(50);
    const inTurns = { ...stalled(20, { meanCycleUs: 3900 }), turns };
    expect(reasonsOf(inTurns)).not.toHaveProperty('connections');
    expect(reasonsOf({ ...stalled(1, { meanCycleUs: 3900 }), turns })).toHaveProperty('little');
  });

  it('is not what the percentiles show, or what is short', () => {
    const slow = { mean: 650, p50: 500, p99: 400_000, max: 3_000_000 };
    expect(reasonsOf(stalled(1, { latencyUs: slow, meanCycleUs: 2500 }))).toEqual({});
    const { load } = stalled(0, { latencyHistogram: encode(500, 20_000, 99_000), meanCycleUs: 2500 });
    expect(reasonsOf(evidenceOf({}, { load }))).toEqual({});
  });
});

describe('a request without a response', () => {
  it('is counted in any load, and takes no figure away', () => {
    expect(reasonsOf(unanswered(700))).toEqual({ unanswered: [] });
    expect(textOf(unanswered(700))).toBe(
      '700 of 2,700 requests (26 %) got no response in 5.0 s or more; the slowest response took 1 ms',
    );
    const closed = { ...unanswered(700), mode: { mode: 'closed' } as const };
    expect(reasonsOf({ ...closed, load: { ...closed.load, meanCycleUs: 250_000 } })).toHaveProperty(
      'unanswered',
    );
    expect(reasonsOf(unanswered(2))).toEqual({ unanswered: [] });
  });
});

const busy = (use: Partial<GeneratorUse>): GeneratorUse => ({
  cpuUs: 1e6,
  seconds: 5,
  utilisation: 0.2,
  ...use,
});

describe('the limit', () => {
  it.each([
    ['server', 0.9, 1, 0.9],
    ['generator', 0.9, 1, 0.91],
    ['generator', 1, 1, 1],
    ['server', 1.8, 2, 0.2],
    ['generator', 0.89, 1, 0.91],
    ['waiting', 0.89, 1, 0.9],
    ['waiting', 0.9, 2, 0.2],
  ] as const)('is the %s with %d of %d cores and a loop at %d', (limit, cores, budgetCores, utilisation) => {
    const evidence = evidenceOf(
      { generators: [busy({ utilisation })] },
      { server: sampleResources(cores), budgetCores },
    );
    expect(findLimit(evidence)).toBe(limit);
    expect(judge(evidence).limit).toBe(limit);
  });

  it('is the generator if any of several has used up its CPU', () => {
    const generators = [busy({}), busy({ cpuUs: 4.6e6 })];
    const evidence = evidenceOf({ generators });
    expect(findLimit(evidence)).toBe('generator');
    expect(reasonsOf(evidence)).toEqual({ 'generator-bound': RATES });
    expect(textOf(evidence)).toContain('the generator was 92 % busy while the server used 0.50 cores');
  });

  it('invalidates latency and goodput if the generator is saturated, even if the server is too', () => {
    const both = evidenceOf({ generators: [busy({ utilisation: 1 })] }, { server: sampleResources(0.98) });
    expect(judge(both).limit).toBe('generator');
    expect(reasonsOf(both)).toEqual({ 'generator-bound': RATES });
    expect(textOf(both)).toBe(
      "the generator was 100 % busy while the server used 0.98 cores: goodput is a lower bound, and latency includes the generator's delays",
    );
  });

  // The load takes 0.4 of the 2 cores.
  it.each([
    ['server', 1.5, true],
    ['waiting', 1.5, false],
    ['waiting', 1.3, true],
  ])('is %s at %d cores beside the load, shared: %s', (limit, coresUsed, isShared) => {
    const given = { server: sampleResources(coresUsed), budgetCores: 2, isShared };
    expect(findLimit(evidenceOf({ generators: [busy({ cpuUs: 2e6 })] }, given))).toBe(limit);
  });

  it('does not invalidate CPU and memory if it is the generator', () => {
    const { 'generator-bound': spoilt } = reasonsOf(evidenceOf({ generators: [busy({ utilisation: 1 })] }));
    expect(spoilt).not.toContain('cpu');
    expect(spoilt).not.toContain('memory');
  });

  it('is known even if the resources of the server are not', () => {
    const { server: _, ...evidence } = evidenceOf({ generators: [busy({ utilisation: 1 })] });
    expect(judge(evidence)).toMatchObject({ limit: 'generator' });
    expect(textOf(evidence)).not.toContain('while the server');
  });
});

const slicesOf = (counts: number[]): Partial<OwnLoadResult> => ({
  slices: { milliseconds: 250, ok: counts },
});

/** A window of 2 s, in slices of 50 ms. */
const shortWindow = (ok: number[]): Evidence =>
  evidenceOf({
    counts: sampleCounts({ ok: 20_000, inFlight: 10 }),
    windowSeconds: 2.003,
    slices: { milliseconds: 50, ok },
  });

const level = (count: number, length: number) => Array.from({ length }, () => count);

describe('the shape of the window', () => {
  it.each([
    ['warm-up', [...level(1000, 8), ...level(2500, 13)]],
    ['slowdown', [...level(2500, 10), ...level(1500, 11)]],
    ['erratic', [...level(2500, 6), ...level(1000, 7), ...level(2500, 8)]],
  ])('is %s', (shape, counts) => {
    const evidence = evidenceOf(slicesOf(counts));
    expect(judge(evidence).shape).toBe(shape);
    expect(reasonsOf(evidence)).toEqual({ unsteady: [] });
  });

  it.each([{ otherProcessesCores: 0.2 }, { stealCores: 0.2 }])(
    'is no finding about the server if the machine was busy: %j',
    (host) => {
      const evidence = evidenceOf(slicesOf([...level(2500, 10), ...level(1500, 11)]), { host });
      expect(judge(evidence).shape).toBe('slowdown');
      expect(reasonsOf(evidence)).not.toHaveProperty('unsteady');
    },
  );

  it('is no finding about the server if the generators cost as much for fewer responses', () => {
    const shape = (cpuUs: number[]): Evidence =>
      evidenceOf({ slices: { milliseconds: 250, ok: [...level(2500, 10), ...level(1500, 11)], cpuUs } });
    expect(reasonsOf(shape(level(90_000, 21)))).not.toHaveProperty('unsteady');
    expect(reasonsOf(shape([...level(90_000, 10), ...level(54_000, 11)]))).toHaveProperty('unsteady');
  });

  it('ignores the last slice, which is incomplete', () => {
    expect(judge(evidenceOf(slicesOf([...level(2500, 20), 3]))).shape).toBe('flat');
  });

  it('is found in a window of 2 s, the default of --threshold 2%', () => {
    expect(judge(shortWindow([...level(500, 40), 2])).shape).toBe('flat');
    const slowing = shortWindow([...level(500, 20), ...level(300, 20)]);
    expect(judge(slowing).shape).toBe('slowdown');
    expect(textOf(slowing)).toContain(
      'the server was getting slower in the window, with 6,000 responses/s in its slowest 200 ms and 10,000/s in its fastest',
    );
  });

  it('is found in joined slices if a cycle is longer than a slice', () => {
    // Every connection answers once a second, all in the same slice.
    const pulses = Array.from({ length: 61 }, (_, index) => (index % 4 === 0 ? 100 : 0));
    const counts = sampleCounts({ ok: 1500, inFlight: 100 });
    const slow = {
      counts,
      completionsPerSecond: 100,
      meanCycleUs: 1e6,
      latencyUs: undefined,
      windowSeconds: 15,
    };
    const connect = { planned: 100, established: 100, seconds: 1, refused: 0, retried: 0 };
    expect(judge(evidenceOf({ ...slow, connect, ...slicesOf(pulses) })).shape).toBe('flat');
    expect(judge(evidenceOf({ ...slicesOf(pulses), windowSeconds: 15 })).shape).not.toBe('flat');
  });
});

describe('the host', () => {
  it.each<[string, HostWindow, HostWindow, string[]]>([
    [
      'other-processes',
      { otherProcessesCores: 0.1 },
      { otherProcessesCores: 0.18 },
      metricsOf('pace', 'capacity'),
    ],
    ['steal', { stealCores: 0.1 }, { stealCores: 0.11 }, metricsOf('pace', 'cpu', 'capacity')],
    ['connections', { listenOverflows: 0 }, { listenOverflows: 1 }, []],
    ['throttled', { throttled: 0 }, { throttled: 1 }, metricsOf('pace', 'cpu', 'capacity')],
  ])('invalidates metrics only beyond the tolerance for %s', (code, fine, bad, invalidates) => {
    expect(reasonsOf(evidenceOf({}, { host: fine }))).toEqual({});
    expect(reasonsOf(evidenceOf({}, { host: bad }))).toEqual({ [code]: invalidates });
    expect(fails(evidenceOf({}, { host: bad }))).toBe(false);
  });

  it.each([
    ['10-MB answers, none lost', 1012, 31, 213_911, false],
    ['10-MB answers, 0.5 % lost', 427, 364, 80_782, true],
    ['small responses, 0.05 % lost', 20_814, 11, 41_666, false],
    ['small responses, 0.5 % lost', 2989, 15, 6013, true],
  ])('counts lost segments among those sent: %s', (_what, ok, lostSegments, sentSegments, isMarked) => {
    const evidence = evidenceOf({ counts: sampleCounts({ ok }) }, { host: { lostSegments, sentSegments } });
    const codes = judge(evidence).reasons.map(({ code }) => code);
    expect(codes.includes('retransmits')).toBe(isMarked);
  });

  it('is described by shares of a core', () => {
    expect(textOf(evidenceOf({}, { host: { otherProcessesCores: 0.184 } }))).toBe(
      'other processes used 18 % of a core',
    );
  });
});

describe('several reasons at once', () => {
  it('are listed with the fatal one first', () => {
    const evidence = evidenceOf(
      { counts: sampleCounts({ ok: 50_000, mismatch: 1, timeout: 500, inFlight: 10 }) },
      { host: { lostSegments: 400, sentSegments: 80_000 } },
    );
    expect(judge(evidence).reasons.map(({ code }) => code)).toEqual([
      'wrong-answers',
      'errors',
      'retransmits',
    ]);
  });
});

describe('a limit outside the server', () => {
  it('is other processes if they used up the CPU of the machine', () => {
    const crowded = evidenceOf({}, { host: { otherProcessesCores: 1.6 }, machineCores: 2 });
    expect(judge(crowded).limit).toBe('others');
    expect(judge({ ...crowded, machineCores: 8 }).limit).toBe('waiting');
  });

  it('is unknown if the server process is', () => {
    const { server: _, ...hidden } = evidenceOf();
    expect(judge(hidden)).toMatchObject({ limit: 'unknown', reasons: [] });
  });
});

describe('answers without a request', () => {
  it('fail the trial, even a single one', () => {
    const seen = judge(evidenceOf({ unsolicited: 1 }));
    expect(seen).toMatchObject({ reasons: [{ code: 'wrong-answers', invalidates: ALL }] });
    expect(seen.reasons[0]?.text).toMatch(/^1 response arrived without a request/);
    expect(textOf(evidenceOf({ unsolicited: 12 }))).toMatch(/^12 responses arrived/);
  });

  it('add no reason if there were none', () => {
    expect(judge(evidenceOf({ unsolicited: 0 }))).toMatchObject({ reasons: [] });
  });
});

describe('requests that waited in the generator although a connection was free', () => {
  const counts = { intended: 2000, late: 0, dropped: 0 };
  const latencyUs = { mean: 800, p50: 770, p99: 1000, max: 1200 };
  const sent = (least: { p50: number; p99: number }) =>
    evidenceOf({
      latencyUs,
      schedule: { ...counts, sinceSentUs: { ...latencyUs, ...least } },
      meanCycleUs: undefined,
    });

  it('invalidate percentiles of which they made more than 10 %', () => {
    expect(reasonsOf(sent({ p50: 190, p99: 400 }))).toEqual({
      'late-generator': ['p50', ...metricsOf('tail')],
    });
    expect(textOf(sent({ p50: 190, p99: 990 }))).toBe(
      'requests waited in the load generator although a connection was free: p50 is 0.19 to 0.77 ms',
    );
    expect(reasonsOf(sent({ p50: 190, p99: 990 }))).toEqual({ 'late-generator': ['p50'] });
    expect(reasonsOf(sent({ p50: 700, p99: 890 }))).toEqual({ 'late-generator': metricsOf('tail') });
  });

  it('invalidate nothing if they made less, or if it is not recorded', () => {
    expect(reasonsOf(sent({ p50: 700, p99: 910 }))).toEqual({});
    expect(reasonsOf(evidenceOf({ latencyUs, schedule: counts, meanCycleUs: undefined }))).toEqual({});
  });
});

describe('answers that waited in the generator', () => {
  const latencyUs = { mean: 90_000, p50: 80_000, p99: 100_000, max: 120_000 };
  const between = (least: { p50: number; p99: number }) =>
    evidenceOf({ latencyUs, latencyAtLeastUs: { ...latencyUs, ...least }, meanCycleUs: undefined });

  it('invalidate percentiles that are uncertain by more than 10 %', () => {
    expect(reasonsOf(between({ p50: 50_000, p99: 60_000 }))).toEqual({
      'late-generator': metricsOf('latency'),
    });
    expect(textOf(between({ p50: 50_000, p99: 60_000 }))).toBe(
      'responses waited in the load generator: p50 is 50.0 to 80.0 ms, p99 is 60.0 to 100.0 ms',
    );
    expect(reasonsOf(between({ p50: 79_000, p99: 60_000 }))).toEqual({ 'late-generator': metricsOf('tail') });
  });

  it('invalidate nothing if the two bounds agree within 1 ms or 10 %', () => {
    expect(reasonsOf(between({ p50: 73_000, p99: 91_000 }))).toEqual({});
    const short = { latencyUs: { mean: 900, p50: 900, max: 2000 } };
    expect(reasonsOf(evidenceOf({ ...short, latencyAtLeastUs: { mean: 1, p50: 1, max: 1 } }))).toEqual({});
    expect(reasonsOf(evidenceOf({ latencyUs }))).not.toHaveProperty('late-generator');
  });
});
