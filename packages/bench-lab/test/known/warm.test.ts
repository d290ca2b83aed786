/**
 * A run that knows nothing of a server studies its warm-up first. The planted server is many times as expensive for its first
 * answers, so no pace of the machine looks like its course. The detection of small differences is measured with
 * `pnpm warmup --stack packages/bench-lab/planted/warming/stack.json` and published in docs/concepts/warm-up.md.
 */
import { programVoice } from 'bench-http/terminal/voice';
import type { StudyMachine } from 'bench-http/conduct/study';
import { planWarmups } from 'bench-http/conduct/learn';
import { createEffects } from 'bench-http/conduct/effects';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { studyTargets } from 'bench-analysis/warmup/study';
import { readManifest } from 'bench-targets/catalogue/manifest';
import type { Stack } from 'bench-model/stack';
import type { Session } from 'bench-http/conduct/session';
import { readHost } from 'bench-machine/host';
import { choosePlacement } from 'bench-machine/placement';
import { run } from 'bench-http/measure/run';
import type { Plan, PlannedWarmup } from 'bench-model/plan';
import { benchOptions, type BenchOptions } from 'bench-model/options';
import { makePlan } from 'bench-http/plan/plan';
import { prepareAll } from 'bench-targets/prepare/prepare';
import type { OkTrial, SuspectTrial } from 'bench-model/record';
import { readStudy } from 'bench-analysis/results/study/store';
import { beyondNoise } from '../../testing/noise.ts';
import { openToken } from './leftovers.ts';

const token = openToken();
const folder = mkdtempSync(join(tmpdir(), 'bench-warm-'));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});
const WARMING = fileURLToPath(new URL('../../planted/warming/stack.json', import.meta.url));

/** The first answers take many times as much work as the later ones: more of them than a cold trial gets. */
const DEAR_ANSWERS = 1500;
const COURSE = ['--units', '100', '--more', '2000', '--dear-requests', String(DEAR_ANSWERS)];
/** At least this many times as much CPU, with the part of an answer that is not work. */
const TIMES_DEARER = 3;

function stackOf(): Stack {
  const stack = readManifest(WARMING);
  const { flat } = stack.variants;
  if (flat === undefined) throw new Error('the planted stack has no variant "flat"');
  return { ...stack, variants: { flat: { ...flat, command: [...flat.command, ...COURSE] } } };
}

const stacks = [stackOf()];

/** Plans trials of the server, with the effects that they need. */
async function prepare(options: Partial<BenchOptions>, warmups?: PlannedWarmup[]) {
  const whole = benchOptions({ targets: ['warming'], connections: [10], windowSeconds: 0.5, ...options });
  const plan: Plan = { ...makePlan(whole, stacks, 'warm', 1), ...(warmups && { warmups }) };
  const { prepared } = await prepareAll(plan.targets, stacks);
  const placed = await choosePlacement({ serverCores: 1, generators: 1 });
  const { effects } = await createEffects({ plan, placed, token, folder });
  return { plan, prepared, placed, effects };
}

/** Plans the warm-up of a run as `pnpm bench` does. A study is stored in the folder `results`. */
async function planFor(
  options: Partial<BenchOptions>,
  results: string,
  log?: (line: string) => void,
): Promise<PlannedWarmup> {
  const { plan, prepared, placed } = await prepare(options);
  const session = { token, expect() {}, recordLeftoverServer() {} } as Partial<Session> as Session;
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
  const [warmup] = learned.plan.warmups ?? [];
  if (warmup === undefined) throw new Error('no warm-up was planned');
  return warmup;
}

/** Measures one trial of the server after a warm-up. */
async function measure(warmup: PlannedWarmup): Promise<OkTrial | SuspectTrial> {
  const { plan, prepared, placed, effects } = await prepare({ rounds: 1 }, [warmup]);
  const [trial] = await run(plan, { placed, prepared, before: [] }, effects);
  if (trial === undefined || trial.status === 'failed') throw new Error(JSON.stringify(trial?.reasons));
  return trial;
}

/** A fifth of a run with this many rounds is a study of 9 s. */
const ROUNDS = 12;
/** The warm-up of a user who does not wait for the server. */
const COLD_SECONDS = 0.1;
const MOST_STUDIES = 2;

/** The folder of the study. */
let studied = '';
let warmup: PlannedWarmup;

/** True if every turn counts until the study has seen as many cheap answers as there were expensive ones. */
function hasSeenCourse(results: string): boolean {
  const [target] = studyTargets(readStudy(join(results, 'warm-warmup')));
  const pairs = target?.whole[0]?.pairs ?? [];
  const end = pairs.findIndex(({ answers }) => answers >= 2 * DEAR_ANSWERS);
  return end !== -1 && pairs.slice(0, end + 1).every(({ since }) => since === undefined);
}

beforeAll(async () => {
  // On a busy machine, the only process may not settle, may give expensive answers until the end, or its turns may not
  // count where its cost changes. Another run of a machine that knows nothing then studies another.
  for (let study = 0; study < MOST_STUDIES && !(warmup?.study && hasSeenCourse(studied)); study++) {
    studied = join(folder, String(study));
    vi.stubEnv('BENCH_STATE', join(studied, 'state'));
    warmup = await planFor({ rounds: ROUNDS }, studied);
  }
});

describe('a run of a server that nothing is known of', () => {
  beforeEach(({ skip }) =>
    skip(!hasSeenCourse(studied), 'needs a machine that keeps its pace in one of two studies'),
  );

  it('observes one of its processes to the end, and counts the expensive answers', () => {
    const { processes } = readStudy(join(studied, 'warm-warmup'));
    expect(processes).toMatchObject([{ status: 'ok' }]);
    expect(processes.flatMap(({ reasons }) => beyondNoise(reasons))).toEqual([]);
    const { settled, warmAnswers = 0 } = warmup.study ?? {};
    expect(settled).toBe(1);
    // Turns of the reference separate those of the server, and some do not count. On a busy machine, more seem expensive.
    expect(warmAnswers).toBeGreaterThan(0.5 * DEAR_ANSWERS);
    expect(warmAnswers).toBeLessThan(2 * DEAR_ANSWERS);
  });

  it('waits until it is warm, and marks its figures if the user does not wait', async () => {
    const cold = await planFor({ warmupSeconds: COLD_SECONDS }, folder, (line) => {
      if (line.startsWith('studying ')) throw new Error('a study has begun');
    });
    const [early, late] = [await measure(cold), await measure(warmup)];
    const times = Number(early.measured.cpuUsPerRequest) / Number(late.measured.cpuUsPerRequest);
    expect(times).toBeGreaterThan(TIMES_DEARER);
    expect(early.reasons).toContainEqual(expect.objectContaining({ code: 'not-warm' }));
    expect(late.reasons.map(({ code }) => code)).not.toContain('not-warm');
  });
});
