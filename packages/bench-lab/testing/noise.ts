import type { ReasonCode } from 'bench-model/reasons';

/**
 * The reasons that a busy machine can add to any trial. All others come from the server or from Bench.
 * Little's law is among them because these windows are short: one pause weighs more than its tolerance.
 */
const NOISE: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'little',
  'other-processes',
  'steal',
  'connections',
  'retransmits',
  'throttled',
  'unsteady',
  'generator-bound',
  'late-generator',
  'late-sample',
  'stall',
]);

/** Returns the codes of the reasons that a busy machine does not explain. */
export function beyondNoise(reasons: readonly { code: ReasonCode }[]): ReasonCode[] {
  return reasons.map(({ code }) => code).filter((code) => !NOISE.has(code));
}
