import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toSeries } from '../../src/analyse/warmup/pairs.ts';
import { median } from '../../src/numbers.ts';
import { run } from '../../src/measure/run.ts';
import type { Plan, PlannedWarmup } from '../../src/plan/definition.ts';
import type { Stack } from '../../src/catalogue/stack.ts';
import { readManifest } from '../../src/catalogue/manifest.ts';
import { createEffects } from '../../src/commands/effects.ts';
import { planWarmups } from '../../src/commands/learn.ts';
import type { Session } from '../../src/commands/session.ts';
import type { StudyMachine } from '../../src/commands/study.ts';
import { programVoice } from '../../src/commands/voice.ts';
import { readHost } from '../../src/machine/host.ts';
import { choosePlacement } from '../../src/machine/placement.ts';
import { benchOptions, type BenchOptions } from '../../src/plan/options.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { isWarm } from '../../src/plan/warmup.ts';
import { prepareAll } from '../../src/prepare/prepare.ts';
import type { OkTrial, SuspectTrial } from '../../src/results/record.ts';
import type { StudiedProcess } from '../../src/results/study/record.ts';
import { readStudy } from '../../src/results/study/store.ts';
import { openToken } from './leftovers.ts';

const token = openToken();
const folder = mkdtempSync(join(tmpdir(), 'bench-warm-'));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});
const WARMING = fileURLToPath(new URL('../../planted/warming/stack.json', import.meta.url));

/** The work of the planted server: far more than its own part of a request. */
const UNITS = 400;

/** A server of one cost for life, and one that costs almost twice as much for its first 4 s. */
const COURSES = { flat: [], late: ['--more', String(UNITS), '--dear-seconds', '4'] };

function stackOf(): Stack {
  const stack = readManifest(WARMING);
  const { flat } = stack.variants;
  if (flat === undefined) throw new Error('the planted stack has no variant "flat"');
  const variants = Object.entries(COURSES).map(([name, words]) => [
    name,
    { ...flat, command: [...flat.command, '--units', String(UNITS), ...words] },
  ]);
  return { ...stack, variants: Object.fromEntries(variants) };
}

const stacks = [stackOf()];

/** Plans trials of both servers, with the effects and the targets that they need. */
async function prepare(asked: Partial<BenchOptions>, warmups?: PlannedWarmup[]) {
  const options = benchOptions({ targets: ['warming/*'], connections: [10], rounds: 1, ...asked });
  const plan: Plan = { ...makePlan(options, stacks, 'warm', 1), ...(warmups && { warmups }) };
  const { prepared } = await prepareAll(plan.targets, stacks);
  const placed = await choosePlacement({ serverCores: 1, generators: 1 });
  const { effects } = await createEffects({ plan, placed, token, folder });
  return { plan, prepared, placed, effects };
}

/** A plan whose fifth is a study of both servers for 8 s each. */
const STUDYING = { duel: true, windowSeconds: 0.5, rounds: 15 } as const;

/** Plans the warm-ups of a run as `pnpm bench` does. A study is stored in the folder of this test. */
async function planFor(
  asked: Partial<BenchOptions>,
  { results = folder, log }: { results?: string; log?: (line: string) => void } = {},
): Promise<PlannedWarmup[]> {
  const { plan, prepared, placed } = await prepare({ ...STUDYING, ...asked });
  const session = { token, expect() {}, owe() {} } as Partial<Session> as Session;
  const machine: StudyMachine = {
    session,
    voice: programVoice(log),
    placed,
    host: await readHost(),
    companions: [],
    leftOut: [],
    results,
  };
  const learned = await planWarmups(plan, prepared, machine);
  return learned.plan.warmups ?? [];
}

type Measured = Record<string, OkTrial | SuspectTrial>;

/** Measures one round of a duel of both servers. */
async function duel(asked: Partial<BenchOptions>, warmups: PlannedWarmup[]): Promise<Measured> {
  const { plan, prepared, placed, effects } = await prepare({ ...STUDYING, rounds: 1, ...asked }, warmups);
  const trials = await run(plan, { placed, prepared, before: [] }, effects);
  return Object.fromEntries(
    trials.map((trial) => {
      if (trial.status === 'failed') throw new Error(JSON.stringify(trial.reasons));
      return [trial.target.variant, trial];
    }),
  );
}

/** Returns the CPU per request of the late server ÷ that of the flat one. */
function ratioOf({ late, flat }: Measured): number {
  return (late?.measured.cpuUsPerRequest ?? Number.NaN) / (flat?.measured.cpuUsPerRequest ?? Number.NaN);
}

/** The median cost of the pairs in this part of a process's life. */
function costBetween(studied: StudiedProcess, fromSeconds: number, toSeconds: number): number {
  const { pairs } = toSeries(studied);
  return median(
    pairs
      .filter(({ seconds }) => seconds >= fromSeconds && seconds < toSeconds)
      .map(({ cpuRatio }) => cpuRatio),
  );
}

let processes: Record<string, StudiedProcess> = {};
let warmups: PlannedWarmup[] = [];

/** The warm-up of a user who does not wait for the late server. */
const COLD_SECONDS = 0.1;

