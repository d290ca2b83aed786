import type { Plan } from 'bench-model/plan';
import type { Trial } from 'bench-model/record';
import type { LoadResult, OwnLoadResult } from 'bench-model/load';
import type { Counts } from 'bench-model/figures';
import type { Stack } from 'bench-model/stack';
import { fixturesOf } from 'bench-targets/catalogue/workloads/index';
import { coresOf } from 'bench-model/planned';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { createEffects } from 'bench-http/conduct/effects';
import type { Snapshot } from '../../planted/account.ts';
import { readManifest } from 'bench-targets/catalogue/manifest';
import type { DatabaseServer } from 'bench-http/services/database/server';
import { choosePlacement } from 'bench-machine/placement';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { readText } from 'bench-machine/procfs';
import { run } from 'bench-http/measure/run';
import { measureTogether } from 'bench-http/measure/conductor';
import type { TrialEffects } from 'bench-http/measure/effects';
import { background } from 'bench-http/services/background/companion';
import { keepDatabase } from 'bench-http/services/database/companion';
import type { RunningCompanion } from 'bench-http/services/companion';
import { findCompanions, startCompanions } from 'bench-http/services/index';
import { startUpstreams } from 'bench-http/services/upstream/companion';
import { EMBEDDED_UPSTREAM, type UpstreamProgram } from 'bench-http/services/upstream/upstream';
import { makePlan } from 'bench-http/plan/plan';
import { beyondNoise } from '../../testing/noise.ts';
import { openToken } from './leftovers.ts';
import { parseBench } from '../../testing/samples.ts';

export const PLANTED = fileURLToPath(new URL('../../planted/stack.json', import.meta.url));

/** The requests of the harness before a load: one until the server is ready, two to verify it. */
export const ASKED_BEFORE = 3;
/** The requests after it, if the responses are still correct. */
export const ASKED_AFTER = 2;
export const ASKED = ASKED_BEFORE + ASKED_AFTER;

export interface Order {
  /** Options of the planted server, or the name of one of its variants. */
  planted: string[] | string;
  bench: string[];
  /** Fields of the plan that have no option. */
  plan?: Partial<Plan>;
  wrap?: (effects: TrialEffects) => TrialEffects;
  /** The id of the target to measure; by default the first of the plan. */
  pick?: string;
  stack?: Stack;
  /** The upstream of the workload; by default the embedded one. */
  upstream?: UpstreamProgram;
  database?: DatabaseServer;
  /** The companions of the server; by default those that the workload needs. */
  companions?: RunningCompanion[];
}

/** The record of a trial and the log of its server. */
export interface Seen {
  trial: Trial;
  /** The log, with attestations; empty if no server was launched. */
  log: string;
}

/** Measures as a real run does, in a separate folder and under a separate token. */
export interface Rig {
  measure(order: Order): Promise<Seen>;
  /** Measures all trials of a plan, with the given companions or those that the plan needs. */
  measureAll(plan: Plan, stacks: Stack[], companions?: RunningCompanion[]): Promise<Seen[]>;
}

/** Opens the rig of one test file. */
export function openRig(): Rig {
  return openBothWays().rig;
}

/**
 * Opens the rig of one test file, and a second one whose single trials have the parser of the driver read every response.
 * `ways` names both.
 */
