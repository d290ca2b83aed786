/**
 * Compares the load driver of Bench with stock autocannon: both load one server by turns, and each turn gives the CPU that an
 * answer costs the client and the server.
 *
 *     pnpm exec node packages/bench-lab/experiments/stock/experiment.ts [target] [connections] [rounds]
 *
 * Prints the medians, and the ratios of means, driver ÷ stock, with their 95 % intervals. Needs Linux with two cores, and `ss`.
 */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitRightAnswer } from 'bench-http/measure/verify';
import { placeProcesses } from 'bench-http/conduct/prepare';
import { openSession } from 'bench-http/conduct/session';
import { findEngines } from 'bench-load/engines';
import { launch } from 'bench-machine/launch';
import { readThreadsUs } from 'bench-machine/procfs';
import { killAndWait, runSync, start } from 'bench-machine/subprocess';
import { locateMeanRatio } from 'bench-statistics/mean-ratio';
import { median, sum } from 'bench-statistics/numbers';
import { expandTargets, readStacks } from 'bench-targets/catalogue/stacks';
import { findWorkload } from 'bench-targets/catalogue/workloads/index';
import { prepareAll } from 'bench-targets/prepare/prepare';

const RAMP_MS = 60;
const WINDOW_MS = 300;
const WARMUP_ROUNDS = 5;
/** Longer than the experiment, so that no client ends by itself, and no stopped one times out. */
const FOREVER_SECONDS = 600;

const [target = 'vanilla', connections = '10', rounds = '40'] = process.argv.slice(2);
const draw = findWorkload('devices').draw(() => 0.5, {});
const { prepared } = await prepareAll(expandTargets([target], readStacks(), 'devices'), readStacks());
const [ready] = prepared;
if (ready === undefined) throw new Error(`${target} cannot run here`);

using session = await openSession('experiment', { isAlone: false });
const { token } = session;
const placed = await placeProcesses({ serverCores: 1, generators: 1 }, console.error);
await using server = await launch({
  id: 'server',
  token,
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
const serverPid = server.pid() as number;
const url = `http://${server.host}:${server.port}${draw.requests[0]?.path}`;
await (await fetch(url)).arrayBuffer();
/** The bytes of one answer: all that the server has sent on the only connection with one request. */
const answerBytes = readSent();

const stock = start({ stdio: 'ignore' })`exec ${[
  ...placed.generator,
  process.execPath,
  createRequire(new URL('../../../bench-load/package.json', import.meta.url)).resolve('autocannon'),
  `--connections=${connections}`,
  `--duration=${FOREVER_SECONDS}`,
  `--timeout=${FOREVER_SECONDS}`,
  url,
]}`;
try {
  const [engine] = await findEngines(['autocannon']);
  await using load = engine!.create({ placed, token }).open(
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
  const clients = { driver: load.pids[0] as number, stock: stock.pid as number };
  await sleep(1000);
  for (const pid of Object.values(clients)) process.kill(pid, 'SIGSTOP');

  const turns: Record<keyof typeof clients, Turn>[] = [];
  for (let round = -WARMUP_ROUNDS; round < Number(rounds); round++) {
    const early = round % 2 === 0 ? await takeTurn(clients.stock) : undefined;
    const driver = await takeTurn(clients.driver);
    const taken = { driver, stock: early ?? (await takeTurn(clients.stock)) };
    if (round >= 0) turns.push(taken);
  }
  for (const name of ['driver', 'stock'] as const) {
    const of = (figure: keyof Turn): string => median(turns.map((turn) => turn[name][figure])).toFixed(1);
    console.log(
      `${name}: ${of('perSecond')} answers/s; client ${of('clientUs')} µs, server ${of('serverUs')} µs`,
    );
  }
  for (const figure of ['clientUs', 'serverUs'] as const) {
    const pairs = turns.map(({ driver, stock: other }) => [driver[figure], other[figure]] as const);
    const found = locateMeanRatio(pairs, 0.05);
    const shown = [found?.centre, found?.interval?.low, found?.interval?.high].map((one) =>
      Math.exp(one ?? NaN).toFixed(2),
    );
    console.log(`driver ÷ stock, ${figure}: ${shown[0]} (${shown[1]} to ${shown[2]})`);
  }
  for (const pid of Object.values(clients)) process.kill(pid, 'SIGCONT');
} finally {
  await killAndWait(stock);
}

/** One turn of a client: its answers, and the CPU of both sides per answer. */
type Turn = Record<'perSecond' | 'clientUs' | 'serverUs', number>;

/** Lets one client send for a moment. */
async function takeTurn(client: number): Promise<Turn> {
  process.kill(client, 'SIGCONT');
  await sleep(RAMP_MS);
  const before = look(client);
  await sleep(WINDOW_MS);
  const after = look(client);
  process.kill(client, 'SIGSTOP');
  await sleep(RAMP_MS);
  const answers = (after.sent - before.sent) / answerBytes;
  return {
    perSecond: answers / ((after.atMs - before.atMs) / 1000),
    clientUs: (after.clientUs - before.clientUs) / answers,
    serverUs: (after.serverUs - before.serverUs) / answers,
  };
}

function look(client: number): { atMs: number; sent: number; clientUs: number; serverUs: number } {
  return { atMs: performance.now(), sent: readSent(), clientUs: cpuUs(client), serverUs: cpuUs(serverPid) };
}

/** CPU time of the living threads of a process so far, in µs. */
function cpuUs(pid: number): number {
  return sum([...readThreadsUs(pid).values()]);
}

/** The bytes that the server has sent on all its connections. */
function readSent(): number {
  const { stdout } = runSync(['ss', '-tinH', 'state', 'established', `( sport = :${server.port} )`]);
  return sum([...stdout.matchAll(/bytes_sent:(\d+)/g)].map(([, sent]) => Number(sent)));
}
