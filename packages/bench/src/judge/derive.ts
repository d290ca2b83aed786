/** Figures that need both sides of a window: what the server used, and what the load got for it. Pure. */

import type { LoadResult, Measured } from '../results/record.ts';
import type { Resources } from '../model.ts';

/** What was sampled of the server while its load was on, and how that span relates to the load's. */
export interface Span {
  load: LoadResult;
  server: Resources;
  /** The sampled span holds every request of the load, so its CPU belongs to the answers that were counted. */
  holdsAll: boolean;
  connections: number;
}

/** Returns CPU and context switches per right answer, and memory per added connection; absent where a part is missing. */
export function derive({ load, server, holdsAll, connections }: Span): Partial<Measured> {
  const { ok } = load.counts;
  const { cpuUserUs, cpuSystemUs, seconds, contextSwitches, idleBytes, peakBytes } = server;
  // The load goes on while both edges are sampled, some ms longer than its own window: only rates can be compared.
  const answers = holdsAll ? ok : load.goodputPerSecond * seconds;
  return {
    ...(ok > 0 ? { cpuUsPerRequest: (cpuUserUs + cpuSystemUs) / answers } : {}),
    ...(ok > 0 && contextSwitches !== undefined
      ? { contextSwitchesPerRequest: contextSwitches / answers }
      : {}),
    ...(idleBytes !== undefined && peakBytes !== undefined
      ? { bytesPerConnection: (peakBytes - idleBytes) / connections }
      : {}),
  };
}

/**
 * Returns the resources of a server that was idle before and after its load, as used in the load's own window.
 * With a fixed amount of requests the sampled span is longer than the window, and its mean would hide a full core.
 */
export function overWindow(server: Resources, { windowSeconds: seconds }: LoadResult): Resources {
  if (seconds <= 0 || seconds >= server.seconds) return server;
  return { ...server, seconds, coresUsed: (server.cpuUserUs + server.cpuSystemUs) / 1e6 / seconds };
}
