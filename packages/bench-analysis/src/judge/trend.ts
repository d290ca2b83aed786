/** Trends in the cost of servers that take turns, relative to each other: one of them still warms up, or leaks. Pure. */
import { medianOf } from 'bench-statistics/numbers';
import { findTrend } from 'bench-statistics/trend';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { HostWindow, Turns } from 'bench-model/measured';
import { isDisturbed } from './judge.ts';

/** The change of one server relative to another, or to all others. */
export interface RatioTrend {
  /** The index of the server that changes; of two, it may be either. */
  side: number;
  /** The factor of its cost, relative to the others. */
  change: number;
}

/**
 * Finds the servers whose cost changes relative to the others, from the costs of each in order of time. The others are
 * represented by their median in each place, so that one that changes is found by itself; of two servers, the ratio
 * cannot show which one changes.
 */
export function findTrends(costs: readonly (readonly number[])[]): RatioTrend[] {
  const logs = costs.map(relativeLogs);
  return logs.flatMap((own, side) => {
    const others = logs.filter((_, index) => index !== side);
    // Two servers have one ratio.
    if (others.length === 0 || (others.length === 1 && side === 0)) return [];
    const ratios = own.map(
      (log = NaN, place) => log - (medianOf(others.map((other) => other[place])) ?? NaN),
    );
    const change = findTrend(ratios.filter(Number.isFinite), costs.length);
    return change === undefined ? [] : [{ side, change }];
  });
}

/** Returns the logarithms of the costs of a server, relative to their level; undefined where a cost is unknown. */
function relativeLogs(costs: readonly number[]): (number | undefined)[] {
  const logs = costs.map((cost) => (cost > 0 && cost < Infinity ? Math.log(cost) : undefined));
  const level = medianOf(logs) ?? 0;
  return logs.map((log) => (log === undefined ? log : log - level));
}

/** A server that took turns with others. */
export interface TurningServer {
  target: string;
  /** Undefined if it failed before them. */
  turns: Turns | undefined;
  /** The machine during them. */
  hosts: readonly HostWindow[];
}

/**
 * Returns the reasons that their turns give against servers, in the same order. A disturbance of the machine does not
 * cost unlike servers the same, so among more than two, a ratio that follows it says nothing.
 */
export function judgeTurns(servers: readonly TurningServer[]): Reason[][] {
  const trends = findTrends(alignTurns(servers.map(({ turns }) => costsOf(turns))));
  const own = trends.filter(({ side }) => servers.length === 2 || !servers[side]?.hosts.some(isDisturbed));
  return explainTrends(
    own,
    servers.map(({ target }) => target),
    'in the window',
  );
}

/** Returns the reasons against each target whose cost changes relative to the others; of two, it may be either. */
export function explainTrends(
  trends: readonly RatioTrend[],
  targets: readonly string[],
  when: 'after the warm-up' | 'in the window',
): Reason[][] {
  const isPair = targets.length === 2;
  return targets.map((_, index) =>
    trends
      .filter(({ side }) => isPair || side === index)
      .map(({ side, change }) => {
        const other = isPair ? targets[1 - index] : undefined;
        return makeReason('ratio-trend', {
          when,
          change: side === index ? change : 1 / change,
          ...(other !== undefined && { other }),
        });
      }),
  );
}

/** Returns as many costs of each server as the one with the fewest turns has, over the same time. */
function alignTurns(costs: readonly number[][]): number[][] {
  const turns = Math.min(...costs.flatMap(({ length }) => (length === 0 ? [] : [length])));
  return costs.map((own) =>
    own.length === 0
      ? []
      : Array.from({ length: turns }, (_, turn) => own[Math.floor((turn * own.length) / turns)] as number),
  );
}

/** The CPU per request of each turn, in µs; empty if it was not read. */
export function costsOf({ cpuUs = [], answers = [] }: Partial<Turns> = {}): number[] {
  return cpuUs.map((us, turn) => us / (answers[turn] ?? 0));
}
