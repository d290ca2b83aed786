import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Schedule } from '../../src/load/schedule.ts';

describe('an open loop', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('schedules at its rate, independent of answers', () => {
    const schedule = new Schedule(100);
    schedule.open();
    vi.advanceTimersByTime(995);
    expect(schedule.report.intended).toBe(100);
    schedule.close();
  });

  it('gives each request its intended time, in order, on any free connection', () => {
    const from = performance.now();
    const schedule = new Schedule(100);
    const taken: number[] = [];
    const ask = (): void => {
      const intended = schedule.take(ask);
      if (intended !== undefined) taken.push(Math.round(intended - from));
    };
    ask();
    vi.advanceTimersByTime(35);
    // The only connection was busy from the first request; now it becomes free three times.
    for (let each = 0; each < 3; each++) ask();
    expect(taken).toEqual([0, 10, 20, 30]);
    schedule.close();
  });

  it('counts requests that were sent late or never', () => {
    const from = performance.now();
    const schedule = new Schedule(100);
    schedule.open();
    vi.advanceTimersByTime(95);
    for (let each = 0; each < 4; each++) schedule.take(() => {});
    const waiting = schedule.close();
    expect(schedule.report).toEqual({ intended: 10, late: 4, dropped: 6 });
    expect(waiting.map((intended) => Math.round(intended - from))).toEqual([40, 50, 60, 70, 80, 90]);
  });

  it('takes back a request whose connection failed, with its intended time', () => {
    const schedule = new Schedule(100);
    vi.advanceTimersByTime(25);
    const first = schedule.take(() => {});
    schedule.giveBack(first ?? NaN);
    expect(schedule.take(() => {})).toBe(first);
    schedule.close();
  });

  it('schedules nothing after its end', () => {
    const schedule = new Schedule(100);
    let asked = 0;
    schedule.take(() => asked++);
    schedule.close();
    vi.advanceTimersByTime(1000);
    expect([asked, schedule.report.intended]).toEqual([0, 0]);
  });
});