export function openBothWays(): { rig: Rig; ways: { way: string; rig: Rig }[] } {
  const token = openToken();
  const folder = mkdtempSync(join(tmpdir(), 'bench-known-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let order = 0;
  const rig: Rig = {
    measure: (options) => measure(options, token, folder, order++),
    measureAll: (plan, stacks, companions) =>
      measureAll(plan, stacks, { token, folder: mkdtempSync(join(folder, 'plan-')) }, companions),
  };
  const parsing: Rig = { ...rig, measure: (options) => rig.measure(withParser(options)) };
  return {
    rig,
    ways: [
      { way: 'by shapes', rig },
      { way: 'by the parser', rig: parsing },
    ],
  };
}

/** Returns the order with effects whose load has every response parsed. */
function withParser({ wrap = (effects) => effects, ...order }: Order): Order {
  return {
    ...order,
    wrap: (effects) => {
      const wrapped = wrap(effects);
      return {
        ...wrapped,
        load: () => {
          const engine = wrapped.load();
          return {
            ...engine,
            open: (spec, processes) => engine.open({ ...spec, parsesAll: true }, processes),
          };
        },
      };
    },
  };
}

async function measure(
  {
    planted,
    bench,
    pick,
    plan: changes,
    wrap = (effects) => effects,
    stack,
    upstream: program,
    database,
    companions: given,
  }: Order,
  token: string,
  folder: string,
  order: number,
): Promise<Seen> {
  const stacks = [stack ?? plant(planted)];
  const name = stack?.name ?? 'planted';
  const target = `${name}/${typeof planted === 'string' ? planted : 'known'}`;
  const warmup = bench.includes('--warmup') ? [] : ['--warmup', '0'];
  const options = parseBench([target, '--rounds', '1', ...warmup, ...bench]);
  const plan: Plan = { ...makePlan(options, stacks, 'known', randomInt(2 ** 32)), hashEvery: 1, ...changes };
  const { prepared, missing } = await prepareAll(plan.targets, stacks);
  const planned = pick === undefined ? plan.trials[0] : plan.trials.find((one) => one.target === pick);
  const found = prepared.find((one) => one.target.id === planned?.target);
  if (found === undefined || planned === undefined) throw new Error(missing[0]?.reason ?? target);
  const id = `${String(order).padStart(3, '0')}-${planned.id}`;
  const fixtures = given === undefined ? fixturesOf(plan) : undefined;
  const needs = { serverCores: coresOf(plan), generators: plan.generators };
  const placed = await choosePlacement({ ...needs, beside: fixtures === undefined ? [] : ['upstream'] });
  const context = { token, folder, placed };
  await using upstream = fixtures && (await startUpstreams(program ?? EMBEDDED_UPSTREAM, fixtures, context));
  const disturbing = await (await background.find({ ...plan, known: stacks }))?.start(context);
  const holder = database && keepDatabase(database);
  const companions = given ?? [upstream ?? [], holder ?? [], disturbing ?? []].flat();
  const { effects } = await createEffects({ plan, placed, token, folder, companions });
  const entry = {
    planned: { ...planned, id },
    context: { plan, placed, prepared: found, target: found.target },
  };
  const [trial] = await measureTogether([entry], wrap(effects));
  return { trial: trial!, log: readText(join(folder, 'logs', `${id}.log`)) ?? '' };
}

async function measureAll(
  plan: Plan,
  stacks: Stack[],
  { token, folder }: { token: string; folder: string },
  given?: RunningCompanion[],
): Promise<Seen[]> {
  const { prepared } = await prepareAll(plan.targets, stacks);
  const found = given === undefined ? await findCompanions({ ...plan, known: stacks }) : [];
  const beside = [...found.filter(({ isPlaced }) => isPlaced), ...(given ?? [])].map(({ name }) => name);
  const placed = await choosePlacement({ serverCores: coresOf(plan), generators: plan.generators, beside });
  await using running = await startCompanions(found, { token, folder, placed });
  const companions = given ?? running.all;
  const { effects } = await createEffects({ plan, placed, token, folder, companions });
  const trials = await run(plan, { placed, prepared, before: [] }, effects);
  return trials.map((trial) => ({ trial, log: readText(join(folder, 'logs', `${trial.id}.log`)) ?? '' }));
}

/** The planted stack, with a variant `known` that has these options. */
function plant(planted: string[] | string): Stack {
  const stack = readManifest(PLANTED);
  const { steady } = stack.variants;
  if (steady === undefined) throw new Error('the planted stack has no variant "steady"');
  const extra = typeof planted === 'string' ? [] : planted;
  return {
    ...stack,
    variants: { ...stack.variants, known: { ...steady, command: [...steady.command, ...extra] } },
  };
}

/** Returns the last account that the server wrote: at SIGTERM, or at its planted death. */
export function accountOf({ log }: Seen): Snapshot {
  const line = log.split('\n').findLast((one) => one.startsWith('planted-account '));
  if (line === undefined) throw new Error(`no account in the log: ${log}`);
  return JSON.parse(line.slice('planted-account '.length)) as Snapshot;
}

/** Returns the load of a trial by our generators, even if it failed after its window. */
export function loadOf(seen: Seen): OwnLoadResult {
  return toldLoadOf(seen) as OwnLoadResult;
}

/** Returns the load of a trial by any engine. */
export function toldLoadOf({ trial }: Seen): LoadResult {
  const load = trial.status === 'failed' ? trial.partial?.load : trial.measured.load;
  if (load === undefined) throw new Error(`no load: ${JSON.stringify(trial.reasons)}`);
  return load;
}

/** Returns the median latency of a trial by our generators, in µs. */
export function medianOf(seen: Seen): number {
  const p50 = loadOf(seen).latencyUs?.p50;
  if (p50 === undefined) throw new Error('no median');
  return p50;
}

/** Returns the codes of all reasons in order, without those of a busy machine. */
export function reasonsOf({ trial }: Seen): string[] {
  return beyondNoise(trial.reasons);
}

/** Returns the reason with that code. */
export function reasonOf({ trial }: Seen, code: string): { text: string; invalidates: string[] } {
  const found = trial.reasons.find((reason) => reason.code === code);
  if (found === undefined) throw new Error(`no reason "${code}": ${JSON.stringify(trial.reasons)}`);
  return found;
}

/** Returns the sum of all outcomes of the requests. */
export function sumOf(counts: Counts): number {
  const { ok, non2xx, mismatch, timeout, reset, closedEarly, inFlight } = counts;
  return ok + non2xx + mismatch + timeout + reset + closedEarly + inFlight;
}
