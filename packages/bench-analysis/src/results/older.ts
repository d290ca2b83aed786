/** Readers of older schemas. Each converts stored JSON into the current shape. Pure. */
import type { LoadMode } from 'bench-model/settings';

/** A stored JSON object of any shape. */
type Stored = Record<string, unknown>;

/** The engine name that schema 1 gave to an open loop. */
const PACED = 'paced';
/** The only engine with an open loop. */
const PACER = 'autocannon';

/** The engine with a load driver of Bench. */
const DRIVER = 'autocannon';
/** The version of the driver before records kept it. */
const FIRST_DRIVER = '1';

/** The companions of older schemas, each with its separate fields. */
const COMPANIONS = ['upstream', 'database', 'background'];

/** Converts `run.json` of any older schema into the current shape. */
export function upgradeRun(stored: Stored): Stored {
  const second = stored['schema'] === 1 ? upgradeRunToSecond(stored) : stored;
  const third = second['schema'] === 2 ? upgradeRunToThird(second) : second;
  const fourth = third['schema'] === 3 ? upgradeRunToFourth(third) : third;
  return fourth['schema'] === 4 ? upgradeRunToFifth(fourth) : fourth;
}

function upgradeRunToSecond(run: Stored): Stored {
  const { plan } = run;
  return isObject(plan) ? { ...run, schema: 2, plan: upgradePlan(plan) } : run;
}

/**
 * Schema 3 has one `repeats` for three fields of a target, and `sequentialTest` is the new name of `sitting`. It keeps
 * the version of the load driver, so that an interrupted run is resumed with the same one.
 */
function upgradeRunToThird(run: Stored): Stored {
  const { plan, versions } = run;
  if (!isObject(plan)) return run;
  const { targets, engine } = plan;
  const third = {
    ...rename(plan, { sitting: 'sequentialTest' }),
    schema: 3,
    ...(Array.isArray(targets) && { targets: targets.map(renameTarget) }),
  };
  const engines = [engine, ...(Array.isArray(targets) ? targets.map(engineIn) : [])];
  const driver = engines.includes(DRIVER) ? { [`engine ${DRIVER}`]: FIRST_DRIVER } : {};
  return {
    ...run,
    schema: 3,
    plan: third,
    ...(isObject(versions) && { versions: { ...versions, ...driver } }),
  };
}

function engineIn(target: unknown): unknown {
  return isObject(target) ? target['engine'] : undefined;
}

/** The fields of older targets by the way in which the target repeats another one. The last step of a plan comes first. */
const REPEATS = { crossOf: 'cross-check', undisturbed: 'background', aaOf: 'a/a' };

function renameTarget(target: unknown): unknown {
  if (!isObject(target)) return target;
  const ways = Object.entries(REPEATS).flatMap(([name, as]) =>
    target[name] === undefined ? [] : [{ of: target[name], as }],
  );
  const kept = Object.entries(target).filter(([name]) => !(name in REPEATS));
  return { ...Object.fromEntries(kept), ...(ways.length > 0 && { repeats: ways[0] }) };
}

/** Schema 4 keeps any number of requests and servers. Before, a run by URL had one of each. */
function upgradeRunToFourth(run: Stored): Stored {
  const { plan } = run;
  return isObject(plan) ? { ...run, schema: 4, plan: { ...askRequests(plan), schema: 4 } } : run;
}

/** The shortest turn of a duel before plans kept it, in seconds. */
const FIRST_TURN_SECONDS = 0.02;

/** In schema 5 servers may take turns at some rungs only. Before, a duel was of the whole plan. */
function upgradeRunToFifth(run: Stored): Stored {
  const { plan } = run;
  if (!isObject(plan)) return { ...run, schema: 5 };
  const { duel, ...rest } = plan;
  const byTurns = duel === true && { byTurns: { rungs: plan['rungs'], turnSeconds: FIRST_TURN_SECONDS } };
  return { ...run, schema: 5, plan: { ...rest, ...byTurns, schema: 5 } };
}

