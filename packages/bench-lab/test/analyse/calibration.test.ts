import { describe, expect, it } from 'vitest';
import { evaluate, isSettled } from '../../src/analyse/calibration.ts';
import { makeReason } from 'bench-model/reasons';
import { renderCalibration } from '../../src/report/calibration.ts';
import type {
  Calibrated,
  Account,
  CalibrationRound,
  LatencyScenario,
  TwinScenario,
} from 'bench-model/calibration';
import { okTrial, sampleMeasured } from '../../testing/samples.ts';

const SERVER = { name: 'server', program: 'server' as const, faults: [] };
const DELAY: LatencyScenario = {
  kind: 'latency',
  name: '5 ms at 1',
  server: SERVER,
  connections: 1,
};
const TWINS: TwinScenario = {
  kind: 'twins',
  name: 'burn',
  plain: SERVER,
  planted: SERVER,
  connections: 50,
  rate: 1600,
  windowSeconds: 2,
  answers: { burn: '300 µs burned', rusage: 'all, by its rusage' },
};
const STEAL = makeReason('steal', { cores: 0.4 });

/** Ten rounds, or as many as asked for. Their figures lie 1 % around the centre. */
function roundsOf(
  make: (wobble: number) => CalibrationRound,
  { count = 10, disturbed = 0 }: { count?: number; disturbed?: number } = {},
): CalibrationRound[] {
  return Array.from({ length: count }, (_, index) => {
    const round = make(1 + 0.002 * ((index % 11) - 5));
    return index < disturbed
      ? { ...round, host: { stealCores: 0.4 }, disturbances: [STEAL] }
      : { ...round, host: { stealCores: 0.01 } };
  });
}

/** A round in which the clients measured this much more than the known answer, in µs. */
function latency(driverBias: number, bareBias: number, knownUs = 5000) {
  return (wobble: number): CalibrationRound => ({
    kind: 'latency',
    host: {},
    disturbances: [],
    driver: { measuredUs: knownUs + driverBias * wobble, reportedUs: knownUs },
    bare: { measuredUs: knownUs + bareBias * wobble, reportedUs: knownUs },
  });
}

function accountAfter(burns: number, given: Partial<Account> = {}): Account {
  return {
    requests: { read: burns },
    burn: { burns, burnedUs: burns * 300 },
    memory: { allocatedBytes: 0 },
    latencyUs: { count: burns },
    cpu: { userUs: burns * 320, systemUs: 0 },
    ...given,
  };
}

/** A trial whose requests cost this much, in µs, in all turns but `bursts`. */
function trialOf(us: number, bursts: readonly number[]) {
  const turns = {
    answers: Array.from({ length: 20 }, () => 30),
    cpuUs: Array.from({ length: 20 }, (_, turn) => 30 * (us + (bursts.includes(turn) ? 5000 : 0))),
    goodputPerSecond: [],
  };
  return okTrial('planted', sampleMeasured({ cpu: us, given: { turns } }));
}

/** A duel in which the planted twin cost this much more, in µs. Both had bursts in these turns, but the plain one not in the first of them. */
function duel(extraUs: number, bursts: readonly number[] = []) {
  return (wobble: number): CalibrationRound => {
    const [before, after] = [accountAfter(0), accountAfter(600)];
    return {
      kind: 'twins',
      host: {},
      disturbances: [],
      plain: { trial: trialOf(20, bursts.slice(1)), before, after },
      planted: { trial: trialOf(20 + extraUs * wobble, bursts), before, after },
    };
  };
}

function answerTo(rounds: CalibrationRound[], name = 'added by the driver'): Calibrated | undefined {
  const scenario = rounds.some(({ kind }) => kind === 'twins') ? TWINS : DELAY;
  return evaluate([scenario], new Map([[scenario.name, rounds]])).answers.find((row) => row.name === name);
}

const failed: CalibrationRound = { kind: 'failed', host: {}, disturbances: [], why: 'it died' };

