/**
 * Loads one server with several engines by turns, and measures the cost of its answers, and how often it wakes the core
 * of the engine. README.md has the results.
 *
 *     pnpm exec node packages/bench-lab/experiments/engines/experiment.ts <folder> [target] [connections] [rounds]
 *
 * The folder gets `host.json` and a line in `engines.jsonl`. Needs Linux with two cores, `ss`, `chrt` and wrk.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { estimateRatio } from 'bench-statistics/ratio';
import { expandTargets, readStacks } from 'bench-targets/catalogue/stacks';
import { findWorkload } from 'bench-targets/catalogue/workloads/index';
import { openSession } from 'bench-http/conduct/session';
import { findEngines } from 'bench-load/engines';
import { readHost } from 'bench-machine/host';
import { launch } from 'bench-machine/launch';
import { runSync, start, type Child } from 'bench-machine/subprocess';
import { awaitRightAnswer } from 'bench-http/measure/verify';
import { median } from 'bench-statistics/numbers';
import { prepareAll } from 'bench-targets/prepare/prepare';
import type { Measured, Turn } from './turns.ts';

const RAMP_MS = 60;
const WINDOW_MS = 300;
const WARMUP_ROUNDS = 3;
/** Longer than the experiment, so that no engine ends by itself, and no stopped one times out. */
const FOREVER_SECONDS = 600;
/** Makes an answer take wrk about as long as stock autocannon. */
const BUSY_TURNS = '3000';

const [folder = '', target = 'fastapi', connections = '100', rounds = '30'] = process.argv.slice(2);
if (folder === '') throw new Error('name a folder');

const draw = findWorkload('devices').draw(() => 0.5, {});
const [request] = draw.requests;
if (request === undefined) throw new Error('a workload without requests');
const { prepared } = await prepareAll(expandTargets([target], readStacks(), 'devices'), readStacks());
const [ready] = prepared;
if (ready === undefined) throw new Error(`${target} cannot run here`);

using session = await openSession('experiment', { isAlone: false });
const placed = await session.place({ serverCores: 1, generators: 1 });
const core = placed.placement.generator?.[0];
if (core === undefined) throw new Error('this machine has no core for the engines');
await using server = await launch({
  id: 'server',
  token: session.token,
  command: ready.command,
  cwd: ready.stack.root,
  env: { ...ready.env, ...draw.env },
  files: draw.files,
  workers: 1,
  prefix: placed.server,
  time: undefined,
  folder: session.makeFolder('experiment'),
});
await awaitRightAnswer(server, draw, 30);
const pid = server.pid() as number;
const url = `http://${server.host}:${server.port}${request.path}`;
const bytes = await countBytes();

/** An engine that sends from its start on, except while it is stopped. */
interface Engine {
  name: string;
  pid: number;
  /** True if a loop at idle priority keeps the engine's core from sleeping during its turns. */
  hasLoop?: boolean;
}

/** End the engines and the loop. */
const ends: (() => void)[] = [];
const loops = startLoop();
const engines = await startEngines();
const turns = new Map(engines.map(({ name }): [string, Turn[]] => [name, []]));
try {
  for (let round = -WARMUP_ROUNDS; round < Number(rounds); round++) {
    for (const engine of round % 2 === 0 ? engines : engines.toReversed()) {
      const turn = await takeTurn(engine);
      if (round >= 0) turns.get(engine.name)?.push(turn);
    }
  }
} finally {
  for (const end of ends) end();
}
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'host.json'), `${JSON.stringify(await readHost(), undefined, 2)}\n`);
const measured: Measured = { target, connections: Number(connections), turns: Object.fromEntries(turns) };
appendFileSync(join(folder, 'engines.jsonl'), `${JSON.stringify(measured)}\n`);
const [stock = []] = turns.values();
for (const [name, list] of turns) {
  const of = (figure: (turn: Turn) => number) => median(list.map(figure));
  const { estimate, low, high } = estimateRatio(
    list.map(({ cpuUs }, round) => [cpuUs, stock[round]?.cpuUs ?? cpuUs] as const),
  );
  console.log(
    `${name.padEnd(24)} ${of((turn) => turn.answersPerSecond).toFixed(0)} answers/s, ${of((turn) => turn.cpuUs).toFixed(1)} µs,`,
    `${of((turn) => turn.wakes).toFixed(2)} wake-ups an answer, core ${(100 * of((turn) => turn.busy)).toFixed(0)} % busy,`,
    `ratio ${estimate.toFixed(3)} (${low?.toFixed(3)}–${high?.toFixed(3)})`,
  );
}

/** Starts a program, which is killed in the end. */
function run(argv: readonly string[]): Child {
  const env = { ...process.env, TURNS: BUSY_TURNS };
  const child = start({ stdio: ['pipe', 'ignore', 'inherit'], env })`exec ${argv}`;
  ends.push(() => child.kill('SIGKILL'));
  return child;
}

/** Starts a client on the core of the engines, and returns its process id. */
function runClient(argv: readonly string[]): number {
  return run([...placed.generator, ...argv]).pid as number;
}

