/**
 * Measures how much CPU per request fresh processes of one server use, each against a warm reference on the same core.
 * README.md has the results.
 *
 *     pnpm exec node packages/bench-lab/experiments/kinds/experiment.ts <folder> <part,part…> [processes] [minutes]
 *
 * The parts are the lists in arms.ts. The folder gets `host.json` and `kinds.json`; a later call adds to them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expandTargets, readStacks } from 'bench-targets/catalogue/stacks';
import { findWorkload } from 'bench-targets/catalogue/workloads/index';
import { openSession } from 'bench-http/conduct/session';
import { readHost } from 'bench-machine/host';
import { launch, type Server } from 'bench-machine/launch';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import { REFERENCE_COMMAND } from 'bench-http/measure/reference';
import { awaitRightAnswer } from 'bench-http/measure/verify';
import { median } from 'bench-statistics/numbers';
import { prepareAll, type Prepared } from 'bench-targets/prepare/prepare';
import { createRandom } from 'bench-statistics/random';
import { PARTS, type Arm, type Step } from './arms.ts';
import { Client, type Manner } from './client.ts';
import type { Measured } from './measured.ts';

const SPAN_MS = 25;
const REFERENCE_SECONDS = 3;
const LONGEST_MS = 60_000;

const [folder = '', parts = '', processes = '8', minutes = '60'] = process.argv.slice(2);
const arms = parts.split(',').flatMap((part) => {
  const list = PARTS[part];
  if (folder === '' || list === undefined)
    throw new Error(`name a folder and parts: ${Object.keys(PARTS).join(', ')}`);
  return list.map((arm, order) => ({ ...arm, part, order }));
});
type Planned = (typeof arms)[number];
const deadline = performance.now() + Number(minutes) * 60_000;

const draw = findWorkload('devices').draw(() => 0.5, {});
const [request] = draw.requests;
if (request === undefined) throw new Error('a workload without requests');
const ready = await prepare(arms.map(({ target }) => target));

using session = await openSession('experiment', { isAlone: false });
const placed = await session.place({ serverCores: 1, generators: 1 });
const logs = session.makeFolder('experiment');
const random = createRandom(Date.now() % 2 ** 32);
let started = 0;

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'host.json'), `${JSON.stringify(await readHost(), undefined, 2)}\n`);
const file = join(folder, 'kinds.json');
const measured: Measured[] = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Measured[]) : [];

await using reference = await launchServer('reference', REFERENCE_COMMAND, {}, logs);
const others = new Map<Manner, Client>();
for (const { manner, steps } of arms) if (steps.some((step) => 'measure' in step)) await askReference(manner);

for (let count = 0; count < Number(processes); count++) {
  const planned = random.shuffle(arms.filter(({ target }) => ready.has(target)));
  const together = planned.filter(({ isTogether }) => isTogether);
  await Promise.all(together.map(add));
  for (const arm of planned) {
    if (!arm.isTogether && performance.now() < deadline) await add(arm);
  }
}
for (const other of others.values()) other.close();

/** Prepares the targets; reports those that this machine cannot run. */
async function prepare(targets: string[]): Promise<Map<string, Prepared>> {
  const stacks = readStacks();
  const wanted = expandTargets([...new Set(targets)], stacks, 'devices');
  const { prepared, missing } = await prepareAll(wanted, stacks);
  for (const { target, reason } of missing) console.error(`${target.id} is left out: ${reason}`);
  return new Map(prepared.map((one) => [one.target.id, one]));
}

async function start({ target, flags }: Arm): Promise<Server> {
  const { command, stack, env } = ready.get(target) as Prepared;
  const [runtime = '', ...rest] = command;
  return launchServer(target, [runtime, ...flags, ...rest], env, stack.root);
}

async function launchServer(
  name: string,
  command: string[],
  env: Record<string, string>,
  cwd: string,
): Promise<Server> {
  const server = await launch({
    id: `${String(++started).padStart(3, '0')}-${name.replaceAll(/[^\w.-]/g, '_')}`,
    token: session.token,
    command,
    cwd,
    env: { ...env, ...draw.env },
    files: draw.files,
    workers: 1,
    prefix: placed.server,
    time: undefined,
    folder: logs,
  });
  await awaitRightAnswer(server, draw, 30);
  return server;
}