describe('a calibration of latency', () => {
  it('names the rate of an open loop', () => {
    const open = { ...DELAY, name: '5 ms at 100/s', connections: 100, rate: 100 };
    const { answers } = evaluate([open], new Map([[open.name, roundsOf(latency(310, 300))]]));
    expect(answers.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['5 ms at 100/s', undefined],
      ['also on bare sockets', undefined],
      ['added by the driver', 'inside'],
    ]);
  });

  it('compares an open loop under stalls with arithmetic, and judges the whole bias, too', () => {
    const stalls = {
      ...DELAY,
      name: '100 ms stalls at 1000/s',
      rate: 1000,
      stalls: { everyMs: 250, ms: 100, percentile: 90 },
    };
    const verdictsOf = (driverBias: number, bareBias: number) =>
      evaluate(
        [stalls],
        new Map([[stalls.name, roundsOf(latency(driverBias, bareBias, 75_000))]]),
      ).answers.map(({ group, name, isComputed, verdict }) => [group, name, isComputed, verdict]);
    const group = 'p90 latency, µs';
    expect(verdictsOf(1900, 1800)).toEqual([
      [group, '100 ms stalls at 1000/s', true, 'inside'],
      [group, 'also on bare sockets', undefined, undefined],
      [group, 'added by the driver', undefined, 'inside'],
    ]);
    // Timed from the moment of sending, the few requests of a stall that were sent are beyond p90.
    expect(verdictsOf(-74_000, 800).map(([, , , verdict]) => verdict)).toEqual([
      'outside',
      undefined,
      'outside',
    ]);
    // What both clients overlook, only arithmetic shows.
    expect(verdictsOf(-74_000, -74_000)[0]?.[3]).toBe('outside');
  });

  it('leaves to the machine what bare sockets measure, too', () => {
    const rounds = roundsOf(latency(310, 300));
    expect(answerTo(rounds, '5 ms at 1 connection')?.bias).toBeCloseTo(310, 0);
    expect(answerTo(rounds, 'also on bare sockets')?.bias).toBeCloseTo(300, 0);
    expect(answerTo(rounds)).toMatchObject({ verdict: 'inside' });
    expect(answerTo(rounds)?.bias).toBeCloseTo(10, 0);
  });

  it.each([
    [190, 'inside'],
    [-190, 'inside'],
    [220, 'outside'],
    [200, 'undecided'],
  ])('judges what the driver adds by its interval: %d µs is %s', (added, verdict) => {
    expect(answerTo(roundsOf(latency(100 + added, 100)))).toMatchObject({ verdict, tolerance: 200 });
  });

  it('compares each client with what the server recorded in its own turns', () => {
    const rounds = roundsOf((wobble) => ({
      kind: 'latency',
      host: {},
      disturbances: [],
      driver: { measuredUs: 5900 + 110 * wobble, reportedUs: 5900 },
      bare: { measuredUs: 5000 + 100 * wobble, reportedUs: 5000 },
    }));
    expect(answerTo(rounds)?.bias).toBeCloseTo(10, 0);
  });

  it('is undecided, not outside, if the machine disturbed its rounds', () => {
    const row = answerTo(roundsOf(latency(700, 100), { disturbed: 10 }));
    expect(row).toMatchObject({
      verdict: 'undecided',
      why: 'the interval is beyond the tolerance; 10 of 10 rounds were disturbed, so the machine may be the cause',
    });
  });

  it('prefers undisturbed rounds as soon as they have an interval', () => {
    const wrong = roundsOf(latency(700, 100), { disturbed: 10 });
    const right = roundsOf(latency(110, 100));
    expect(answerTo([...wrong, ...right.slice(1)])).toMatchObject({ verdict: 'undecided' });
    expect(answerTo([...wrong, ...right])).toMatchObject({ verdict: 'inside' });
    expect(answerTo([...right, ...wrong])?.bias).toBeCloseTo(10, 0);
  });

  it('accepts disturbed rounds that agree', () => {
    expect(answerTo(roundsOf(latency(110, 100), { disturbed: 10 }))).toMatchObject({ verdict: 'inside' });
  });

  it('has no interval before the first look', () => {
    const row = answerTo(roundsOf(latency(110, 100), { count: 9 }));
    expect(row).toMatchObject({ verdict: 'undecided', why: '9 rounds are too few for an interval' });
    expect(row).not.toHaveProperty('interval');
  });

  it('is undecided if so many rounds failed that they could have shown anything', () => {
    const rounds = roundsOf(latency(110, 100), { count: 19 });
    expect(answerTo([...rounds, failed])).toMatchObject({ verdict: 'inside' });
    expect(answerTo([...rounds.slice(3), failed, failed, failed, failed])).toMatchObject({
      verdict: 'undecided',
      why: '4 of 20 rounds gave no figure (it died)',
    });
  });

  it('was not measured if all its rounds failed', () => {
    expect(answerTo([failed])).toMatchObject({ verdict: 'not measured', why: 'it died' });
  });

  it('is undecided if the budget left no time for it', () => {
    expect(answerTo([])).toMatchObject({ verdict: 'undecided' });
  });
});

