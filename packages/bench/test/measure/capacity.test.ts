import { describe, expect, it } from 'vitest';
import type { Window } from 'bench-load/engine';
import type { LoadResult } from 'bench-model/load';
import type { FoundCapacity, Measured } from 'bench-model/measured';
import { readPromises, type Promised } from 'bench-model/promise';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { mean } from 'bench-statistics/numbers';
import { createHistogram, encodeHistogram, recordMilliseconds } from 'bench-statistics/histogram';
import { createRandom } from 'bench-statistics/random';
import {
  CapacitySearch,
  paceOf,
  sharesOf,
  type FoundRate,
  type PlannedStep,
} from '../../src/measure/capacity.ts';
import {
  exponential,
  fixed,
  paceOf as paceOfQueue,
  SimulatedServer,
  type Queue,
} from '../../../bench-lab/testing/queues.ts';
import { simulateTrial } from '../../../bench-lab/experiments/capacity/simulated.ts';
import { okTrial, sampleCounts, sampleLoad, sampleMeasured } from '../../../bench-lab/testing/samples.ts';
import { searchesBefore } from '../../src/measure/run.ts';
import { measure } from './one-trial.ts';

type Edit = (load: LoadResult, step: PlannedStep) => LoadResult;

/** Searches the capacity of a simulated server; `edit` changes what the generator reports. */
function search(
  queue: Queue,
  promise: string,
  {
    seed = 1,
    known,
    isBrief = false,
    seconds = 12,
    pace = paceOfQueue(queue),
    edit = (load) => load,
  }: { seed?: number; known?: number; isBrief?: boolean; pace?: number; seconds?: number; edit?: Edit } = {},
): FoundRate & { steps: PlannedStep[] } {
  const server = new SimulatedServer(queue, createRandom(seed));
  const [by] = readPromises(promise, 'slo') as [Promised];
  const found = new CapacitySearch(readPromises(promise, 'slo'), {
    seconds,
    pacePerSecond: pace,
    isBrief,
    ...(known !== undefined && {
      earlier: [
        { perSecond: known, by, steps: [{ perSecond: known, requests: 100_000, brokenShare: 0.01 }] },
      ],
    }),
  });
  const steps: PlannedStep[] = [];
  for (let step = found.next(); step !== undefined; step = found.next()) {
    found.add(step, edit(server.load(step.perSecond, step.seconds, step.rampSeconds), step));
    steps.push(step);
  }
  return { ...found.result(), steps };
}

/** The mean of the searches from 16 seeds, relative to the true capacity. */
function meanOf(queue: Queue, promise: string, capacity: number): number {
  return mean(
    Array.from(
      { length: 16 },
      (_, seed) => search(queue, promise, { seed, known: capacity }).perSecond / capacity,
    ),
  );
}

function histogramOf(...milliseconds: number[]): string {
  const histogram = createHistogram();
  for (const one of milliseconds) recordMilliseconds(histogram, one);
  return encodeHistogram(histogram);
}

/** Reports that the generator sent requests late from 300/s on. */
const delay: Edit = (load, step) => {
  const us = load.latencyUs;
  if (us === undefined || step.perSecond < 300) return load;
  return {
    ...load,
    latencyUs: { ...us, p99: 80_000 },
    latencyHistogram: histogramOf(1, 80),
    schedule: { intended: 1, late: 1, dropped: 0, sinceSentUs: { ...us, p99: 1000 } },
  };
};

/** Reports a saturated generator from 1,200/s on. */
const saturate: Edit = (load, { perSecond }) =>
  perSecond < 1200 ? load : { ...load, generators: [{ cpuUs: 960_000, seconds: 1, utilisation: 0.96 }] };

/** Reports a generator that reaches 2,000/s. */
const tire: Edit = (load, { perSecond }) => {
  const utilisation = Math.min(1, perSecond / 2000);
  return { ...load, generators: [{ cpuUs: 1e6 * utilisation, seconds: 1, utilisation }] };
};

/** In M/M/1, the share of requests that take longer than T is exp(−(pace − rate) · T). */
const inMM1 = (pace: number, seconds: number): number => pace - Math.log(100) / seconds;