function startLoop(): Child {
  const idle = ['chrt', '-i', '0', 'taskset', '-c', String(core)];
  const loop = run([...idle, 'sh', '-c', 'while :; do :; done']);
  loop.kill('SIGSTOP');
  return loop;
}

/** Starts all engines, one after the other, and stops each when its connections are established. */
async function startEngines(): Promise<Engine[]> {
  const rival = (name: string) => {
    const program = new URL(`../../../bench-load/src/rival-${name}.ts`, import.meta.url).pathname;
    return [process.execPath, program, url, connections];
  };
  const wrk = ['wrk', '-t1', `-c${connections}`, `-d${FOREVER_SECONDS}s`, `--timeout=${FOREVER_SECONDS}s`];
  const lua = new URL('busy.lua', import.meta.url).pathname;
  const found: Engine[] = [];
  const add = async (engine: Engine) => {
    await sleep(1000);
    process.kill(engine.pid, 'SIGSTOP');
    found.push(engine);
  };
  await add({ name: 'stock autocannon', pid: runClient(rival('stock')) });
  await add({ name: 'driver', pid: await startDriver() });
  await add({ name: 'plain client', pid: runClient(rival('plain')) });
  const quick = { name: 'wrk', pid: runClient([...wrk, url]) };
  await add(quick);
  await add({ name: 'wrk, kept busy', pid: runClient([...wrk, '-s', lua, url]) });
  return [...found, { ...quick, name: 'wrk, core never idle', hasLoop: true }];
}

async function startDriver(): Promise<number> {
  const [found] = await findEngines(['autocannon']);
  const load = found!.create({ placed, token: session.token }).open(
    {
      host: server.host,
      port: server.port,
      requests: draw.requests,
      connections: Number(connections),
      timeoutSeconds: FOREVER_SECONDS,
      barrierSeconds: 30,
      expected: undefined,
      hashEvery: 100,
    },
    1,
  );
  await load.arm();
  const window = { warmupSeconds: 0, windowSeconds: FOREVER_SECONDS, load: { mode: 'closed' as const } };
  load.fire(window, () => {}).catch(() => {});
  const [generator] = load.pids;
  if (generator === undefined) throw new Error('the driver has no process');
  ends.push(() => process.kill(generator, 'SIGKILL'));
  return generator;
}

/** Lets one engine send for a moment. */
async function takeTurn({ pid: engine, hasLoop = false }: Engine): Promise<Turn> {
  if (hasLoop) loops.kill('SIGCONT');
  process.kill(engine, 'SIGCONT');
  await sleep(RAMP_MS);
  const before = look();
  await sleep(WINDOW_MS);
  const after = look();
  process.kill(engine, 'SIGSTOP');
  loops.kill('SIGSTOP');
  await sleep(RAMP_MS);
  const answers = (after.sent - before.sent) / bytes;
  return {
    answersPerSecond: answers / ((after.atMs - before.atMs) / 1000),
    cpuUs: (after.cpuNs - before.cpuNs) / 1000 / answers,
    wakes: (after.interrupts - before.interrupts) / answers,
    busy: 1 - (after.idle - before.idle) / (after.ticks - before.ticks),
  };
}

function look() {
  const sent = readSent();
  const [, user = 0, nice = 0, system = 0, idle = 0, ...others] = readFields('/proc/stat', `cpu${core} `);
  return {
    atMs: performance.now(),
    sent,
    cpuNs: readCpuNs(),
    interrupts: readInterrupts(),
    idle,
    ticks: [user, nice, system, idle, ...others.slice(0, 4)].reduce((sum, ticks) => sum + ticks, 0),
  };
}

/** The bytes that the server has sent on all its connections. */
function readSent(): number {
  const { stdout } = runSync(['ss', '-tinH', 'state', 'established', `( sport = :${server.port} )`]);
  return [...stdout.matchAll(/bytes_sent:(\d+)/g)].reduce((sum, [, sent]) => sum + Number(sent), 0);
}

/** User and system time of all threads of the server. */
function readCpuNs(): number {
  return readdirSync(`/proc/${pid}/task`).reduce(
    (sum, thread) =>
      sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    0,
  );
}

/** The rescheduling and function call interrupts that the engine's core has received. */
function readInterrupts(): number {
  return ['RES:', 'CAL:'].reduce(
    (sum, name) => sum + (readFields('/proc/interrupts', name)[1 + (core as number)] ?? 0),
    0,
  );
}

/** The numbers in the first line that begins with this word; the word itself is the first. */
function readFields(file: string, word: string): number[] {
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .find((one) => one.trimStart().startsWith(word));
  return (line ?? '').trim().split(/\s+/).map(Number);
}

/** The bytes of one answer. */
async function countBytes(): Promise<number> {
  const socket = connect(server.port, server.host);
  const ended = Promise.withResolvers<number>();
  let length = 0;
  socket.on('data', (piece) => (length += piece.length));
  socket.on('end', () => ended.resolve(length));
  socket.write(`GET ${request?.path} HTTP/1.1\r\nHost: ${server.host}:${server.port}\r\n\r\n`);
  await sleep(500);
  socket.destroy();
  ended.resolve(length);
  return ended.promise;
}
