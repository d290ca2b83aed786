/** Twins: one server with different amounts of work per request, so that the difference between two is known. */
import { cpSync } from 'node:fs';
import type { Stack } from 'bench-model/stack';
import type { Effect, Twins } from '../results/pool.ts';

/** The effects of the comparisons, in turn. */
export const EFFECTS: readonly Effect[] = [
  { effect: 0.03 },
  { effect: 0 },
  { effect: 0.015 },
  { effect: 0.03, deferred: true },
];

/** The approximate cost per request of the base, in µs of CPU. */
const BASE_COST_US = 100;
/** The units of work that determine the cost of one: some in both, because requests without work share loops of events, and cost less. */
export const TRIAL_UNITS = { low: 1000, high: 3000 } as const;

/**
 * Determines the twins for this machine from the cost of a request with the `low` and the `high` number of units, in µs.
 * Throws RangeError if the second is not higher.
 */
export function makeTwins(lowUs: number, highUs: number): Twins {
  const unitUs = (highUs - lowUs) / (TRIAL_UNITS.high - TRIAL_UNITS.low);
  if (!(unitUs > 0))
    throw new RangeError(
      `${TRIAL_UNITS.high} units of work cost ${highUs - lowUs} µs more than ${TRIAL_UNITS.low}`,
    );
  const bareUs = lowUs - TRIAL_UNITS.low * unitUs;
  const baseUs = Math.max(BASE_COST_US, 2 * bareUs);
  return { unitNs: unitUs * 1000, bareUs, units: { base: Math.round((baseUs - bareUs) / unitUs) } };
}

/** Returns the units of work of the twin whose requests cost this share more than those of the base. */
export function unitsOf({ unitNs, bareUs, units: { base } }: Twins, effect: number): number {
  return base + Math.round((effect * (bareUs * 1000 + base * unitNs)) / unitNs);
}

/** Builds the stack of the twin with one variant per name, which does this number of units per request, and has these `options`. */
export function plantTwins(twin: Stack, units: Record<string, number>, options: string[] = []): Stack {
  const { base } = twin.variants;
  if (base === undefined) throw new Error(`${twin.manifest} has no variant "base"`);
  const variants = Object.entries(units).map(([name, count]) => [
    name,
    { ...base, command: [...base.command, ...options, '--units', String(count)] },
  ]);
  return { ...twin, default: Object.keys(units)[0] ?? 'base', variants: Object.fromEntries(variants) };
}

/** Copies the program to another folder under another name: only its location differs (Mytkowicz et al. 2009). */
export function copyTwin(twin: Stack, folder: string): Stack {
  cpSync(twin.root, folder, { recursive: true });
  return { ...twin, name: `${twin.name}-copy`, root: folder };
}
