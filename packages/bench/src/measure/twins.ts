/** Twins: one server with more or less work for every request, so that the difference of two of them is known. */
import { cpSync } from 'node:fs';
import type { Stack } from '../catalogue/stack.ts';

/** What one request of the dearer twin costs more, as a share: what sittings are held over. 0 is A/A. */
export const EFFECTS = [0.06, 0, 0.03] as const;
export type Effect = (typeof EFFECTS)[number];

/** What the base costs a request, about, in µs of CPU. */
const BASE_COST_US = 100;
/** Units of work that the cost of one is told from. */
export const TRIAL_UNITS = 5000;

/** How the twins were made, once for a pool. */
export interface Twins {
  /** CPU of one unit of work, ns. */
  unitNs: number;
  /** CPU of a request without any, µs. */
  bareUs: number;
  /** Units of the base, and of the twin that is dearer by each effect. */
  units: { base: number } & Record<Effect, number>;
}

/**
 * The twins for this machine, from what a request costs without work and with `TRIAL_UNITS` of it, in µs. Throws RangeError
 * when the second is not the dearer.
 */
export function makeTwins(bareUs: number, workedUs: number): Twins {
  const unitUs = (workedUs - bareUs) / TRIAL_UNITS;
  if (!(unitUs > 0)) throw new RangeError(`${TRIAL_UNITS} units of work cost ${workedUs - bareUs} µs`);
  const baseUs = Math.max(BASE_COST_US, 2 * bareUs);
  const unitsFor = (us: number): number => Math.round((us - bareUs) / unitUs);
  const dearer = EFFECTS.map((effect) => [effect, unitsFor(baseUs * (1 + effect))] as const);
  return {
    unitNs: unitUs * 1000,
    bareUs,
    units: { base: unitsFor(baseUs), ...(Object.fromEntries(dearer) as Record<Effect, number>) },
  };
}

/** The stack of the twin with one variant for each name, which does so many units a request. */
export function plantTwins(twin: Stack, units: Record<string, number>): Stack {
  const { base } = twin.variants;
  if (base === undefined) throw new Error(`${twin.manifest} has no variant "base"`);
  const variants = Object.entries(units).map(([name, count]) => [
    name,
    { ...base, command: [...base.command, '--units', String(count)] },
  ]);
  return { ...twin, default: Object.keys(units)[0] ?? 'base', variants: Object.fromEntries(variants) };
}

/** The same program in another folder, under another name: what differs is where it lies (Mytkowicz et al. 2009). */
export function copyTwin(twin: Stack, folder: string): Stack {
  cpSync(twin.root, folder, { recursive: true });
  return { ...twin, name: `${twin.name}-copy`, root: folder };
}
