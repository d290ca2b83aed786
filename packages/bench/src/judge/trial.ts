/** Judges a trial from its record, while it is measured and whenever it is read again. Pure. */
import { sum } from '../numbers.ts';
import { coresOf } from '../plan/plan.ts';
import type { Measured, Reason, TrialHead } from '../results/record.ts';
import { derive } from './derive.ts';
import { judge, type Witness } from './judge.ts';

/** The measurements of a trial that its judgement rests on. */
export type Seen = Pick<Measured, 'load' | 'server' | 'host' | 'turns'>;

/** The measurements that follow from others by the rules of judgement. */
type Findings = Pick<
  Measured,
  'limit' | 'budget' | 'shape' | 'cpuUsPerRequest' | 'bytesPerConnection' | 'contextSwitchesPerRequest'
>;

/** The machine of a trial, and the companions that watched its server. */
export interface Surroundings {
  machineCores: number;
  companions: Witness[];
}

/** Returns the reasons against the window of a trial, and its findings. */
export function judgeTrial(
  head: TrialHead,
  { load, server, host, turns }: Seen,
  { machineCores, companions }: Surroundings,
): { reasons: Reason[]; findings: Findings } {
  const { placement, workers, attested, connections } = head;
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
  });
  // An external tool is sampled from its start to its end.
  const holdsAll = head.load?.mode === 'amount' || load.lifetime === undefined;
  const answers = turns && sum(turns.answers);
  return {
    reasons,
    findings: {
      ...(server && derive({ load, server, holdsAll, answers, connections })),
      limit,
      ...(budget && { budget }),
      ...(shape && { shape }),
    },
  };
}
