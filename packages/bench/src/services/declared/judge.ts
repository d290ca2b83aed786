import type { TrialCompanion } from '../companion.ts';
import { fillsItsCore } from '../upstream/judge.ts';

/** The judge of declared services: they share one core. */
export const SERVICES_JUDGE: Pick<TrialCompanion, 'bottleneck' | 'judge'> = {
  bottleneck: (evidence) => (fillsItsCore(evidence, 'services') ? 'services' : undefined),
};
