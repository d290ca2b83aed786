/** Derives figures from both sides of a window: the server's resources and the load's answers. Pure. */

import type { LoadResult } from 'bench-model/load';
import type { Measured } from 'bench-model/measured';
import type { Resources } from 'bench-model/figures';

/** The resources of the server under load, and the relation of the sampled span to the load's. */
export interface Span {
  load: LoadResult;
  server: Resources;
  /** True if the sampled span includes every request of the load, so that its CPU belongs to the counted answers. */
  holdsAll: boolean;
  /** The right answers in the sampled span, if each was counted. */
  answers?: number | undefined;
}

/** Returns CPU and context switches per right answer; absent if a part is missing. */
export function derive({ load, server, holdsAll, answers: counted }: Span): Partial<Measured> {
  const { ok } = load.counts;
  const { cpuUserUs, cpuSystemUs, seconds, contextSwitches } = server;
  // The load continues while both edges are sampled, a few ms beyond its window: only rates are comparable.
  const answers = counted ?? (holdsAll ? ok : load.goodputPerSecond * seconds);
  return {
    ...(ok > 0 ? { cpuUsPerRequest: (cpuUserUs + cpuSystemUs) / answers } : {}),
    ...(ok > 0 && contextSwitches !== undefined
      ? { contextSwitchesPerRequest: contextSwitches / answers }
      : {}),
  };
}

/**
 * Returns the resources of a server that was idle before and after its load, scaled to the window of the load. With a
 * fixed amount of requests, the sampled span is longer than the window, and its mean would hide a saturated core.
 */
export function overWindow(server: Resources, { windowSeconds: seconds }: LoadResult): Resources {
  if (seconds <= 0 || seconds >= server.seconds) return server;
  return { ...server, seconds, coresUsed: (server.cpuUserUs + server.cpuSystemUs) / 1e6 / seconds };
}
