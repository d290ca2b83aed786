import { meaningOf, type Reason, type ReasonCode } from 'bench-model/reasons';

/** The findings that a pause of a busy machine can cause. Windows are short here: it weighs more than in a real run. */
const OF_PAUSES: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'connections',
  'unsteady',
  'stall',
  'memory-grows',
]);

/** Returns the codes of the reasons that a busy machine does not explain: it can add any disturbance to any trial. */
export function beyondNoise(reasons: readonly Reason[]): ReasonCode[] {
  const beyond = reasons.filter((one) => meaningOf(one).kind !== 'disturbance' && !OF_PAUSES.has(one.code));
  return beyond.map(({ code }) => code);
}
