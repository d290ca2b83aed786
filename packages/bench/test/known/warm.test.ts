import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toSeries } from '../../src/analyse/warmup/pairs.ts';
import { studyProcess } from '../../src/analyse/warmup/process.ts';
import { median } from '../../src/numbers.ts';
import { run } from '../../src/measure/run.ts';
import type { Plan, PlannedWarmup } from '../../src/plan/definition.ts';
import { planWarmup } from '../../src/plan/warmup.ts';
import type { Stack } from '../../src/catalogue/stack.ts';
import { readManifest } from '../../src/catalogue/manifest.ts';
import { createEffects } from '../../src/commands/effects.ts';
import { choosePlacement } from '../../src/machine/placement.ts';
import { startReference } from '../../src/measure/reference.ts';
import { observeProcess } from '../../src/measure/warmup.ts';
import { benchOptions, type BenchOptions } from '../../src/plan/options.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { prepareAll } from '../../src/prepare/prepare.ts';
import type { StudiedProcess } from '../../src/results/study/record.ts';
import { openToken } from './leftovers.ts';

const token = openToken();
const folder = mkdtempSync(join(tmpdir(), 'bench-warm-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const WARMING = fileURLToPath(new URL('../../planted/warming/stack.json', import.meta.url));

/** The work of the planted server: far more than its own part of a request. */
const UNITS = 4000;

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

/** Observes one process of each server for this time. */
async function observe(seconds: number): Promise<Record<string, StudiedProcess>> {
  const { plan, prepared, placed, effects } = await prepare({ duel: false });
  await using reference = await startReference(plan, placed, effects);
  const studied: Record<string, StudiedProcess> = {};
  for (const found of prepared) {
    const planned = plan.trials.find(({ target }) => target === found.target.id);
    if (planned === undefined) throw new Error(`no process of ${found.target.id}`);
    const context = { plan, placed, prepared: found, target: found.target };
    const means = { reference, effects, seconds, isStopped: () => false };
    studied[found.target.variant] = await observeProcess({ planned, context }, means);
  }
  return studied;
}

/** Returns the CPU per request of the late server ÷ that of the flat one, in one round of a duel. */
async function duel(warmupSeconds: number, warmups?: PlannedWarmup[]): Promise<number> {
  const { plan, prepared, placed, effects } = await prepare(
    { duel: true, warmupSeconds, windowSeconds: 0.5 },
    warmups,
  );
  const trials = await run(plan, { placed, prepared, before: [] }, effects);
  const costOf = (variant: string): number => {
    const trial = trials.find(({ target }) => target.variant === variant);
    if (trial === undefined || trial.status === 'failed') throw new Error(JSON.stringify(trial?.reasons));
    return trial.measured.cpuUsPerRequest ?? Number.NaN;
  };
  return costOf('late') / costOf('flat');
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
beforeAll(async () => {
  processes = await observe(7.5);
});

function processOf(variant: string): StudiedProcess {
  const found = processes[variant];
  if (found === undefined) throw new Error(`no process of ${variant}`);
  return found;
}

describe('a planted server in turns with the reference', () => {
  it.each(Object.keys(COURSES))('is observed to the end: %s', (variant) => {
    expect(processOf(variant)).toMatchObject({ status: 'ok', reasons: [] });
    expect(processOf(variant).pairs.length).toBeGreaterThan(10);
  });

  it('is seen at the cost that it has in each part of its life', () => {
    // The ranges hold on a busy machine, where few pairs are measured.
    const steady = costBetween(processOf('flat'), 4.5, 10) / costBetween(processOf('flat'), 0.5, 4);
    expect(steady).toBeGreaterThan(0.8);
    expect(steady).toBeLessThan(1.25);
    const fallen = costBetween(processOf('late'), 4.5, 10) / costBetween(processOf('late'), 0.5, 4);
    expect(fallen).toBeGreaterThan(0.4);
    expect(fallen).toBeLessThan(0.7);
  });
});

describe('a duel of servers that end alike, and warm up 4 s apart', () => {
  it('sees a difference in cold code, and none after the warm-up that the study asks for', async () => {
    const study = studyProcess(toSeries(processOf('late')));
    if (study?.warm === undefined) throw new Error(`not settled: ${JSON.stringify(study)}`);
    expect(study.warm.seconds).toBeGreaterThan(3.2);
    expect(study.warm.seconds).toBeLessThan(5);
    const known = {
      study: 'a-study',
      processes: [{ observedSeconds: study.studied.seconds, warm: study.warm, levels: study.levels }],
    };
    const warmup = planWarmup({ target: 'warming/late', rungs: [10], seconds: 0.1, isAuto: true }, known);
    expect(await duel(0.1)).toBeGreaterThan(1.3);
    const warm = await duel(0.1, [warmup]);
    expect(warm).toBeGreaterThan(0.88);
    expect(warm).toBeLessThan(1.12);
  });
});
