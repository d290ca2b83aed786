/** The orders that share one load among several generator processes. */
import { nextSender } from 'bench-targets/catalogue/workloads/stamps';
import { sum } from 'bench-statistics/numbers';
import type { Window } from './engine.ts';
import { splitShares } from './merge.ts';
import type { LoadSpec, OrderOf, RouteSpec } from './protocol.ts';

/** Returns the order to connect for each process. `capacity` is the accept queue of the server, if known. */
export function armOrders(
  spec: LoadSpec,
  processes: number,
  { session, capacity }: { session: number; capacity: number | undefined },
): OrderOf<'arm'>[] {
  const { connections, ...rest } = spec;
  return splitShares(connections, processes).map((share, index) => ({
    do: 'arm',
    session,
    sender: nextSender(),
    skippedCycles: index,
    ...rest,
    routes: spec.routes?.map((route) => (route.once === true ? shareOf(route, index, processes) : route)),
    connections: share,
    acceptQueue: { capacity, processes },
  }));
}

/** Returns the part of a route whose requests are sent once that this process sends. */
function shareOf(route: RouteSpec, index: number, processes: number): RouteSpec {
  const shares = splitShares(route.count, processes);
  return { ...route, first: route.first + sum(shares.slice(0, index)), count: shares[index] as number };
}

/** Returns the order to fire at `atMs` for each process. */
export function fireOrders(
  { load, ...window }: Window,
  processes: number,
  { session, atMs }: { session: number; atMs: number },
): OrderOf<'fire'>[] {
  const amounts = load.mode === 'amount' ? splitShares(load.requests, processes) : [];
  return Array.from({ length: processes }, (_, index) => ({
    do: 'fire',
    session,
    atMs,
    ...window,
    amount: amounts[index],
    amountBefore: sum(amounts.slice(0, index)),
    rate: load.mode === 'open' ? load.perSecond / processes : undefined,
    gapSeed: window.gapSeed === undefined ? undefined : window.gapSeed + index,
  }));
}
