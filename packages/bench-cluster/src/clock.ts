/** Clocks of other hosts, as offsets from the clock of this one. Pure. */

/** One round trip to another clock, in ms since the epoch: sent and returned by this clock, read by that one. */
export interface RoundTrip {
  sentMs: number;
  readMs: number;
  returnedMs: number;
}

/** The offset of another clock. */
export interface Offset {
  /** The time of the other clock minus the time of this one. */
  offsetMs: number;
  errorMs: number;
  roundTripMs: number;
}

/**
 * Estimates an offset from the shortest round trip, as NTP does (RFC 5905): the clock was read at some time during it, so
 * the middle is wrong by at most half of it. Throws if there is no round trip.
 */
export function estimateOffset(trips: readonly RoundTrip[]): Offset {
  const lengthOf = ({ sentMs, returnedMs }: RoundTrip): number => returnedMs - sentMs;
  const [best] = trips.toSorted((a, b) => lengthOf(a) - lengthOf(b));
  if (best === undefined) throw new Error('no round trip');
  const roundTripMs = Math.max(0, lengthOf(best));
  return {
    offsetMs: best.readMs - (best.sentMs + best.returnedMs) / 2,
    errorMs: roundTripMs / 2,
    roundTripMs,
  };
}

/** Joins the offsets before and after a load. A clock that has moved in between is known less precisely. */
export function joinOffsets(before: Offset, after: Offset): Offset {
  return {
    offsetMs: before.offsetMs,
    errorMs: Math.max(before.errorMs, after.errorMs) + Math.abs(after.offsetMs - before.offsetMs),
    roundTripMs: Math.min(before.roundTripMs, after.roundTripMs),
  };
}
