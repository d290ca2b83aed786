import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { $ } from 'zx';
import { compareWithin, isDecided } from '@bench/harness/analyse/compare';
import { differencesOf } from '@bench/harness/analyse/paired';
import { summarisePool } from '@bench/harness/analyse/power';
import { unlikeHosts } from '@bench/harness/analyse/unlike';
import { readManifest } from '@bench/harness/catalogue/manifest';
import { readStacks } from '@bench/harness/catalogue/stacks';
import { findWorkload } from '@bench/harness/catalogue/workloads/index';
import { BenchError } from '@bench/harness/errors';
import type { StockResult } from '@bench/harness/measure/load/stock';
import { lockHost } from '@bench/harness/measure/lock';
import { choosePlacement, pinHarness, type Placed } from '@bench/harness/measure/placement';
import { prepareAll, type Prepared } from '@bench/harness/measure/prepare';
import { run, type RunEffects } from '@bench/harness/measure/run';
import {
  copyTwin,
  EFFECTS,
  makeTwins,
  plantTwins,
  TRIAL_UNITS,
  type Twins,
} from '@bench/harness/measure/twins';
import type { Stack, Trial } from '@bench/harness/model';
import { parse, parseBenchOptions, wholeNumber } from '@bench/harness/options';
import { makePlan, type Plan } from '@bench/harness/plan';
import { createRandom } from '@bench/harness/random';
import { renderPower } from '@bench/harness/report/power';
import { readHost } from '@bench/harness/results/host';
import {
  appendPooled,
  createPool,
  readPool,
  type Pool,
  type PooledSitting,
} from '@bench/harness/results/pool';
import { RESULTS, shown, writeReport } from '@bench/harness/results/store';
import { createEffects } from './effects.ts';
import { onInterrupt, runMain, tell } from './shell.ts';

const STOCK = fileURLToPath(import.meta.resolve('@bench/harness/measure/load/stock'));
const TWIN = fileURLToPath(import.meta.resolve('@bench/harness/planted/twin'));
const LOOKS = '12/18/24';
const CONNECTIONS = 20;
const STOCK_SECONDS = 10;
/** A sitting takes two minutes at the most, the stop of its last servers included. */
const BUDGET_SECONDS = 115;
const WINDOW_SECONDS = 1;
const WARMUP_SECONDS = 0.3;
/** Rounds that the cost of a unit is told from. */
const COST_ROUNDS = 5;

await runMain(async () => {
  const { values } = parse(process.argv.slice(2), {
    noise: { type: 'string' },
    pool: { type: 'string' },
    sittings: { type: 'string' },
    target: { type: 'string' },
  });
  const sittings = wholeNumber('sittings', values.sittings, 0) ?? EFFECTS.length;
  const noise = wholeNumber('noise', values.noise, 0) ?? 0;
  const folder = values.pool ?? join(RESULTS, 'power');
  const stored = readPool(folder);
  const interrupted =
    sittings + noise > 0 ? await addTo(folder, stored, { sittings, noise, target: values.target }) : false;
  const pool = readPool(folder);
  if (pool === undefined)
    throw new BenchError('usage', `there is no pool in ${shown(folder)}`, 'pnpm bench:power begins one');
  const text = renderPower(pool, summarisePool(pool.entries, LOOKS, createRandom(1)));
  writeReport(folder, 'power.txt', text);
  process.stdout.write(text);
  tell(`kept in ${shown(folder)}`);
  return interrupted ? 130 : 0;
});

/** What there is to measure with. */
interface Means {
  placed: Placed;
  token: string;
  folder: string;
  isInterrupted: () => boolean;
  track: (stop: () => void) => void;
}

