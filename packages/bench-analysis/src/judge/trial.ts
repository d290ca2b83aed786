/** Judges a trial when it is measured. Pure. */
import { coresOf } from 'bench-model/planned';
import { sum } from 'bench-statistics/numbers';
import { startsOnly } from 'bench-model/engines';
import type { LoadResult } from 'bench-model/load';
import { present } from 'bench-model/options';
import type { LoadMode } from 'bench-model/settings';
import type { Measured, Turns } from 'bench-model/measured';
import type { Resources } from 'bench-model/figures';
import { isFatal, type Reason } from 'bench-model/reasons';
import type { TrialHead } from 'bench-model/record';
import { judge, type Seen, type Surroundings } from './judge.ts';

/** The measurements that follow from others by the rules of judgement. */
type Findings = Pick<
  Measured,
  'limit' | 'budget' | 'shape' | 'cpuUsPerRequest' | 'contextSwitchesPerRequest'
>;

/** Returns the reasons against the window of a trial, and its findings. */
export function judgeTrial(
  head: TrialHead,
  seen: Seen,
  surroundings: Surroundings,
): { reasons: Reason[]; findings: Findings } {
  const { load, server, turns } = seen;
  const { placement, workers, attested, process } = head;
  const { reasons, limit, budget, shape } = judge({
    ...seen,
    ...surroundings,
    budgetCores: placement.server?.length ?? coresOf(head),
    isShared: placement.kind === 'shared',
    workers,
    attested,
    mode: head.load,
    command: process?.command,
  });
  return {
    // Whatever happens around one request, the start is over.
    reasons: startsOnly(head.load) ? reasons.filter(isFatal) : reasons,
    findings: {
      ...(server && derive(server, countSampled({ load, server, turns }, head.load.mode))),
      limit,
      ...present({ budget, shape }),
    },
  };
}

/** Returns CPU and context switches per correct response, of which this many were given in the sampled span; absent if a part is missing. */
export function derive(server: Resources, answers: number): Partial<Measured> {
  if (answers === 0) return {};
  const { cpuUserUs, cpuSystemUs, contextSwitches } = server;
  return present({
    cpuUsPerRequest: (cpuUserUs + cpuSystemUs) / answers,
    contextSwitchesPerRequest: contextSwitches === undefined ? undefined : contextSwitches / answers,
  });
}

/** Counts the correct responses in the sampled span of a server. */
export function countSampled(
  { load, server, turns }: { load: LoadResult; server: Resources; turns: Turns | undefined },
  mode: LoadMode['mode'],
): number {
  const { counts, lifetime, goodputPerSecond } = load;
  if (turns !== undefined) return sum(turns.answers);
  // An external tool is sampled from its start to its end, as is a fixed amount.
  if (mode === 'amount' || lifetime === undefined) return counts.ok;
  // The load continues while both edges are sampled, a few ms beyond its window: only rates are comparable.
  return goodputPerSecond * server.seconds;
}

/**
 * Returns the resources of a server that was idle before and after its load, scaled to the window of the load. With a
 * fixed amount of requests, the sampled span is longer than the window, and its mean would hide a saturated core.
 */
export function overWindow(server: Resources, { windowSeconds: seconds }: LoadResult): Resources {
  if (seconds <= 0 || seconds >= server.seconds) return server;
  return { ...server, seconds, coresUsed: (server.cpuUserUs + server.cpuSystemUs) / 1e6 / seconds };
}
