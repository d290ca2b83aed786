/** Numbers of connections that keep a server busy. */

/** From this number of connections on, a server is always busy, so that answers come at its own pace. */
const BUSY_CONNECTIONS = 10;

/** Returns the fewest connections that keep a server busy, or else the most. */
export function fewestBusy(rungs: readonly number[]): number {
  const busy = rungs.filter((rung) => rung >= BUSY_CONNECTIONS);
  return busy.length > 0 ? Math.min(...busy) : Math.max(...rungs);
}