function openClient(server: Server, manner?: Manner): Promise<Client> {
  return Client.open(server.pid() as number, server.port, manner);
}

/** Returns a client of the reference that asks in this manner. */
async function askReference(manner: Manner): Promise<Client> {
  const key = [...others.keys()].find((one) => JSON.stringify(one) === JSON.stringify(manner)) ?? manner;
  const other = others.get(key) ?? (await openClient(reference, manner));
  if (!others.has(key)) {
    const until = other.cpuUs() + REFERENCE_SECONDS * 1e6;
    await other.load(LONGEST_MS, () => other.cpuUs() > until);
  }
  others.set(key, other);
  return other;
}

async function add(arm: Planned): Promise<void> {
  measured.push(await live(arm));
  save();
}

/** Lives one process to its end. */
async function live(arm: Planned): Promise<Measured> {
  const begun = performance.now();
  await using server = await start(arm);
  const client = await openClient(server, arm.manner);
  const found: Measured = {
    part: arm.part,
    arm: arm.name,
    order: arm.order,
    target: arm.target,
    version: ready.get(arm.target)?.runtime?.version ?? '',
    ratios: [],
    cpuUs: 0,
    referenceUs: 0,
    answers: 0,
    seconds: 0,
    load: round(loadavg()[0] ?? 0, 2),
  };
  for (const step of arm.steps) await take(step, { server, client, found, manner: arm.manner });
  client.close();
  found.seconds = round((performance.now() - begun) / 1000, 1);
  const log = server.log();
  const shapes = [...log.matchAll(/^shapes (.*)$/gm)].map(([, states = '']) => states);
  const collections = [...log.matchAll(/^shapes /gm)].map(
    ({ index }) => log.slice(0, index).match(/Mark-Compact/g)?.length ?? 0,
  );
  return shapes.length === 0 ? found : { ...found, shapes, collections };
}

interface Living {
  server: Server;
  client: Client;
  manner: Manner;
  found: Measured;
}

async function take(step: Step, { server, client, manner, found }: Living): Promise<void> {
  if ('idle' in step) return sleep(step.idle * 1000);
  if ('signal' in step) {
    process.kill(server.pid() as number, step.signal);
    return sleep(100);
  }
  if ('ask' in step) {
    for (let index = 0; index < step.ask; index++) {
      await sendRequest(server, request!);
      if (step.everyMs > 0) await sleep(step.everyMs);
    }
    return;
  }
  if ('warm' in step) {
    const until = client.cpuUs() + step.warm * 1e6;
    const { answers } = await client.load(LONGEST_MS, () => client.cpuUs() > until);
    found.answers += answers;
    return;
  }
  const pairs = await takeTurns(client, await askReference(manner), step.measure);
  found.ratios.push(round(median(pairs.map((pair) => pair.own / pair.other)), 3));
  found.cpuUs = round(median(pairs.map(({ own }) => own)), 2);
  found.referenceUs = round(median(pairs.map((pair) => pair.other)), 2);
}

/** Takes turns with the reference in the order A B, B A, so that a trend of the machine cancels. */
async function takeTurns(
  client: Client,
  against: Client,
  count: number,
): Promise<{ own: number; other: number }[]> {
  const pairs = [];
  for (let index = 0; index < count; index++) {
    const isFirst = index % 2 === 0;
    const before = isFirst ? undefined : await against.load(SPAN_MS);
    const own = await client.load(SPAN_MS);
    const other = before ?? (await against.load(SPAN_MS));
    pairs.push({ own: own.cpuUs, other: other.cpuUs });
  }
  return pairs;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Writes one process a line, after each of them. */
function save(): void {
  writeFileSync(file, `[\n${measured.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
  const last = measured.at(-1);
  console.log(
    `${last?.target} ${last?.arm}: × ${last?.ratios.join(' ')} load ${last?.load} ${(last?.shapes ?? []).map((states) => (states.includes('MEGA') ? 'dear' : 'cheap')).join(' ')}`,
  );
}
