import { describe, expect, it } from 'vitest';
import { Cycle } from '../src/cycle.ts';
import { armOrders } from '../src/orders.ts';
import type { LoadSpec, RouteSpec } from '../src/protocol.ts';

const specOf = (routes: RouteSpec[], order: number[]): LoadSpec => ({
  host: '127.0.0.1',
  port: 1,
  requests: Array.from({ length: 100 }, () => ({ method: 'POST', path: '/', headers: {} })),
  routes,
  order,
  connections: 4,
  timeoutSeconds: 1,
  barrierSeconds: 1,
  expected: undefined,
  hashEvery: 1,
});
const ONCE = { first: 0, count: 11, statuses: ['2xx' as const], once: true as const };
const AGAIN = { first: 11, count: 2, statuses: ['2xx' as const] };

describe('a route whose requests are sent once', () => {
  it.each([
    [[0], 11],
    [[0, 0, 1], 16],
    [[1, 0], 23],
    [[1, 1, 0], 35],
  ])('ends before it repeats one, in the cycle %j', (order, takes) => {
    const cycle = new Cycle(specOf([ONCE, AGAIN], order));
    expect(cycle.countLeft()).toBe(takes);
    const taken = Array.from({ length: takes }, () => cycle.take());
    expect(cycle.countLeft()).toBe(0);
    const once = taken.filter((request) => request < 11);
    expect(once.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 11 }, (_, request) => request));
  });

  it('does not begin again when an amount restarts the cycle', () => {
    const cycle = new Cycle(specOf([ONCE, AGAIN], [0, 1]));
    const before = [cycle.take(), cycle.take(), cycle.take()];
    cycle.restart(0);
    expect(cycle.countLeft()).toBe(2 * 9);
    expect([...before, cycle.take(), cycle.take()]).toEqual([0, 11, 1, 2, 11]);
  });

  it('is shared among processes, each with other requests', () => {
    const orders = armOrders(specOf([ONCE, AGAIN], [0, 1]), 3, { session: 0, capacity: undefined });
    const taken = orders.flatMap(({ requests, routes, order, skippedCycles }) => {
      const cycle = new Cycle({ requests, routes, order }, skippedCycles);
      return Array.from({ length: cycle.countLeft() }, () => cycle.take());
    });
    const once = taken.filter((request) => request < 11);
    expect(once.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 11 }, (_, request) => request));
  });

  it('leaves every other cycle without an end', () => {
    expect(new Cycle(specOf([AGAIN], [0])).countLeft()).toBe(Infinity);
  });
});
