/** Readers of older shapes: each turns what was stored into the shape of today. Pure. */
import type { LoadMode } from '../model.ts';

/** A stored JSON object of any shape. */
type Stored = Record<string, unknown>;

/** What schema 1 called an open loop, as if it were an engine. */
const PACED = 'paced';
/** The one engine that had an open loop. */
const PACER = 'autocannon';

/** Returns `run.json` of any older schema in the shape of today. */
export function upgradeRun(stored: Stored): Stored {
  return stored['schema'] === 1 && isObject(stored['plan'])
    ? { ...stored, schema: 2, plan: upgradePlan(stored['plan']) }
    : stored;
}

/** Schema 1 kept a rate and an amount beside each other, and named an open loop as an engine. */
function upgradePlan({ rate, amount, ...plan }: Stored): Stored {
  return { ...plan, schema: 2, load: loadOf(rate, amount), engine: engineOf(plan['engine']) };
}

/** Returns the record of a trial of any older schema in the shape of today; `plan` is the one stored with its run. */
export function upgradeTrial(stored: Stored, plan: Stored): Stored {
  if (stored['schema'] !== 1) return stored;
  const trial: Stored = { ...stored, schema: 2, engine: engineOf(stored['engine']) };
  const load = loadOfTrial(stored, plan);
  if (load !== undefined) trial['load'] = load;
  for (const name of ['measured', 'partial']) {
    const part = stored[name];
    if (isObject(part) && isObject(part['load'])) {
      trial[name] = { ...part, load: { ...part['load'], engine: engineOf(part['load']['engine']) } };
    }
  }
  return trial;
}

/** The plan tells the load of its trials. That of a calibration does not: each of its trials had a rate of its own. */
function loadOfTrial(trial: Stored, plan: Stored): LoadMode | undefined {
  if (trial['engine'] !== PACED || plan['rate'] !== undefined) return loadOf(plan['rate'], plan['amount']);
  const { measured } = trial;
  const load = isObject(measured) ? measured['load'] : undefined;
  if (!isObject(load) || !isObject(load['schedule'])) return undefined;
  const perSecond = Math.round(Number(load['schedule']['intended']) / Number(load['windowSeconds']));
  return { mode: 'open', perSecond };
}

function loadOf(rate: unknown, amount: unknown): LoadMode {
  if (typeof rate === 'number') return { mode: 'open', perSecond: rate };
  return typeof amount === 'number' ? { mode: 'amount', requests: amount } : { mode: 'closed' };
}

function engineOf(engine: unknown): unknown {
  return engine === PACED ? PACER : engine;
}

function isObject(value: unknown): value is Stored {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
