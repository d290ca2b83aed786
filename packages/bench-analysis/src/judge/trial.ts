/** Judges a trial when it is measured. Pure. */
import { coresOf } from 'bench-model/planned';
import { memoryByAnswers } from 'bench-statistics/growth';
import { sum } from 'bench-statistics/numbers';
import { startsOnly } from 'bench-model/engines';
import type { LoadResult } from 'bench-model/load';
import type { Measured } from 'bench-model/measured';
import type { Resources } from 'bench-model/figures';
import { isFatal, type Reason } from 'bench-model/reasons';
import type { TrialHead } from 'bench-model/record';
import { judge, type Witness } from './judge.ts';

/** The measurements of a trial that its judgement rests on. */
export type Seen = Pick<Measured, 'load' | 'server' | 'host' | 'turns' | 'alone'>;

/** The measurements that follow from others by the rules of judgement. */
type Findings = Pick<
  Measured,
  'limit' | 'budget' | 'shape' | 'cpuUsPerRequest' | 'contextSwitchesPerRequest'
>;

/** The machine of a trial, and the companions that watched its server. */
export interface Surroundings {
  machineCores: number;
  companions: Witness[];
}

/** Returns the reasons against the window of a trial, and its findings. */
export function judgeTrial(
  head: TrialHead,
  seen: Seen,
  { machineCores, companions }: Surroundings,
): { reasons: Reason[]; findings: Findings } {
  const { load, server, host, turns, alone } = seen;
  const { placement, workers, attested, process } = head;
  const { reasons, limit, budget, shape } = judge({
    load,
    server,
    host,
    machineCores,
    companions,
    budgetCores: placement.server?.length ?? coresOf(head),
    isShared: placement.kind === 'shared',
    workers,
    attested,
    mode: head.load,
    turns: turns?.answers.length ?? 0,
    memory: memoryByAnswers(seen),
    alone,
    command: process?.command,
  });
  // An external tool is sampled from its start to its end.
  const holdsAll = head.load.mode === 'amount' || load.lifetime === undefined;
  const answers = turns && sum(turns.answers);
  return {
    // Whatever happens around one request, the start is over.
    reasons: startsOnly(head.load) ? reasons.filter(isFatal) : reasons,
    findings: {
      ...(server && derive({ load, server, holdsAll, answers })),
      limit,
      ...(budget && { budget }),
      ...(shape && { shape }),
    },
  };
}

/** The resources of the server under load, and the relation of the sampled span to the load's. */
interface Span {
  load: LoadResult;
  server: Resources;
  /** True if the sampled span includes every request of the load, so that its CPU belongs to the counted answers. */
  holdsAll: boolean;
  /** The correct responses in the sampled span, if each was counted. */
  answers?: number | undefined;
}

/** Returns CPU and context switches per correct response; absent if a part is missing. */
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