/** Adds sittings and noise rounds to the pool, each kept when it is whole. Gives whether it was interrupted. */
async function addTo(
  folder: string,
  stored: Pool | undefined,
  { sittings, noise, target = 'vanilla' }: { sittings: number; noise: number; target: string | undefined },
): Promise<boolean> {
  const token = randomBytes(8).toString('hex');
  using lock = lockHost('power', token);
  for (const line of lock.removed) tell(line);
  const host = await readHost();
  const unlike = stored === undefined ? [] : unlikeHosts(stored.host, host);
  if (unlike.length > 0)
    throw new BenchError(
      'usage',
      `the pool is of another host: ${unlike.join('; ')}`,
      'begin another with --pool FOLDER',
    );
  const placed = await choosePlacement({ serverCores: 1, generators: 1 });
  await pinHarness(placed);
  const work = (await $`mktemp -d`).stdout.trim();
  let stopped = false;
  let stopLive: (() => void) | undefined;
  using _ = onInterrupt(() => {
    stopped = true;
    stopLive?.();
  }, 'stopping: what is whole is kept, the sitting in progress is not');
  const means: Means = {
    placed,
    token,
    folder: work,
    isInterrupted: () => stopped,
    track(stop) {
      stopLive = stop;
    },
  };

  if (stored === undefined) {
    const twins = await measureTwins(means);
    if (twins === undefined) return true;
    createPool(folder, { schema: 1, host, twins });
  }
  const pool = readPool(folder) as Pool;
  const before = pool.entries.filter(({ kind }) => kind === 'sitting').length;
  for (let index = before; index < before + sittings; index++) {
    const sitting = await sit(pool.twins, index, means);
    if (sitting === undefined) return true;
    appendPooled(folder, sitting);
    tell(`[${index - before + 1}/${sittings}] ${describeSitting(sitting)}`);
  }
  for (let round = 1; round <= noise; round++) {
    if (!(await addNoise(folder, target, means))) return true;
    tell(`[${round}/${noise}] A/A round of ${target}, separate and as a duel`);
  }
  return false;
}

function describeSitting({
  effect,
  copied,
  verdict,
  ratio = Number.NaN,
  rounds,
  seconds,
  stock,
}: PooledSitting): string {
  const planted = effect === 0 ? `A/A${copied ? ', copied' : ''}` : `+${effect * 100} %`;
  const printed =
    stock === undefined
      ? ''
      : `; stock printed ${Math.round(stock.baseline)} and ${Math.round(stock.candidate)}`;
  return `${planted}: ${verdict}, × ${ratio.toFixed(3)} after ${rounds} rounds, ${seconds.toFixed(0)} s${printed}`;
}

/** Measures what a unit of work costs here. Undefined when interrupted. */
async function measureTwins(means: Means): Promise<Twins | undefined> {
  const stack = plantTwins(readManifest(TWIN), { bare: 0, worked: TRIAL_UNITS });
  const trials = await measure(
    [stack],
    ['twin/bare', 'twin/worked', '--duel', '--rounds', String(COST_ROUNDS)],
    means,
  );
  if (means.isInterrupted()) return undefined;
  const twins = makeTwins(costOf(trials, 'twin'), costOf(trials, 'twin/worked'));
  tell(`twins: a request costs ${twins.bareUs.toFixed(1)} µs, a unit of work ${twins.unitNs.toFixed(2)} ns`);
  return twins;
}

/** Mean CPU per request of a target, µs. */
function costOf(trials: Trial[], target: string): number {
  const costs = trials.filter((trial) => trial.target.id === target).map(costOfTrial);
  return costs.reduce<number>((sum, cost) => sum + (cost ?? Number.NaN), 0) / costs.length;
}

function costOfTrial(trial: Trial): number | undefined {
  return trial.status === 'failed' ? undefined : trial.measured.cpuUsPerRequest;
}

/** One sitting: rounds of duels until they decide, or the time is up; then one run of stock autocannon on each. */
async function sit(twins: Twins, index: number, means: Means): Promise<PooledSitting | undefined> {
  const effect = EFFECTS[index % EFFECTS.length] ?? 0;
  // Every other A/A sitting is of the same program in another folder.
  const copied = effect === 0 && Math.floor(index / EFFECTS.length) % 2 === 1;
  const twin = readManifest(TWIN);
  const base = plantTwins(twin, { base: twins.units.base });
  const other = copied ? copyTwin(twin, join(means.folder, 'elsewhere', 'twin')) : { ...twin, name: 'other' };
  const candidate = plantTwins(other, { base: twins.units[effect] });
  const startedAt = new Date().toISOString();
  const began = performance.now();
  const words = [
    base.name,
    candidate.name,
    '--duel',
    '--until-decided',
    '--looks',
    LOOKS,
    '--budget',
    String(BUDGET_SECONDS),
  ];
  let plan: Plan | undefined;
  const trials = await measure([base, candidate], words, means, (made) => {
    plan = made;
  });
  const seconds = (performance.now() - began) / 1000;
  if (means.isInterrupted() || plan === undefined) return undefined;
  const table = compareWithin({ plan, trials }, { by: 'cpu', threshold: 0.02 });
  const comparison = table.rows[0]?.comparison;
  if (comparison === undefined) throw new BenchError('trial', 'a sitting without a comparison');
  const figures = [candidate, base].map(({ name }) =>
    trials.filter(({ target }) => target.id === name).map(costOfTrial),
  ) as [(number | undefined)[], (number | undefined)[]];
  const stock = await askStock([base, candidate], means);
  if (stock === undefined) return undefined;
  return {
    kind: 'sitting',
    startedAt,
    effect,
    copied,
    seconds,
    rounds: comparison.rounds + comparison.dropped,
    verdict: comparison.verdict,
    byMoreThanThreshold: comparison.byMoreThanThreshold,
    ...(comparison.ratio === undefined ? {} : { ratio: comparison.ratio.estimate }),
    differences: differencesOf(...figures, 'lower').map((difference) => difference ?? null),
    stock,
  };
}

