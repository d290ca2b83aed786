import type { Plan } from 'bench-model/plan';
import type { ReasonCode } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { EVIDENCE } from '../../src/judge/stored.ts';

/** Returns the codes of the reasons that a trial cannot be judged by: its record lacks the evidence. */
export function lackedEvidence(trial: Trial, { plan }: { plan: Plan }): ReasonCode[] {
  if (trial.status === 'failed') return [];
  const recorded = { trial, measured: trial.measured, plan };
  return EVIDENCE.flatMap(([codes, isStored]) => (isStored(recorded) ? [] : codes));
}
