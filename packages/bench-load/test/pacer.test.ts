import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pacer } from '../src/pacer.ts';
import { findRoom } from '../src/room.ts';

/** Returns the number of connects, out of 1,000, that have started after this many ms. */
function startedAfter(milliseconds: number, room: (started: number) => number): number {
  let started = 0;
  const pacer = new Pacer(() => room(started));
  for (let each = 0; each < 1000; each++) pacer.schedule(() => started++);
  vi.advanceTimersByTime(milliseconds);
  return started;
}

describe('the pace of connects', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('never exceeds the room of the server', () => {
    expect(startedAfter(1000, () => 0)).toBe(0);
    expect(startedAfter(1000, () => -3)).toBe(0);
    expect(startedAfter(1000, (started) => 70 - started)).toBe(70);
    expect(startedAfter(1000, () => Infinity)).toBe(1000);
  });

  it('ends, and no waiting connect starts', () => {
    let started = 0;
    const pacer = new Pacer(() => 1);
    for (let each = 0; each < 10; each++) pacer.schedule(() => started++);
    vi.advanceTimersToNextTimer();
    pacer[Symbol.dispose]();
    vi.advanceTimersByTime(1000);
    expect([started, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('waits for a server that is behind, and then continues', () => {
    const held = performance.now() + 500;
    const room = (started: number): number => (performance.now() < held ? 0 : 70 - started);
    expect([startedAfter(499, room), startedAfter(1000, room)]).toEqual([0, 70]);
  });
});

/** A server that accepts this many connections per tick, with an accept queue of this length, and answers them. */
function connectAll(backlog: number, accepts: (tick: number) => number, isSeen = true) {
  const server = { waiting: 0, accepted: 0, overflows: 0 };
  const readWaiting = (): number => server.waiting;
  let begun = 0;
  let stoodAt = 0;
  let tick = 0;
  for (; tick < 20_000 && server.accepted < 5000; tick++) {
    const accepted = Math.min(server.waiting, accepts(tick));
    server.waiting -= accepted;
    server.accepted += accepted;
    if (accepted > 0) stoodAt = tick;
    const spec = isSeen ? { capacity: backlog, processes: 1, readWaiting } : { processes: 1 };
    const room = findRoom(spec, { begun, standing: server.accepted, stoodAt }, tick);
    const connects = Math.max(0, Math.min(room, 100, 5000 - begun));
    begun += connects;
    server.waiting += connects;
    server.overflows += Math.max(0, server.waiting - backlog);
  }
  return { ...server, begun, ticks: tick };
}

describe('the room of a server', () => {
  it.each([5, 128, 511, 4096])('never overflows an accept queue of %d', (backlog) => {
    for (const perTick of [1, 7, 60]) {
      const seen = connectAll(backlog, () => perTick);
      expect(seen).toMatchObject({ accepted: 5000, overflows: 0 });
    }
  });

  it('is used as fast as the server accepts', () => {
    expect(connectAll(511, () => 40).ticks).toBeLessThan((5000 / 40) * 1.1);
  });

  it('survives pauses of the server', () => {
    expect(connectAll(511, (tick) => (tick % 1000 < 700 ? 0 : 40))).toMatchObject({
      accepted: 5000,
      overflows: 0,
    });
  });

  it('is filled to the end, and no further, if the server stops accepting', () => {
    expect(connectAll(511, (tick) => (tick < 30 ? 10 : 0))).toMatchObject({ overflows: 0, waiting: 511 });
  });

  it('is that of the smallest usual queue if it cannot be seen', () => {
    expect(connectAll(128, () => 7, false)).toMatchObject({ accepted: 5000, overflows: 0 });
  });

  it('is shared by the processes that connect', () => {
    const spec = { capacity: 512, processes: 4, readWaiting: () => 56 };
    expect(findRoom(spec, { begun: 100, standing: 40, stoodAt: 0 }, 1)).toBe(50);
  });
});