describe('a calibration of CPU', () => {
  it.each([
    [300, 'inside'],
    [311, 'inside'],
    [325, 'outside'],
    [275, 'outside'],
    [315, 'undecided'],
  ])('allows 5 % of 300 µs: %d µs is %s', (extraUs, verdict) => {
    const row = answerTo(roundsOf(duel(extraUs)), '300 µs burned');
    expect(row).toMatchObject({ reported: 300, tolerance: 15, verdict });
    expect(row?.bias).toBeCloseTo(extraUs - 300, 0);
  });

  it('takes the centre of neighbouring turns, which disturbances in bursts do not move', () => {
    const row = answerTo(roundsOf(duel(300, [3, 11])), '300 µs burned');
    expect(row?.bias).toBeCloseTo(0, 0);
  });

  it('compares all CPU of a server with its own account', () => {
    const row = answerTo(roundsOf(duel(300)), 'all, by its rusage');
    expect(row).toMatchObject({ reported: 320, verdict: 'inside' });
    expect(row?.bias).toBeCloseTo(0, 0);
  });
});

describe('a scenario', () => {
  it('is settled once each of its answers is inside or outside', () => {
    expect(isSettled(TWINS, roundsOf(duel(300)))).toBe(true);
    expect(isSettled(DELAY, roundsOf(latency(400, 100)))).toBe(true);
    expect(isSettled(DELAY, roundsOf(latency(400, 100), { disturbed: 10 }))).toBe(false);
    expect(isSettled(DELAY, [failed])).toBe(false);
  });
});

describe('the report of a calibration', () => {
  const host = { virtualised: true, cpuModel: 'a CPU', cores: 2, platform: 'linux', release: '6.1' };
  const textOf = (rounds: CalibrationRound[]): string =>
    renderCalibration(evaluate([DELAY], new Map([[DELAY.name, rounds]])), host as never, 'ID');

  it('names the machine’s part, what is undecided, and how much the machine was disturbed', () => {
    const text = textOf(roundsOf(latency(700, 100), { count: 20, disturbed: 15 }));
    expect(text).toMatch(/also on bare sockets +\+100 \(\+100 to \+100\)/);
    expect(text).toMatch(/added by the driver .*undecided/);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'undecided: 5 ms at 1 connection, added by the driver: the interval is beyond the tolerance; 15 of 20 rounds were disturbed, so the machine may be the cause',
    );
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      '20 rounds, 15 of them disturbed by the machine; the hypervisor took 1 to 40 % of a core',
    );
  });

  it('fits 80 columns', () => {
    const lines = textOf(roundsOf(latency(9999, 1234))).split('\n');
    expect(Math.max(...lines.map((line) => line.trimEnd().length))).toBeLessThanOrEqual(80);
    expect(lines.join()).toContain('OUTSIDE');
  });
});
