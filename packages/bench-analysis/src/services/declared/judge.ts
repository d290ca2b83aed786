import type { CompanionJudge } from '../judge.ts';
import { fillsItsCore } from '../upstream/judge.ts';

/** The judge of declared services: they share one core. */
export const SERVICES_JUDGE: CompanionJudge = {
  bottleneck: (evidence) => (fillsItsCore(evidence, 'services') ? 'services' : undefined),
};