function askRequests({ url, ...plan }: Stored): Stored {
  if (!isObject(url)) return plan;
  const { url: address, method, headers, body, expect, pid, digests } = url;
  const { origin, pathname, search } = new URL(String(address));
  const [target] = Array.isArray(plan['targets']) ? (plan['targets'] as unknown[]) : [];
  const files = Object.entries(isObject(digests) ? digests : {}).flatMap(([part, digest]) => {
    const text = part === 'body' ? body : expect;
    return typeof text === 'string' && text.startsWith('@') ? [[text, digest]] : [];
  });
  const request = {
    method,
    path: `${pathname}${search}`,
    weight: 1,
    headers,
    ...(body !== undefined && { body }),
    // Without an expected answer, older versions took any 2xx for right and compared no body.
    expect: expect === undefined ? { statuses: ['2xx'] } : { body: expect },
  };
  return {
    ...plan,
    workload: 'requests',
    asked: { requests: [request], files: Object.fromEntries(files) as Stored },
    attached: [
      {
        target: isObject(target) ? target['id'] : address,
        url: origin,
        ...(pid !== undefined && { pid }),
      },
    ],
  };
}

/** Schema 1 stored rate and amount side by side, and an open loop as the name of an engine. */
function upgradePlan({ rate, amount, ...plan }: Stored): Stored {
  return { ...plan, schema: 2, load: loadOf(rate, amount), engine: engineOf(plan['engine']) };
}

/** Converts the record of a trial of any older schema into the current shape; `plan` is the stored plan of its run. */
export function upgradeTrial(stored: Stored, plan: Stored): Stored {
  const second = stored['schema'] === 1 ? upgradeToSecond(stored, plan) : stored;
  const third = second['schema'] === 2 ? upgradeToThird(second) : second;
  const fourth = third['schema'] === 3 ? upgradeToFourth(third) : third;
  const fifth = fourth['schema'] === 4 ? upgradeToFifth(fourth, plan) : fourth;
  return fifth['schema'] === 5 ? upgradeToSixth(fifth) : fifth;
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
 * Schema 3 renamed three things and their reason codes: `crossed` answers, `otherProcesses…` CPU and `erratic`
 * windows. Each companion became one object in the head, in the measured part and in the placement. A negative
 * count becomes absent.
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

/**
 * Schema 4 has one `repeats` for three fields of a target, and the version of the load driver. All older records of
 * autocannon were sent by its first version; those of other engines do not record theirs.
 */
function upgradeToFourth(record: Stored): Stored {
  const { target, engine } = record;
  return {
    ...record,
    schema: 4,
    ...(target !== undefined && { target: renameTarget(target) }),
    ...(engine === DRIVER && { driver: { name: DRIVER, version: FIRST_DRIVER } }),
  };
}

/** Schema 5 keeps a list of requests. The first versions stored a run by URL under the name of an unrelated workload. */
function upgradeToFifth({ request, ...record }: Stored, plan: Stored): Stored {
  return {
    ...record,
    schema: 5,
    ...(plan['url'] !== undefined && { workload: 'requests' }),
    ...(isObject(request) && { requests: { requests: [{ ...request, weight: 1 }] } }),
  };
}

/** Schema 6 adds the build of the interpreter. Older records do not know it, so nothing is claimed of theirs. */
function upgradeToSixth(record: Stored): Stored {
  return { ...record, schema: 6 };
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

/** Older versions could store negative retransmits: no such count was measured. */
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
  // Older schemas had one code for both. The fatal one invalidated every metric, including start-up.
  const isFatal = Array.isArray(invalidates) && invalidates.includes('startup');
  if (code === 'background' && isFatal) return { ...reason, code: 'background-failed' };
  return { ...reason, code: CODES[String(code)] ?? code };
}

/** Converts an entry of a pool of any older version. `sequential-test` is the new name of the kind `sitting`. */
export function upgradePooled(stored: Stored): Stored {
  return stored['kind'] === 'sitting' ? { ...stored, kind: 'sequential-test' } : stored;
}

/** Moves the fields of these names into one object; without any of them there is no object. */
function gather(object: Stored, names: string[], into: string): Stored {
  const fields = Object.entries(object);
  const moved = fields.filter(([name]) => names.includes(name));
  const kept = Object.fromEntries(fields.filter(([name]) => !names.includes(name)));
  return moved.length === 0 ? kept : { ...kept, [into]: Object.fromEntries(moved) };
}

/** Renames fields and keeps their order. */
function rename(object: Stored, names: Record<string, string>): Stored {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [names[name] ?? name, value]));
}

/** The plan defines the load of its trials, except in a calibration, where each trial had a separate rate. */
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