describe('the search of a capacity', () => {
  it('finds that of M/M/1, which arithmetic gives', () => {
    expect(Math.abs(Math.log(meanOf(exponential(0.002), 'p99<50ms', inMM1(500, 0.05))))).toBeLessThan(0.05);
    expect(Math.abs(Math.log(meanOf(exponential(0.002), 'p99<20ms', inMM1(500, 0.02))))).toBeLessThan(0.08);
  });

  it('finds that of M/D/1 and of a pool of 10, which long simulations give', () => {
    expect(Math.abs(Math.log(meanOf(fixed(0.002), 'p99<20ms', 385)))).toBeLessThan(0.05);
    expect(Math.abs(Math.log(meanOf(fixed(0.02, 10), 'p99<50ms', 433)))).toBeLessThan(0.05);
  });

  it('finds it beyond the pace of a closed loop of few connections, too', () => {
    const found = search(fixed(0.02, 10), 'p99<50ms', { pace: 100, seconds: 24 });
    expect(Math.abs(Math.log(found.perSecond / 433))).toBeLessThan(0.2);
  });

  it('begins at 70 % of the pace of the warm-up, and at the estimate of earlier rounds if there is one', () => {
    expect(search(exponential(0.002), 'p99<50ms').steps[0]?.perSecond).toBe(350);
    const [first] = search(exponential(0.002), 'p99<50ms', { known: 410 }).steps;
    expect(first?.perSecond).toBeGreaterThan(410);
    expect(first?.perSecond).toBeLessThan(1.1 * 410);
  });

  it('takes no longer than its time', () => {
    const { steps } = search(exponential(0.002), 'p99<50ms', { seconds: 8 });
    const seconds = steps.reduce((total, step) => total + step.seconds + step.rampSeconds, 0);
    expect(seconds).toBeLessThanOrEqual(8 + 1e-6);
    expect(seconds).toBeGreaterThan(5);
  });

  it('is of the promise that breaks first, and of a step near it', () => {
    const found = search(exponential(0.002), 'p50<50ms,p99<20ms', { seed: 3 });
    expect(found.by.of).toBe('p99');
    const distances = found.steps.map(({ perSecond }) => Math.abs(Math.log(perSecond / found.perSecond)));
    expect(distances[found.nearest]).toBe(Math.min(...distances));
  });

  it('is a lower bound if the generator was saturated before the promise broke', () => {
    const found = search(fixed(0.0002), 'p99<20ms', { edit: saturate });
    expect(found).toMatchObject({ bound: 'at least', reasons: [{ code: 'slo-met' }] });
    expect(found.perSecond).toBeLessThan(5000);
  });

  it('stays below the rate at which the generator would be saturated, and names it', () => {
    const found = search(fixed(0.0002), 'p99<20ms', { edit: tire, pace: 1500 });
    expect(found).toMatchObject({ bound: 'at least', reasons: [{ code: 'slo-met' }] });
    expect(found.reasons[0]?.text).toContain('reaches about 1,7');
    expect(Math.max(...found.steps.map(({ perSecond }) => perSecond))).toBeGreaterThan(0);
    expect(found.steps.filter(({ perSecond }) => perSecond >= 1800)).toEqual([]);
  });

  it('goes on for up to two long steps if the promise was kept at every rate so far, or broken; brief ones do not', () => {
    const usual = search(fixed(0.002), 'p99<50ms', { known: 450 });
    const further = search(fixed(0.002), 'p99<50ms', { known: 350 });
    expect(usual.steps).toHaveLength(2);
    expect(further.steps).toHaveLength(4);
    const rates = further.steps.map(({ perSecond }) => perSecond);
    expect(Math.max(...rates)).toBeLessThan(1.35 * 350);
    const brief = search(fixed(0.002), 'p99<50ms', { known: 350, isBrief: true });
    expect(brief.steps).toEqual(further.steps.slice(0, 2));
  });

  it('is an upper bound if the promise was broken at every rate', () => {
    const found = search(fixed(0.03), 'p99<20ms');
    expect(found).toMatchObject({ bound: 'at most', reasons: [{ code: 'slo-violated' }] });
  });

  it('does not count a step that the generator made slow by late starts', () => {
    const found = search(exponential(0.002), 'p99<50ms', { edit: delay, known: 280 });
    expect(found).toMatchObject({ bound: 'at least', reasons: [{ code: 'slo-met' }] });
  });

  it('notes that hardly any step kept the promise, as if some requests break it without a load', () => {
    const [by] = readPromises('p99<95ms', 'slo') as [Promised];
    const notesOf = (queue: Queue): string[][] => {
      const earlier: FoundCapacity[] = [];
      const common = { target: 'a', queue, promise: by, seconds: 12, changing: 0, weather: createRandom(1) };
      return [1, 2, 3, 4, 5].map((round) => {
        const { trial } = simulateTrial({ ...common, round, seed: round }, earlier);
        return trial.reasons.map(({ code }) => code);
      });
    };
    // 0.9 % of these responses take more than 95 ms by themselves.
    expect(notesOf(exponential(0.02, 10)).at(-1)).toEqual(['slo-rarely-met']);
    expect(notesOf(fixed(0.02, 10)).flat()).toEqual([]);
  });

  it('says if too few responses were near the capacity for the percentile', () => {
    expect(search(exponential(0.02), 'p99<150ms', { known: 19 }).reasons).toMatchObject([
      { code: 'few-answers' },
    ]);
  });
});

