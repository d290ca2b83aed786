/**
 * Does Bench stay sound over many trials whose servers fail in every way? Measures the servers of the fault matrix in random order, and then compares what is there
 * with what was there before. Exits with 1 if something is left, a trial was not recorded, or the memory of this process
 * grows.
 *
 *     pnpm exec node --expose-gc packages/bench-lab/experiments/soak/soak.ts [minutes, by default 10] [seed]
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { appendTrials } from 'bench-analysis/results/store';
import { createEffects } from 'bench-http/conduct/effects';
import BENCH from 'bench-http/commands/bench';
import { measureTrial } from 'bench-http/measure/conductor';
import { verify } from 'bench-http/measure/verify';
import { makePlan } from 'bench-http/plan/plan';
import { choosePlacement } from 'bench-machine/placement';
import { environHas, listPids, readNames } from 'bench-machine/procfs';
import { newToken } from 'bench-machine/scratch';
import { coresOf } from 'bench-model/planned';
import { growthOf } from 'bench-statistics/growth';
import { createRandom } from 'bench-statistics/random';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { FROM, LOAD, SERVER_CASES } from '../../../bench/test/faults/servers.ts';

const [minutes = '10', seed = '1'] = process.argv.slice(2);
const MANIFEST = fileURLToPath(new URL('../../planted/unruly/stack.json', import.meta.url));
/** The trials before the memory counts: code and buffers are loaded once. */
const FIRST = 20;
/** Processes that were killed end within this time. */
const END_MS = 3000;
/** Short waits for servers that never answer. */
const SECONDS = { startSeconds: 3, barrierSeconds: 1 };
const ANSWER_SECONDS = 2;

const token = newToken();
process.env['BENCH_TOKEN'] = token;
const folder = mkdtempSync(join(tmpdir(), 'soak-'));
const random = createRandom(Number(seed));
const cases = SERVER_CASES.filter(({ hasStranger }) => hasStranger === undefined);

const stack = readManifest(MANIFEST);
const words = ['unruly', '--rounds', '1', '--warmup', '0', '--connections', '2', '--timeout', '1', ...LOAD];
const plan = { ...makePlan(BENCH.parse(words), [stack], 'soak', 1), ...SECONDS };
const { prepared } = await prepareAll(plan.targets, [stack]);
const [found] = prepared;
const [planned] = plan.trials;
if (found === undefined || planned === undefined) throw new Error('nothing to measure');
const placed = await choosePlacement({ serverCores: coresOf(plan), generators: plan.generators, beside: [] });
const { effects } = await createEffects({ plan, placed, token, folder, companions: [] });

/** What this process and its children hold. */
function takeStock(): Record<'processes' | 'descriptors' | 'folders' | 'cgroups', number> {
  return {
    processes: listPids().filter((pid) => pid !== process.pid && environHas(pid, 'BENCH_TOKEN', token))
      .length,
    descriptors: readNames('/proc/self/fd').length,
    folders: readNames(tmpdir()).filter((name) => name.includes(token)).length,
    cgroups: globSync(`/sys/fs/cgroup/**/bench-${token}-*`).length,
  };
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const levels: { answers: number; bytes: number }[] = [];
const statuses = new Map<string, number>();
let before = takeStock();
let trials = 0;
for (const until = Date.now() + Number(minutes) * 60_000; Date.now() < until; trials++) {
  const { phase, fault } = cases[random.below(cases.length)]!;
  const command = [...found.command, fault, ...(FROM[phase] ?? []).map(String)];
  const id = `${String(trials).padStart(6, '0')}-${planned.id}`;
  const trial = await measureTrial(
    { ...planned, id },
    { plan, placed, prepared: { ...found, command }, target: found.target },
    { ...effects, verify: (server, draw, when) => verify(server, draw, when, ANSWER_SECONDS) },
  );
  appendTrials(folder, [trial]);
  statuses.set(trial.status, (statuses.get(trial.status) ?? 0) + 1);
  for (const name of ['logs', 'time', 'data'])
    for (const file of readNames(join(folder, name))) rmSync(join(folder, name, file), { recursive: true });
  if (trials === FIRST) before = takeStock();
  if (trials >= FIRST) levels.push({ answers: trials, bytes: heapBytes() });
}
await sleep(END_MS);
const after = takeStock();
const records = readFileSync(join(folder, 'trials.jsonl'), 'utf8').trim().split('\n').length;
const growth = growthOf(levels);
const left = Object.entries(after).filter(([name, count]) => count > before[name as keyof typeof before]);

console.log(
  `${trials} trials in ${minutes} min, seed ${seed}: ${[...statuses].map(([status, count]) => `${count} ${status}`).join(', ')}`,
);
console.log(`${records} records`);
console.log(`before: ${JSON.stringify(before)}, after: ${JSON.stringify(after)}`);
console.log(
  growth === undefined
    ? 'too few trials for the growth of memory'
    : `memory: ${Math.round(growth.estimate)} B per trial (${Math.round(growth.interval.low)} to ${Math.round(growth.interval.high)} B)`,
);
rmSync(folder, { recursive: true });
process.exitCode = left.length > 0 || records !== trials || growth?.isKept === true ? 1 : 0;
process.exit();
