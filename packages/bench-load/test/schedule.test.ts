import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRandom } from 'bench-statistics/random';
import { Schedule } from '../src/schedule.ts';

/** The clock in ms, and an alarm that rings when `pass` reaches its time. */
let now = 0;
const calls = new Map<() => void, number>();
const alarm = {
  set: (call: () => void, atMs: number) => void calls.set(call, atMs),
  clear: (call: () => void) => void calls.delete(call),
};

/** Lets time pass. Every alarm rings this much too late. */
function pass(milliseconds: number, lateMs = 0): void {
  const end = now + milliseconds;
  for (;;) {
    const [first] = [...calls].toSorted(([, a], [, b]) => a - b);
    if (first === undefined || first[1] + lateMs > end) break;
    now = Math.max(now, first[1] + lateMs);
    calls.delete(first[0]);
    first[0]();
  }
  now = end;
}

/** A connection that is answered immediately; `taken` are its requests. */
function answerAtOnce(schedule: Schedule) {
  const taken: { atMs: number; intendedAt: number; lateMs: number }[] = [];
  const ask = (): void => {
    for (let due = schedule.take(ask); due !== undefined; due = schedule.take(ask))
      taken.push({ atMs: now, ...due });
  };
  ask();
  return taken;
}

describe('an open loop', () => {
  beforeEach(() => {
    now = 1000;
    calls.clear();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('schedules at its rate, independent of responses', () => {
    const schedule = new Schedule(100, alarm);
    schedule.open();
    pass(995);
    schedule.close();
    expect(schedule.report).toEqual({ intended: 100, late: 0, dropped: 100 });
  });

  it('has exponential gaps with a mean of its rate if it gets random numbers, as independent users have', () => {
    const schedule = new Schedule(1000, alarm, undefined, undefined, createRandom(1));
    const taken = answerAtOnce(schedule);
    pass(20_000);
    const gaps = taken.slice(1).map(({ intendedAt }, index) => intendedAt - (taken[index]?.intendedAt ?? 0));
    expect(Math.abs(gaps.length / 20_000 - 1)).toBeLessThan(0.03);
    for (const ms of [0.5, 1, 2, 4]) {
      const share = gaps.filter((gap) => gap > ms).length / gaps.length;
      expect(Math.abs(share - Math.exp(-ms))).toBeLessThan(0.02);
    }
  });

  it('releases each request at its intended time, between whole ms too', () => {
    const schedule = new Schedule(400, alarm);
    const taken = answerAtOnce(schedule);
    pass(9);
    expect(taken.map(({ atMs }) => atMs)).toEqual([1000, 1002.5, 1005, 1007.5]);
    expect(taken.map(({ intendedAt }) => intendedAt)).toEqual([1000, 1002.5, 1005, 1007.5]);
  });

  it('gives each request its intended time, in order, on any free connection', () => {
    const schedule = new Schedule(100, alarm);
    const taken: number[] = [];
    const ask = (): void => {
      const due = schedule.take(ask);
      if (due !== undefined) taken.push(due.intendedAt - 1000);
    };
    ask();
    pass(35);
    // The only connection was busy from the first request; now it becomes free three times.
    for (let each = 0; each < 3; each++) ask();
    expect(taken).toEqual([0, 10, 20, 30]);
  });

  it('counts requests that were sent late or never', () => {
    const schedule = new Schedule(100, alarm);
    schedule.open();
    pass(95);
    for (let each = 0; each < 4; each++) schedule.take(() => {});
    const waiting = schedule.close();
    expect(schedule.report).toEqual({ intended: 10, late: 4, dropped: 6 });
    expect(waiting).toEqual([1040, 1050, 1060, 1070, 1080, 1090]);
  });

  it('counts what became due in a pause before the end, and nothing after the planned end', () => {
    const paused = new Schedule(100, alarm);
    paused.open(now, now + 95);
    pass(55);
    calls.clear();
    now += 40;
    expect(paused.close()).toHaveLength(10);
    expect(paused.report).toEqual({ intended: 10, late: 0, dropped: 10 });

    const closedLate = new Schedule(100, alarm);
    closedLate.open(now, now + 95);
    pass(250);
    expect(closedLate.close()).toHaveLength(10);
    expect(closedLate.report).toEqual({ intended: 10, late: 0, dropped: 10 });
  });

  it('does not count what became due in a pause before the window', () => {
    const schedule = new Schedule(100, alarm);
    calls.clear();
    now += 45;
    schedule.open();
    pass(50);
    expect(schedule.close()).toHaveLength(10);
    expect(schedule.report).toMatchObject({ intended: 5, dropped: 10 });
  });

  it('charges its own delay to a request only for the time for which a connection was free', () => {
    const schedule = new Schedule(100, alarm);
    const idle = answerAtOnce(schedule);
    pass(35, 0.4);
    expect(idle.map(({ lateMs }) => Number(lateMs.toFixed(3)))).toEqual([0, 0.4, 0.4, 0.4]);

    const crowded = new Schedule(100, alarm);
    const first = crowded.take(() => {});
    pass(25);
    const second = crowded.take(() => {});
    expect([first, second]).toEqual([
      { intendedAt: 1035, lateMs: 0 },
      { intendedAt: 1045, lateMs: 0 },
    ]);
  });

  it('charges it too if a response arrives before the late alarm', () => {
    const schedule = new Schedule(100, alarm);
    schedule.take(() => {});
    schedule.take(() => {});
    now += 10.7;
    expect(schedule.take(() => {})?.lateMs).toBeCloseTo(0.7);
  });

  it('wakes up no more often than every 0.2 ms, however high the rate', () => {
    const schedule = new Schedule(20_000, alarm);
    const taken = answerAtOnce(schedule);
    pass(10);
    const wakes = new Set(taken.map(({ atMs }) => atMs));
    expect(taken.length).toBeGreaterThanOrEqual(197);
    expect(wakes.size).toBeLessThanOrEqual(51);
    expect(Math.max(...taken.map(({ lateMs }) => lateMs))).toBeLessThanOrEqual(0.21);
  });

  it('schedules nothing after its end', () => {
    const schedule = new Schedule(100, alarm);
    let fired = 0;
    schedule.take(() => fired++);
    schedule.take(() => fired++);
    schedule.close();
    pass(1000);
    expect([fired, schedule.report.intended, calls.size]).toEqual([0, 0, 0]);
    expect([schedule.take(() => fired++), calls.size]).toEqual([undefined, 0]);
  });
});
