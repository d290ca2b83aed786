/** Judges a trial from its record, while it is measured and whenever it is read again. Pure. */
import { coresOf } from 'bench-model/planned';
import { memoryByAnswers } from 'bench-statistics/growth';
import { sum } from 'bench-statistics/numbers';
import type { Measured } from 'bench-model/measured';
import type { Reason } from 'bench-model/reasons';
import type { TrialHead } from 'bench-model/record';
import { derive } from './derive.ts';
import { judge, type Witness } from './judge.ts';

/** The measurements of a trial that its judgement rests on. */
export type Seen = Pick<Measured, 'load' | 'server' | 'host' | 'turns'>;

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
  const { load, server, host, turns } = seen;
  const { placement, workers, attested } = head;
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
  });
  // An external tool is sampled from its start to its end.
  const holdsAll = head.load.mode === 'amount' || load.lifetime === undefined;
  const answers = turns && sum(turns.answers);
  return {
    reasons,
    findings: {
      ...(server && derive({ load, server, holdsAll, answers })),
      limit,
      ...(budget && { budget }),
      ...(shape && { shape }),
    },
  };
}
