/**
 * Measures the effect of turns on the figures of a server: the same processes are loaded in long windows, one server at a time,
 * and in short turns with the others in between.
 *
 *     pnpm exec node packages/bench-lab/experiments/turns/experiment.ts <folder> [connections,connections…] [repeats]
 *
 * The folder gets `host.json` and `turns.json`; a later call adds to them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { createEffects } from 'bench-http/conduct/effects';
import { openSession } from 'bench-http/conduct/session';
import type { LoadSession } from 'bench-load/engine';
import { readHost } from 'bench-machine/host';
import { ServerLife, type ReadyServer } from 'bench-http/measure/life';
import { benchOptions } from 'bench-model/options';
import { makePlan } from 'bench-http/plan/plan';
import { TURN_ANSWERS } from 'bench-http/plan/by-turns';
import { sizeTurn } from 'bench-http/plan/turns';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { createRandom } from 'bench-statistics/random';

const TARGETS = ['vanilla', 'fastify', 'uvicorn', 'litestar', 'fastapi'];
/** The shortest turn of each manner, in seconds; one long window is 0. */
const MANNERS = [0, 0.02, 0.1, 0.2];
/** The load of one server in one manner and repeat: short, because the machine changes its pace. */
const SECONDS = 0.6;
const WARMUP_SECONDS = 6;
const RAMP_SECONDS = 0.05;
/** With more connections, turns are longer than the shortest ones anyway. */
const MOST_FOR_ALL = 100;

/** The figures of one server in one manner, over all repeats. */
export interface Measured {
  target: string;
  connections: number;
  turnSeconds: number;
  spanSeconds: number;
  /** Of each repeat. */
  goodputPerSecond: number[];
  p50Us: number | undefined;
  p99Us: number | undefined;
  /** CPU per request of each repeat. */
  cpuUs: number[];
}

const [folder = '', rungs = '10,100,1000', repeats = '15'] = process.argv.slice(2);
if (folder === '') throw new Error('name a folder for the result');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'host.json'), `${JSON.stringify(await readHost(), undefined, 2)}\n`);
const file = join(folder, 'turns.json');
const all: Measured[] = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Measured[]) : [];

using session = await openSession('experiment', { wait: true });
const placed = await session.place({ serverCores: 1, generators: 1, beside: [] });
const random = createRandom(Date.now() % 2 ** 32);
for (const connections of rungs.split(',').map(Number)) {
  all.push(...(await measure(connections)));
  writeFileSync(file, `${JSON.stringify(all, undefined, 1)}\n`);
}

/** One way to load one server. */
interface Arm {
  ready: ReadyServer;
  load: LoadSession;
  measured: Measured;
}

async function measure(connections: number): Promise<Measured[]> {
  const stacks = readStacks();
  const options = benchOptions({ targets: TARGETS, connections: [connections], rounds: 1, interleave: true });
  const plan = makePlan(options, stacks, 'experiment', random.below(2 ** 32));
  const { prepared } = await prepareAll(plan.targets, stacks);
  const logs = session.makeFolder(`turns-${connections}`);
  const { effects } = await createEffects({ plan, placed, token: session.token, folder: logs });
  const lives = plan.trials.map((planned) => {
    const found = prepared.find(({ target }) => target.id === planned.target);
    if (found === undefined) throw new Error(`${planned.target} is missing`);
    return new ServerLife(planned, { plan, placed, prepared: found, target: found.target }, effects);
  });
  const servers: ReadyServer[] = [];
  for (const life of lives) servers.push(await life.start());
  const manners = MANNERS.filter(
    (turnSeconds) => connections <= MOST_FOR_ALL || turnSeconds === 0 || turnSeconds === 0.1,
  );
  let last: LoadSession | undefined;
  const arms: Arm[] = [];
  await using opened = effects.load().open(servers[0]!.spec, 1);
  for (const turnSeconds of manners) {
    for (const [index, ready] of servers.entries()) {
      last = last?.beside?.(ready.spec) ?? opened;
      await last.arm();
      const target = plan.trials[index]!.target;
      const nothing = { spanSeconds: 0, goodputPerSecond: [], p50Us: undefined, p99Us: undefined, cpuUs: [] };
      arms.push({ ready, load: last, measured: { target, connections, turnSeconds, ...nothing } });
    }
  }
  const cycles: number[] = [];
  for (const { load } of arms.slice(0, servers.length)) {
    const { answers, seconds } = await load.turns!.take({
      rampSeconds: 0,
      windowSeconds: WARMUP_SECONDS,
    });
    cycles.push((connections * seconds) / answers);
  }
  for (let repeat = 0; repeat < Number(repeats); repeat++) {
    for (const manner of random.shuffle(manners)) {
      const own = random.shuffle(arms.filter(({ measured }) => measured.turnSeconds === manner));
      if (manner === 0) for (const arm of own) await loadFor(arm, 1, RAMP_SECONDS, SECONDS);
      else {
        const { rampSeconds, spanSeconds } = sizeTurn(Math.max(...cycles), {
          leastSeconds: manner,
          turnAnswers: TURN_ANSWERS.table,
        });
        await takeTurns(own, Math.ceil(SECONDS / spanSeconds), rampSeconds, spanSeconds);
      }
    }
    console.error(`${connections} connections: repeat ${repeat + 1} of ${repeats}`);
  }
  for (const { load, measured } of arms) {
    const { latencyUs } = await load.turns!.collect();
    Object.assign(measured, { p50Us: latencyUs?.p50, p99Us: latencyUs?.p99 });
  }
  for (const life of lives) await life.end();
  return arms.map(({ measured }) => measured);
}

/** Loads the servers in turn, forwards and backwards, and notes the CPU per request of each. */
async function takeTurns(
  arms: Arm[],
  count: number,
  rampSeconds: number,
  spanSeconds: number,
): Promise<void> {
  const sums = new Map(arms.map((arm) => [arm, { us: 0, answers: 0, goodput: 0 }]));
  for (let turn = 0; turn < count; turn++) {
    for (const arm of turn % 2 === 0 ? arms : arms.toReversed()) {
      const { us, answers, goodputPerSecond } = await takeTurn(arm, rampSeconds, spanSeconds);
      const sum = sums.get(arm)!;
      sum.us += us;
      sum.answers += answers;
      sum.goodput += goodputPerSecond / count;
    }
  }
  for (const [{ measured }, { us, answers, goodput }] of sums) {
    measured.spanSeconds = spanSeconds;
    measured.cpuUs.push(us / answers);
    measured.goodputPerSecond.push(goodput);
  }
}

async function loadFor(arm: Arm, count: number, rampSeconds: number, spanSeconds: number): Promise<void> {
  await takeTurns([arm], count, rampSeconds, spanSeconds);
}

async function takeTurn({ ready, load }: Arm, rampSeconds: number, windowSeconds: number) {
  const before = ready.meter!.readUs();
  const { answers, goodputPerSecond } = await load.turns!.take({ rampSeconds, windowSeconds });
  return { us: ready.meter!.readUs() - before, answers, goodputPerSecond };
}