/**
 * The flat server is a control: if its cost changes between the two parts of its life, or before it, the machine changed.
 * So is the reference beside each server. Its own cost is not a ratio to another's, so it changes more than that.
 */
const MOST_STUDIES = 4;

/** The seconds after which the late server may be found to be warm. */
const WARM_SECONDS = { least: 3.2, most: 5 };

/**
 * False if the machine changed its pace in all studies: then they say nothing about the late server. Nor does a single one that
 * finds another age, or none: one of twenty studies may be wrong, but not two of four.
 */
let isControlled = false;

beforeAll(async () => {
  let wrong = 0;
  for (let attempt = 1; attempt <= MOST_STUDIES && !isControlled; attempt++) {
    const results = join(folder, String(attempt));
    vi.stubEnv('BENCH_STATE', join(results, 'state'));
    warmups = await planFor({}, { results });
    const study = readStudy(join(results, 'warm-warm'));
    processes = Object.fromEntries(study.processes.map((one) => [one.target.variant, one]));
    const flat = (await planCold()).find(({ target }) => target === processOf('flat').target.id);
    if (flat === undefined) throw new Error('the warm-up of the flat server is not planned');
    if (!isWarm(flat) || !isSteady(changeOf('flat'), 1.1)) continue;
    if (!Object.keys(COURSES).every((variant) => isSteady(changeOfReference(variant), 1.33))) continue;
    const { warmSeconds = Number.NaN } = findLate()?.study ?? {};
    const isRight = warmSeconds > WARM_SECONDS.least && warmSeconds < WARM_SECONDS.most;
    if (!isRight) wrong++;
    isControlled = isRight || wrong > 1;
  }
}, MOST_STUDIES * 60_000);

const UNCONTROLLED = 'the machine changed its pace in all studies';

function refuseStudy(line: string): void {
  if (line.startsWith('studying ')) throw new Error('a study has begun');
}

/** Plans the warm-ups of a user who sets a short one. */
async function planCold(): Promise<PlannedWarmup[]> {
  return planFor({ warmupSeconds: COLD_SECONDS }, { log: refuseStudy });
}

/** Returns true if a cost ÷ an earlier one is at most `most` and at least its inverse. */
function isSteady(change: number, most: number): boolean {
  return Math.abs(Math.log(change)) <= Math.log(most);
}

/** Returns the cost after 4.5 s ÷ that before 4 s. */
function changeOf(variant: string): number {
  return costBetween(processOf(variant), 4.5, 10) / costBetween(processOf(variant), 0.5, 4);
}

/** The cost of the reference beside a server in the second half of its study ÷ that in the first half. */
function changeOfReference(variant: string): number {
  const { answers = [], cpuUs = [] } = processOf(variant).course?.reference ?? {};
  const costs = answers.map((count, turn) => (cpuUs[turn] ?? Number.NaN) / count);
  const half = Math.floor(costs.length / 2);
  return median(costs.slice(half)) / median(costs.slice(0, half));
}

function findLate(): PlannedWarmup | undefined {
  return warmups.find(({ target }) => target === processOf('late').target.id);
}

function processOf(variant: string): StudiedProcess {
  const found = processes[variant];
  if (found === undefined) throw new Error(`no process of ${variant}`);
  return found;
}

describe('a planted server in turns with the reference', () => {
  it.each(Object.keys(COURSES))('is observed to the end: %s', (variant) => {
    expect(processOf(variant)).toMatchObject({ status: 'ok', reasons: [] });
    expect(toSeries(processOf(variant)).pairs.length).toBeGreaterThan(10);
  });

  it('is seen at the cost that it has in each part of its life', ({ skip }) => {
    skip(!isControlled, UNCONTROLLED);
    const fallen = changeOf('late');
    expect(fallen).toBeGreaterThan(0.4);
    expect(fallen).toBeLessThan(0.7);
  });
});

describe('a run of a server that is level for 4 s and then twice as fast', () => {
  it('finds that out by itself, and prints warm figures', async ({ skip }) => {
    skip(!isControlled, UNCONTROLLED);
    const late = findLate();
    expect(late?.study?.warmSeconds).toBeGreaterThan(WARM_SECONDS.least);
    expect(late?.study?.warmSeconds).toBeLessThan(WARM_SECONDS.most);
    expect(late?.seconds).toBeGreaterThan(4);
    const trials = await duel({}, warmups);
    expect(ratioOf(trials)).toBeGreaterThan(0.88);
    expect(ratioOf(trials)).toBeLessThan(1.12);
    expect(trials['late']?.reasons.map(({ code }) => code)).not.toContain('not-warm');
  });

  it('prints cold figures only with a mark, if the user sets a shorter warm-up', async ({ skip }) => {
    skip(!isControlled, UNCONTROLLED);
    const trials = await duel({ warmupSeconds: COLD_SECONDS }, await planCold());
    expect(ratioOf(trials)).toBeGreaterThan(1.3);
    expect(trials['late']).toMatchObject({ status: 'suspect' });
    expect(trials['late']?.reasons.map(({ code }) => code)).toContain('not-warm');
    expect(trials['flat']?.reasons.map(({ code }) => code)).not.toContain('not-warm');
  });
});
