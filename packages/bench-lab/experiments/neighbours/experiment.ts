/**
 * Measures the cost of a request to a server while the core of the load is idle between requests, and while it is kept busy, at the
 * same offered load. README.md has the results.
 *
 *     pnpm exec node packages/bench-lab/experiments/neighbours/experiment.ts <folder> [seconds]
 *
 * The folder gets `host.json`, `spans.jsonl` and `pairs.jsonl`; a later call adds to them.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expandTargets, readStacks } from 'bench-targets/catalogue/stacks';
import { findWorkload } from 'bench-targets/catalogue/workloads/index';
import { openSession } from 'bench-http/conduct/session';
import { readHost } from 'bench-machine/host';
import { launch } from 'bench-machine/launch';
import { measureNeighbours, startFiller, type Filler } from 'bench-machine/neighbours';
import { readThreadsUs } from 'bench-machine/procfs';
import { awaitRightAnswer } from 'bench-http/measure/verify';
import { sum } from 'bench-statistics/numbers';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { createRandom } from 'bench-statistics/random';
import { Client } from './client.ts';
import { BUSY, FILLS, type Arm, type Fill, type MeasuredSpan } from './spans.ts';

const CONNECTIONS = 10;
const WARMUP_MS = 3000;
/** After a change of the load, before the span opens. */
const SETTLE_MS = 60;
const SPAN_MS = 240;
const PAIRS = 10;

const ARMS: Arm[] = [
  { target: 'vanilla' },
  { target: 'fastify' },
  { target: 'uvicorn' },
  { target: 'fastapi' },
  { target: 'vanilla', perSecond: 2000 },
  { target: 'fastify', perSecond: 2000 },
  { target: 'uvicorn', perSecond: 2000 },
  { target: 'fastapi', perSecond: 2000 },
  { target: 'vanilla', perSecond: 8000 },
  { target: 'fastify', perSecond: 8000 },
];

const [folder = '', seconds = '150'] = process.argv.slice(2);
if (folder === '') throw new Error('name a folder');
const deadline = performance.now() + Number(seconds) * 1000;

const draw = findWorkload('devices').draw(() => 0.5, {});
const stacks = readStacks();
const targets = expandTargets([...new Set(ARMS.map(({ target }) => target))], stacks, 'devices');
const { prepared, missing } = await prepareAll(targets, stacks);
for (const { target, reason } of missing) console.error(`${target.id} is left out: ${reason}`);

using session = await openSession('experiment', { isAlone: false });
const placed = await session.place({ serverCores: 1, generators: 1 });
const { server: [core = 0] = [], generator = [] } = placed.placement;
if (placed.placement.kind !== 'separate') throw new Error('the experiment needs two cores');
const logs = session.makeFolder('experiment');
const random = createRandom(Date.now() % 2 ** 32);

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'host.json'), `${JSON.stringify(await readHost(), undefined, 2)}\n`);
const spansFile = join(folder, 'spans.jsonl');
const firstRound = existsSync(spansFile)
  ? Math.max(...readLines(spansFile).map(({ round }) => round)) + 1
  : 0;

await using servers = new AsyncDisposableStack();
const running = new Map<string, { pid: number; client: Client }>();
for (const [index, one] of prepared.entries()) {
  const server = servers.use(
    await launch({
      id: `${index}-${one.target.id}`,
      token: session.token,
      command: one.command,
      cwd: one.stack.root,
      env: { ...one.env, ...draw.env },
      files: draw.files,
      workers: 1,
      prefix: placed.server,
      time: undefined,
      folder: logs,
    }),
  );
  await awaitRightAnswer(server, draw, 30);
  const client = await Client.open(server.port, '/api/devices', CONNECTIONS);
  running.set(one.target.id, { pid: server.pid() as number, client });
  client.start(undefined);
  await sleep(WARMUP_MS);
  await client.stop();
}

using filler = await startFiller(generator, 'loop');
using rival = await startFiller(generator, 'loop');
writeFileSync(`/proc/${rival.pid}/autogroup`, '0');
const fillers: Record<Fill, Filler | undefined> = { nothing: undefined, filler, rival };

for (let round = firstRound; performance.now() < deadline; round++) {
  for (const arm of random.shuffle([...ARMS])) {
    for (const fill of random.shuffle([...FILLS])) {
      const span = await measure(arm, fill);
      if (span !== undefined) append(spansFile, { ...span, round });
    }
  }
  for (const busy of BUSY) {
    for (const pair of await measureNeighbours({ server: core, load: generator, busy }, PAIRS))
      append(join(folder, 'pairs.jsonl'), { round, busy, ...pair });
  }
}
for (const { client } of running.values()) client.close();

/** Measures one span of one server; undefined if it could not be prepared. */
async function measure(arm: Arm, fill: Fill): Promise<Omit<MeasuredSpan, 'round'> | undefined> {
  const found = running.get(arm.target);
  if (found === undefined) return undefined;
  const { pid, client } = found;
  const beside = fillers[fill];
  beside?.resume();
  client.start(arm.perSecond);
  await sleep(SETTLE_MS);
  const read = () => ({
    ms: performance.now(),
    answers: client.answers,
    serverUs: cpuOf(pid),
    client: process.cpuUsage(),
    fillUs: beside === undefined ? 0 : cpuOf(beside.pid),
  });
  const before = read();
  await sleep(SPAN_MS);
  const after = read();
  beside?.pause();
  await client.stop();
  const spanSeconds = (after.ms - before.ms) / 1000;
  const answers = after.answers - before.answers;
  const clientUs = after.client.user + after.client.system - before.client.user - before.client.system;
  return {
    ...arm,
    fill,
    seconds: round3(spanSeconds),
    answers,
    cpuUs: round3((after.serverUs - before.serverUs) / answers),
    clientCores: round3(clientUs / 1e6 / spanSeconds),
    fillCores: round3((after.fillUs - before.fillUs) / 1e6 / spanSeconds),
  };
}

function cpuOf(pid: number): number {
  return sum([...readThreadsUs(pid).values()]);
}

function round3(value: number): number {
  return Number(value.toFixed(3));
}

function readLines(file: string): MeasuredSpan[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as MeasuredSpan);
}

function append(file: string, value: object): void {
  appendFileSync(file, `${JSON.stringify(value)}\n`);
}
