/** Sequential tests of twins: the entries that `bench:power` adds to its pool. */
import { measuredOf } from 'bench-model/trial';
import { logLine } from 'bench-http/terminal/shell';
import { createEffects } from 'bench-http/conduct/effects';
import { makePlan } from 'bench-http/plan/plan';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareWithin, type ComparedRow, differencesWithin } from 'bench-analysis/compare';
import { trackRun } from 'bench-analysis/due';
import { keepTime } from 'bench-analysis/time-budget';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { ToolchainError, TrialError } from 'bench-model/errors';
import type { PinnedCommands } from 'bench-machine/placement';
import { prepareAll, type Prepared } from 'bench-targets/prepare/prepare';
import { run } from 'bench-http/measure/run';
import { copyTwin, makeTwins, plantTwins, TRIAL_UNITS, unitsOf } from './twins.ts';
import type { Stack } from 'bench-model/stack';
import type { Trial } from 'bench-model/record';
import { benchOptions, type BenchOptions } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import type { Effect, PooledTest, Twins } from '../results/pool.ts';
import { median } from 'bench-statistics/numbers';

const TWIN = fileURLToPath(new URL('../../planted/twin/stack.json', import.meta.url));
const CONNECTIONS = 20;
/** A sequential test takes at most two minutes, including the stop of its last servers. */
const BUDGET_SECONDS = 115;
/** With 2 %, the verdict on a build that uses 1.5 % more CPU would rightly never be `slower`. */
const THRESHOLD = 0.01;
/** The number of rounds that measure the cost of a unit of work. */
const COST_ROUNDS = 5;

/** The resources of a measurement. */
export interface TestContext {
  placed: PinnedCommands;
  token: string;
  folder: string;
  isInterrupted: () => boolean;
  track: (stop: () => void) => void;
}

/** Measures the cost of a unit of work on this machine. Undefined if interrupted. */
export async function measureTwins(context: TestContext): Promise<Twins | undefined> {
  const stack = plantTwins(readManifest(TWIN), TRIAL_UNITS);
  const { trials } = await measure(
    [stack],
    { targets: ['twin/low', 'twin/high'], interleave: true, rounds: COST_ROUNDS },
    context,
  );
  if (context.isInterrupted()) return undefined;
  const twins = makeTwins(medianCost(trials, 'twin'), medianCost(trials, 'twin/high'));
  logLine(
    `twins: a request costs ${twins.bareUs.toFixed(1)} µs, a unit of work ${twins.unitNs.toFixed(2)} ns`,
  );
  return twins;
}

/** The result of a test as a pool keeps it; a difference of a round is null if a trial failed. */
function resultOf(
  { comparison, ...pair }: ComparedRow,
  trials: Trial[],
): Pick<PooledTest, 'rounds' | 'verdict' | 'ratio' | 'differences'> {
  const { rounds } = comparison;
  const differences = differencesWithin(trials, pair, 'cpu').map((one) => one?.value ?? null);
  return {
    rounds,
    verdict: comparison.verdict,
    ...(comparison.ratio === undefined ? {} : { ratio: comparison.ratio.estimate }),
    differences: differences.slice(0, rounds),
  };
}

/** Returns the median CPU per request of a target over its rounds, in µs. */
function medianCost(trials: Trial[], id: string): number {
  const own = trials.filter(({ target }) => target.id === id);
  return median(own.flatMap((trial) => measuredOf(trial)?.cpuUsPerRequest ?? []));
}

/** One sequential test of two twins. */
export interface TestSetup extends Effect {
  /** True if the candidate is the same program in another folder. */
  copied: boolean;
}

/** Runs one sequential test: rounds in turns until they decide or the time is up. Undefined if interrupted. */
export async function runTest(
  twins: Twins,
  { effect, deferred, copied }: TestSetup,
  context: TestContext,
): Promise<PooledTest | undefined> {
  const twin = readManifest(TWIN);
  const units = unitsOf(twins, effect);
  const later = (count: number): string[] => (deferred ? ['--later', String(count)] : []);
  const base = plantTwins(twin, { base: twins.units.base }, later(0));
  const other = copied
    ? copyTwin(twin, join(context.folder, 'elsewhere', 'twin'))
    : { ...twin, name: 'other' };
  const own = { base: deferred ? twins.units.base : units };
  const candidate = plantTwins(other, own, later(units - twins.units.base));
  const startedAt = new Date().toISOString();
  const began = performance.now();
  const options: Partial<BenchOptions> = {
    targets: [base.name, candidate.name],
    interleave: true,
    sequentialTest: { by: 'cpu', threshold: THRESHOLD, budgetSeconds: BUDGET_SECONDS },
  };
  const { plan, trials } = await measure([base, candidate], options, context);
  const seconds = (performance.now() - began) / 1000;
  if (context.isInterrupted()) return undefined;
  const table = compareWithin(
    { plan, stops: trackRun(plan).stopsAfter(trials), trials },
    { by: 'cpu', threshold: THRESHOLD },
  );
  const row = table.rows[0];
  if (row === undefined) throw new TrialError('a sequential test without a comparison');
  return {
    startedAt,
    effect,
    ...(deferred && { deferred }),
    threshold: THRESHOLD,
    copied,
    seconds,
    ...resultOf(row, trials),
  };
}

/** Measures a plan of these options as `compare` does, with its warm-up, windows and looks, and stores nothing. */
async function measure(
  stacks: Stack[],
  options: Partial<BenchOptions>,
  { placed, token, folder, isInterrupted, track }: TestContext,
): Promise<{ plan: Plan; trials: Trial[] }> {
  const whole = benchOptions({ ...options, connections: [CONNECTIONS] });
  const plan = makePlan(whole, stacks, 'power', randomInt(2 ** 32));
  const prepared = await prepareOrThrow(plan, stacks);
  const tracker = trackRun(plan);
  const mayBegin = keepTime(plan, tracker, { before: [] });
  const decide = (trials: readonly Trial[]) => (mayBegin(trials) ? 'continue' : 'stop');
  const { effects: machine, stop } = await createEffects({ plan, placed, token, folder });
  const effects = { ...machine, decide, due: tracker.due };
  track(stop);
  const trials = isInterrupted() ? [] : await run(plan, { placed, prepared, before: [] }, effects);
  return { plan, trials };
}

async function prepareOrThrow(plan: Plan, stacks: Stack[]): Promise<Prepared[]> {
  const { prepared, missing } = await prepareAll(plan.targets, stacks);
  const [first] = missing;
  if (first !== undefined) throw new ToolchainError(`${first.target.id}: ${first.reason}`, first.hint);
  return prepared;
}