/** One A/A round of separate trials and one duel of the same target, the one that begins drawn by a coin. */
async function addNoise(folder: string, target: string, means: Means): Promise<boolean> {
  const methods = createRandom(randomInt(2 ** 32)).shuffle(['separate', 'duel'] as const);
  for (const method of methods) {
    const startedAt = new Date().toISOString();
    const trials = await measure(readStacks([]), [target, '--aa', `--${method}`, '--rounds', '1'], means);
    if (means.isInterrupted()) return false;
    const [first, again] = [target, `${target} (A/A)`].map((id) =>
      trials.filter((trial) => trial.target.id === id).map(costOfTrial),
    ) as [(number | undefined)[], (number | undefined)[]];
    const [difference] = differencesOf(again, first, 'lower');
    appendPooled(folder, {
      kind: 'noise',
      startedAt,
      target,
      method,
      connections: CONNECTIONS,
      windowSeconds: WINDOW_SECONDS,
      difference: difference ?? null,
    });
  }
  return true;
}

/** Measures a plan of these words and keeps nothing of it but what is given back. */
async function measure(
  stacks: Stack[],
  words: string[],
  { placed, token, folder, isInterrupted, track }: Means,
  onPlan: (plan: Plan) => void = () => {},
): Promise<Trial[]> {
  const times = ['--duration', String(WINDOW_SECONDS), '--warmup', String(WARMUP_SECONDS)];
  const options = parseBenchOptions([...words, ...times, '--connections', String(CONNECTIONS)]);
  const plan = makePlan(options, stacks, 'power', randomInt(2 ** 32));
  onPlan(plan);
  const prepared = await prepareOrThrow(plan, stacks);
  const began = performance.now();
  const isOver = (): boolean =>
    (performance.now() - began) / 1000 > (plan.sitting?.budgetSeconds ?? Infinity);
  const decide: RunEffects['decide'] = (trials) =>
    isOver() || isDecided(plan, trials) ? 'stop' : 'continue';
  const { effects, stop } = await createEffects({ plan, placed, token, folder, decide });
  track(stop);
  if (isInterrupted()) return [];
  return run(plan, { placed, prepared, before: [] }, effects);
}

async function prepareOrThrow(plan: Plan, stacks: Stack[]): Promise<Prepared[]> {
  const { prepared, missing } = await prepareAll(plan.targets, stacks);
  const [first] = missing;
  if (first !== undefined)
    throw new BenchError('toolchain', `${first.target.id}: ${first.reason}`, first.hint);
  return prepared;
}

/** What stock autocannon prints as its own average of each, fresh servers, one run; undefined when interrupted. */
async function askStock(stacks: [Stack, Stack], means: Means): Promise<PooledSitting['stock'] | undefined> {
  const printed: number[] = [];
  const names = stacks.map(({ name }) => name);
  const options = parseBenchOptions([...names, '--rounds', '1', '--connections', String(CONNECTIONS)]);
  const plan = makePlan(options, stacks, 'power', randomInt(2 ** 32));
  const prepared = await prepareOrThrow(plan, stacks);
  const { effects, stop } = await createEffects({
    plan,
    placed: means.placed,
    token: means.token,
    folder: means.folder,
  });
  means.track(stop);
  for (const name of names) {
    const planned = plan.trials.find(({ target }) => target === name);
    const found = prepared.find(({ target }) => target.id === name);
    if (planned === undefined || found === undefined) throw new Error(`no trial for ${name}`);
    const random = createRandom(planned.seed);
    const draw = findWorkload(plan.workload).draw(() => random.float());
    await using server = await effects.launch(found, planned, draw);
    await effects.awaitRightAnswer(server, draw, plan.startSeconds);
    const url = `http://${server.host}:${server.port}${draw.requests[0]?.path}`;
    const { stdout } =
      await $`${[...means.placed.generator, process.execPath, STOCK, url, CONNECTIONS, STOCK_SECONDS]}`.quiet();
    printed.push((JSON.parse(stdout) as StockResult).printedAverage);
    if (means.isInterrupted()) return undefined;
  }
  const [baseline = 0, candidate = 0] = printed;
  return { baseline, candidate };
}