/** The measurements of a trial with this capacity. */
const carry = (perSecond: number, given: Partial<FoundCapacity> = {}): Partial<Measured> => ({
  capacity: { perSecond, by: { of: 'p99', belowUs: 50_000 }, pacePerSecond: 500, steps: [], ...given },
});

describe('a trial with promises', () => {
  it('searches on one fresh server after its warm-up, and records the capacity with all steps', async () => {
    const server = new SimulatedServer(exponential(0.002), createRandom(5));
    const windows: Window[] = [];
    const fire = (window: Window): LoadResult => {
      windows.push(window);
      const { load, windowSeconds, warmupSeconds } = window;
      if (load.mode !== 'open')
        return {
          ...sampleLoad(),
          warmup: { milliseconds: 50, ok: Array.from({ length: 40 }, () => 25), answers: 1000 },
        };
      return server.load(load.perSecond, windowSeconds, warmupSeconds);
    };
    const { trial } = await measure({ fire }, { line: '--slo p99<50ms --warmup 2 --rate 25%,75%' });
    expect(trial.status).not.toBe('failed');
    const { capacity, curve, load } = trial.status === 'failed' ? {} : trial.measured;
    expect(windows[0]).toMatchObject({ warmupSeconds: 2, windowSeconds: 0, load: { mode: 'closed' } });
    expect(windows[1]).toMatchObject({ warmupSeconds: 0.5, windowSeconds: 0, load: { mode: 'closed' } });
    expect(windows[2]).toMatchObject({ isApart: true, load: { mode: 'open', perSecond: 350 } });
    expect(capacity?.steps).toHaveLength(windows.length - 4);
    const [quarter, most] = curve ?? [];
    expect(quarter).toMatchObject({
      share: 0.25,
      perSecond: 0.25 * (capacity?.perSecond ?? 0),
      failedShare: 0,
    });
    expect(most?.p50Us).toBeGreaterThan(quarter?.p50Us ?? Infinity);
    expect(new Set(windows.slice(2).map(({ gapSeed }) => gapSeed)).size).toBe(windows.length - 2);
    expect(Math.abs(Math.log((capacity?.perSecond ?? 0) / inMM1(500, 0.05)))).toBeLessThan(0.3);
    expect(load?.goodputPerSecond).toBeLessThan(500);
  });

  it('knows the earlier rounds of its target that found a capacity', () => {
    const planned = { id: 'x', target: 'vanilla', connections: 100, round: 3, order: 2, seed: 1 };
    const trials = [
      okTrial('vanilla', { ...sampleMeasured(), ...carry(400) }, { connections: 100 }),
      okTrial('vanilla', { ...sampleMeasured(), ...carry(420) }, { connections: 100 }),
      okTrial('vanilla', { ...sampleMeasured(), ...carry(900, { bound: 'at least' }) }, { connections: 100 }),
      okTrial('vanilla', { ...sampleMeasured(), ...carry(100) }, { connections: 10 }),
      okTrial('fastify', { ...sampleMeasured(), ...carry(100) }, { connections: 100 }),
    ];
    const before = (some: readonly Trial[]): number[] =>
      searchesBefore(some, planned).map(({ perSecond }) => perSecond);
    expect(before(trials)).toEqual([400, 420]);
    expect(before(trials.slice(2))).toEqual([]);
    const few = makeReason('few-answers', {
      answers: 10,
      needed: 1000,
      promise: 'p99 < 50 ms',
      deviation: 0.1,
    });
    const broken = makeReason('slo-violated', { promise: 'p99 < 50 ms', perSecond: 400, brokenShare: 0.1 });
    const doubted = (reason: Reason): Trial[] =>
      trials.map((trial) => ({ ...trial, status: 'suspect' as const, reasons: [reason] }));
    expect(before(doubted(few))).toEqual([400, 420]);
    expect(before(doubted(broken))).toEqual([]);
  });
});

describe('a broken promise', () => {
  const [promise] = readPromises('p99<50ms', 'slo') as [never];
  it('counts late responses, failed requests, and open ones that are already older', () => {
    const load = {
      ...sampleLoad({ counts: sampleCounts({ ok: 3, non2xx: 2, timeout: 1, inFlight: 2 }) }),
      latencyHistogram: histogramOf(1, 2, 60),
      censoredHistogram: histogramOf(70, 80),
    };
    expect(sharesOf(promise, 100, load)).toEqual({ perSecond: 100, requests: 8, counted: 6 });
    const [errors] = readPromises('errors<1%', 'slo') as [never];
    expect(sharesOf(errors, 100, load)).toEqual({ perSecond: 100, requests: 6, counted: 3 });
  });
});

describe('the pace of a warm-up', () => {
  it('is that of the second half of its last load', () => {
    const warmup = { milliseconds: 50, ok: [0, 90, 0, 10, 20, 20], answers: 140 };
    expect(paceOf({ ...sampleLoad(), warmup }, 0.2)).toBe(400);
  });
});
