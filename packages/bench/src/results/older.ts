/** Readers of older shapes: each turns what was stored into the shape of today. Pure. */
import type { LoadMode } from '../model.ts';

/** A stored JSON object of any shape. */
type Stored = Record<string, unknown>;

/** What schema 1 called an open loop, as if it were an engine. */
const PACED = 'paced';
/** The one engine that had an open loop. */
const PACER = 'autocannon';

/** The companions that older schemas knew, each in fields of its own. */
const COMPANIONS = ['upstream', 'database', 'background'];

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
  const second = stored['schema'] === 1 ? upgradeToSecond(stored, plan) : stored;
  return second['schema'] === 2 ? upgradeToThird(second) : second;
}

function upgradeToSecond(stored: Stored, plan: Stored): Stored {
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

/**
 * Schema 3 says `crossed` for answers to another request, `otherProcesses…` for the CPU of other processes and
 * `erratic` for a window without a shape; its codes of reasons follow. Companions are in one object each of the head, of
 * what was measured and of the placement. A negative count is absent.
 */
function upgradeToThird(record: Stored): Stored {
  const present: Stored = { ...gather(record, COMPANIONS, 'companions'), schema: 3 };
  for (const part of ['measured', 'partial']) {
    const measured = record[part];
    if (isObject(measured)) present[part] = renameMeasured(measured);
  }
  if (isObject(record['placement'])) present['placement'] = gather(record['placement'], COMPANIONS, 'beside');
  if (Array.isArray(record['reasons'])) present['reasons'] = record['reasons'].map(renameReason);
  return present;
}

function renameMeasured(measured: Stored): Stored {
  const { load, host, shape } = measured;
  return {
    ...gather(measured, COMPANIONS, 'companions'),
    ...(isObject(load) && { load: rename(load, { foreign: 'crossed' }) }),
    ...(isObject(host) && {
      host: rename(withoutNegative(host), {
        foreignCores: 'otherProcessesCores',
        foreignSource: 'otherProcessesSource',
      }),
    }),
    ...(shape === 'none' && { shape: 'erratic' }),
  };
}

/** Retransmits could come out below 0: no such count was measured. */
function withoutNegative({ retransmits, ...host }: Stored): Stored {
  const isCount = typeof retransmits === 'number' && retransmits >= 0;
  return isCount ? { ...host, retransmits } : host;
}

const CODES: Record<string, string> = {
  'foreign-cpu': 'other-processes',
  'foreign-answer': 'crossed-answers',
};

function renameReason(reason: unknown): unknown {
  if (!isObject(reason)) return reason;
  const { code, invalidates } = reason;
  // Older schemas had one code for both; the fatal one left no metric, not even the start-up.
  const isFatal = Array.isArray(invalidates) && invalidates.includes('startup');
  if (code === 'background' && isFatal) return { ...reason, code: 'background-failed' };
  return { ...reason, code: CODES[String(code)] ?? code };
}

/** Moves the fields of these names into one object; without any of them there is no such object. */
function gather(object: Stored, names: string[], into: string): Stored {
  const fields = Object.entries(object);
  const moved = fields.filter(([name]) => names.includes(name));
  const kept = Object.fromEntries(fields.filter(([name]) => !names.includes(name)));
  return moved.length === 0 ? kept : { ...kept, [into]: Object.fromEntries(moved) };
}

/** The same fields in the same order, some by another name. */
function rename(object: Stored, names: Record<string, string>): Stored {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [names[name] ?? name, value]));
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
