import type { LoadSpec, RouteSpec } from './protocol.ts';

/** Returns the routes of a load: as given, or one for each request. */
export function routesOf({ requests, routes }: Pick<LoadSpec, 'requests' | 'routes'>): RouteSpec[] {
  return routes ?? requests.map((_, first) => ({ first, count: 1, statuses: ['2xx'] }));
}

/**
 * The order in which one process sends: routes by their weight, and the requests of each route in turn. All its
 * connections share it, so the weights are exact over each cycle of the process, whatever each connection sends.
 */
export class Cycle {
  readonly #routes: readonly RouteSpec[];
  readonly #order: readonly number[];
  /** The number of times that each route occurs in the first n places of the order. */
  readonly #before: number[][];
  readonly #returned: number[] = [];
  #taken: number;
  /** The requests of each route that were sent. Those of a route that is sent once are never forgotten. */
  readonly #sent: number[];

  constructor(spec: Pick<LoadSpec, 'requests' | 'routes' | 'order'>, skippedCycles = 0) {
    this.#routes = routesOf(spec);
    this.#order = spec.order ?? this.#routes.map((_, route) => route);
    const seen = this.#routes.map(() => 0);
    this.#before = [[...seen]];
    for (const route of this.#order) {
      seen[route] = (seen[route] ?? 0) + 1;
      this.#before.push([...seen]);
    }
    this.#taken = 0;
    this.#sent = this.#routes.map(() => 0);
    this.restart(skippedCycles * this.#order.length);
  }

  /** Continues as if this many requests had been sent. */
  restart(sent: number): void {
    const cycles = Math.floor(sent / this.#order.length);
    this.#taken = sent % this.#order.length;
    for (const [route, { once }] of this.#routes.entries()) {
      if (once === true) continue;
      const inCycle = this.#before.at(-1)?.[route] ?? 0;
      this.#sent[route] = cycles * inCycle + (this.#before[this.#taken]?.[route] ?? 0);
    }
    this.#returned.length = 0;
  }

  /** Returns how many more requests can be taken before a route has sent each of its requests once; infinite by default. */
  countLeft(): number {
    return Math.min(
      ...this.#routes.map(({ count, once }, route) => {
        if (once !== true) return Infinity;
        const places = this.#order.flatMap((other, place) => (other === route ? [place] : []));
        if (places.length === 0) return Infinity;
        // The steps from here to each place of the route in the cycle.
        const steps = places
          .map((place) => (place - this.#taken + this.#order.length) % this.#order.length)
          .toSorted((a, b) => a - b);
        const left = count - (this.#sent[route] ?? 0);
        const cycles = Math.floor(left / places.length);
        return cycles * this.#order.length + (steps[left % places.length] as number);
      }),
    );
  }

  /** Returns the index of the next request. */
  take(): number {
    const returned = this.#returned.pop();
    if (returned !== undefined) return returned;
    const route = this.#order[this.#taken] ?? 0;
    this.#taken = (this.#taken + 1) % this.#order.length;
    const { first, count } = this.#routes[route] as RouteSpec;
    const sent = this.#sent[route] ?? 0;
    this.#sent[route] = sent + 1;
    return first + (sent % count);
  }

  /** Takes a request back that was never sent. */
  giveBack(request: number): void {
    this.#returned.push(request);
  }
}
