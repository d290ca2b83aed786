/**
 * Records CPU per request of fresh processes in short slices, with a probe of the server's core before and after each.
 * evaluate.ts prints the results.
 *
 *     pnpm exec node packages/bench-lab/experiments/probe/experiment.ts <folder> <target,target…> [processes] [seconds]
 *
 * The folder gets `host.json` and `probe.jsonl`, one line for each process; a later call adds to them.
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expandTargets, readStacks } from 'bench-targets/catalogue/stacks';
import { findWorkload } from 'bench-targets/catalogue/workloads/index';
import { openSession } from 'bench-http/conduct/session';
import { readHost } from 'bench-machine/host';
import { launch } from 'bench-machine/launch';
import { readThreadsUs } from 'bench-machine/procfs';
import { start, type Child } from 'bench-machine/subprocess';
import { awaitRightAnswer } from 'bench-http/measure/verify';
import { sum } from 'bench-statistics/numbers';
import { prepareAll, type Prepared } from 'bench-targets/prepare/prepare';
import { createRandom } from 'bench-statistics/random';
import { Client } from '../kinds/client.ts';
import { PARTS, type Part, type ProbedProcess, type Slice } from './probed.ts';

const SLICE_MS = 100;
/** The load on each fresh process before its first slice. */
const WARMUP_MS = 2000;

const [folder = '', names = '', processes = '4', seconds = '15'] = process.argv.slice(2);
if (folder === '' || names === '') throw new Error('name a folder and targets');
const draw = findWorkload('devices').draw(() => 0.5, {});
const stacks = readStacks();
const { prepared } = await prepareAll(expandTargets(names.split(','), stacks, 'devices'), stacks);

using session = await openSession('experiment');
const placed = await session.place({ serverCores: 1, generators: 1 });
const logs = session.makeFolder('experiment');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'host.json'), `${JSON.stringify(await readHost(), undefined, 2)}\n`);

/** A program that runs parts of the probe on request. */
class Probe {
  readonly #child: Child;
  #answered = Promise.withResolvers<void>();

  constructor(argv: string[]) {
    const command = [...placed.server, ...argv];
    this.#child = start({ stdio: 'pipe', env: process.env })`exec ${command}`;
    this.#child.stdout?.on('data', () => this.#answered.resolve());
  }

  /** Runs a part and returns its CPU time in µs, the time to ask for it included. */
  async run(part: Part): Promise<number> {
    this.#answered = Promise.withResolvers();
    const before = this.#cpuUs();
    this.#child.stdin?.write(`${part}\n`);
    await this.#answered.promise;
    return this.#cpuUs() - before;
  }

  #cpuUs(): number {
    return sum([...readThreadsUs(this.#child.pid as number).values()]);
  }

  end(): void {
    this.#child.stdin?.end();
  }
}

const native = new Probe([process.execPath, fileURLToPath(new URL('probe.ts', import.meta.url))]);
const interpreted = new Probe(['python3', fileURLToPath(new URL('probe.py', import.meta.url))]);

/** Runs all parts, and returns their CPU times. */
async function probe(): Promise<number[]> {
  const times: number[] = [];
  for (const part of PARTS) {
    const program = part === 'arithmetic' || part === 'memory' ? native : interpreted;
    times.push(Math.round(await program.run(part)));
  }
  return times;
}

async function live({ target, command, stack, env }: Prepared, order: number): Promise<ProbedProcess> {
  const startedAt = new Date().toISOString();
  await using server = await launch({
    id: `${String(order).padStart(3, '0')}-${target.id.replaceAll(/[^\w.-]/g, '_')}`,
    token: session.token,
    command,
    cwd: stack.root,
    env: { ...env, ...draw.env },
    files: draw.files,
    workers: 1,
    prefix: placed.server,
    time: undefined,
    folder: logs,
  });
  await awaitRightAnswer(server, draw, 30);
  const client = await Client.open(server.pid() as number, server.port);
  await client.load(WARMUP_MS);
  const slices: Slice[] = [];
  const until = performance.now() + Number(seconds) * 1000;
  let before = await probe();
  while (performance.now() < until) {
    const { cpuUs, answers } = await client.load(SLICE_MS);
    const after = await probe();
    slices.push([Number(cpuUs.toFixed(2)), answers, before, after]);
    before = after;
  }
  client.close();
  return { target: target.id, sitting, startedAt, load: loadavg()[0] ?? 0, slices };
}

const sitting = new Date().toISOString();
const random = createRandom(Date.now() % 2 ** 32);
await probe();
for (let round = 0; round < Number(processes); round++) {
  for (const [index, one] of random.shuffle(prepared).entries()) {
    const lived = await live(one, round * prepared.length + index);
    appendFileSync(join(folder, 'probe.jsonl'), `${JSON.stringify(lived)}\n`);
    console.log(`${lived.target}: ${lived.slices.length} slices, load ${lived.load.toFixed(1)}`);
  }
}
native.end();
interpreted.end();
