/**
 * Measures if the load of a cluster costs a server as much CPU per request as that of one machine. Both load the same
 * process alternately, with as many generators and at the same rate.
 *
 *     pnpm cluster up --local 3
 *     pnpm exec node packages/bench-lab/experiments/cluster/experiment.ts .cache/cluster/bench.cluster.json [pairs] [rate] [connections]
 *     pnpm cluster down
 *
 * Prints the CPU per request of each pair, and the ratio with its 95 % interval.
 */
import { fixedSchedule } from 'bench-analysis/looks';
import { differenceOf } from 'bench-analysis/differences';
import { exact } from 'bench-analysis/metrics';
import { compareRounds } from 'bench-analysis/paired';
import { readCluster } from 'bench-targets/catalogue/cluster';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { createEffects } from 'bench-http/conduct/effects';
import { openSession } from 'bench-http/conduct/session';
import { openCluster } from 'bench-cluster/cluster';
import type { LoadSession } from 'bench-load/engine';
import type { CpuMeter } from 'bench-machine/resources/cpu-meter';
import { ServerLife } from 'bench-http/measure/life';
import { median } from 'bench-statistics/numbers';
import { benchOptions } from 'bench-model/options';
import { makePlan } from 'bench-http/plan/plan';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { createRandom } from 'bench-statistics/random';

/** A window holds thousands of requests, and the pace of the machine changes little in a pair. */
const WINDOW_SECONDS = 2;
const RAMP_SECONDS = 0.3;
/** Node has compiled its code after this. */
const WARMUP_SECONDS = 8;

const [file = '', pairs = '40', rate = '6000', connections = '100'] = process.argv.slice(2);
if (file === '') throw new Error('name a bench.cluster.json');
const read = readCluster(file);
if (!('cluster' in read)) throw new Error('the file has no generators');
const load = { mode: 'open' as const, perSecond: Number(rate) };

using session = await openSession('experiment', { wait: true });
const placed = await session.place({ serverCores: 1, generators: 1, beside: [] });
await using cluster = await openCluster(read.cluster);
const stacks = readStacks();
const seed = Date.now() % 2 ** 32;
const options = benchOptions({ targets: ['vanilla'], connections: [Number(connections)], rounds: 1 });
const plan = makePlan(options, stacks, 'experiment', seed);
const { prepared } = await prepareAll(plan.targets, stacks);
const [found] = prepared;
const [planned] = plan.trials;
if (found === undefined || planned === undefined) throw new Error('vanilla is missing');
const { token } = session;
const folder = session.makeFolder('cluster');
const { effects } = await createEffects({ plan, placed, token, folder, host: cluster.host });
const life = new ServerLife(planned, { plan, placed, prepared: found, target: found.target }, effects);
const { spec, meter } = await life.start();
if (meter === undefined) throw new Error('the CPU of the server cannot be read');

const generators = read.cluster.generators * read.cluster.processes;
await using local = effects.load().open(spec, generators);
await using remote = cluster.engine.create({ placed, token }).open(spec, generators);
const ways = { 'one machine': local, cluster: remote };
type Way = keyof typeof ways;
const answered = new Map<LoadSession, number>();
const costs: Record<Way, number[]> = { 'one machine': [], cluster: [] };
for (const way of Object.values(ways)) {
  await way.arm();
  await measure(way, meter, WARMUP_SECONDS);
}
const random = createRandom(seed);
for (let pair = 0; pair < Number(pairs); pair++) {
  for (const name of random.shuffle(Object.keys(ways) as Way[]))
    costs[name].push(await measure(ways[name], meter, WINDOW_SECONDS));
  const told = Object.entries(costs).map(([name, all]) => `${name} ${all.at(-1)?.toFixed(1)} µs`);
  console.log(`pair ${pair + 1}: ${told.join(', ')}`);
}
await life.end();
const better = 'lower' as const;
const here = costs['one machine'];
const differences = costs.cluster.map((there, pair) =>
  differenceOf(exact(there), here[pair] === undefined ? undefined : exact(here[pair]), better),
);
const { verdict, ratio } = compareRounds(differences, {
  better,
  threshold: 0.05,
  schedule: fixedSchedule(Number(pairs)),
});
const { estimate = Number.NaN, interval } = ratio ?? {};
for (const [name, all] of Object.entries(costs)) console.log(`${name}: median ${median(all).toFixed(2)} µs`);
console.log(
  `cluster ÷ one machine: ${estimate.toFixed(3)} (${interval?.low.toFixed(3)} to ${interval?.high.toFixed(3)}): ${verdict}`,
);

/** Loads the server for one window, and returns its CPU per request in µs. */
async function measure(way: LoadSession, cpu: CpuMeter, windowSeconds: number): Promise<number> {
  let [before, after] = [0, 0];
  const { counts } = await way.fire({ warmupSeconds: RAMP_SECONDS, windowSeconds, load }, (edge) => {
    if (edge === 'opened') before = cpu.readUs();
    else after = cpu.readUs();
  });
  // A session counts over all its windows.
  const ok = counts.ok - (answered.get(way) ?? 0);
  answered.set(way, counts.ok);
  return (after - before) / ok;
}
