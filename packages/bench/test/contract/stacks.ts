import { existsSync, globSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Stack } from 'bench-model/stack';
import { targetsOf } from 'bench-targets/catalogue/stacks';
import { completeParams } from 'bench-targets/catalogue/workloads/index';
import type { Draw, Params, Workload } from 'bench-targets/catalogue/workloads/workload';
import { countWorkers, type Server } from 'bench-machine/launch';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import { awaitRightAnswer, verify } from '../../src/measure/verify.ts';
import type { Attestation, Target } from 'bench-model/target';
import type { Prepared } from 'bench-targets/prepare/prepare';
import { needs, target, type Need } from '../../../bench-lab/testing/needs.ts';
import {
  IDLE_SECONDS,
  leastBacklog,
  openConnection,
  readSockets,
  type KeptConnection,
} from './connections.ts';
import { testGather } from './gather.ts';
import { START_SECONDS, drawAll, listenersOf, loopback, openHost, type Host, type Running } from './host.ts';

const LONGEST_WAIT_SECONDS = 0.1;

const POLL_MS = 10;

/** A connection stays idle while this many further targets are tested, so that no test waits for long. */
const BEHIND = 3;

/** Far shorter than the time for which servers keep an idle connection. */
const LONGEST_IDLE_SECONDS = 40;

/** The servers of a target. */
interface Started {
  one: Running;
  /** That server, and one with two workers unless an earlier target starts its workers in the same way. */
  all: Running[];
  /** An idle connection to the first server. */
  connection?: KeptConnection;
}

/** Tests every variant of these stacks: its responses, attestations and sockets, and its end. */
export function testStacks(stacks: Stack[]): void {
  const host = openHost();
  const targets = stacks.flatMap(targetsOf);
  const started = new Map<Target, Started>();
  const kinds = new Set<string>();
  const begin = (wanted: Target) => ({
    wanted,
    define: () => {
      const ready = needs(target(wanted, stacks));
      testServers({ wanted, ready, host, started, kinds });
      const stack = stacks.find(({ name }) => name === wanted.stack);
      if (stack?.variants[wanted.variant]?.workloads.includes('gather'))
        testGather({ wanted, ready, running: () => started.get(wanted)!.one });
    },
  });
  const end = (wanted: Target) => ({
    wanted,
    define: () => testEnd(wanted, needs(target(wanted, stacks)), started),
  });
  // The end of each target comes after the servers of some others.
  const stages = targets.flatMap((wanted, index) => [
    begin(wanted),
    ...targets.slice(Math.max(0, index - BEHIND), Math.max(0, index - BEHIND + 1)).map(end),
  ]);
  describe.each([...stages, ...targets.slice(-BEHIND).map(end)])('$wanted.id', ({ define }) => {
    define();
  });
}

/** The inputs of the tests of a target's servers. */
interface Tested {
  wanted: Target;
  ready: Need<Prepared>;
  host: Host;
  started: Map<Target, Started>;
  /** The ways to start workers that were already tested with two. */
  kinds: Set<string>;
}

function testServers({ wanted, ready, host, started, kinds }: Tested): void {
  let one: Running;
  let all: Running[] = [];

  beforeAll(async () => {
    if (ready.why !== undefined) return;
    const prepared = ready.get();
    one = await host.serve(prepared, { seed: 1, workers: 1, paramsOf: otherOf });
    const [attestation] = await awaitWorkers(one.server, 1);
    all = [one];
    const kind = kindOf(prepared, attestation);
    if (!kinds.has(kind)) {
      kinds.add(kind);
      const two = await host.serve(prepared, { seed: 2, workers: 2, threads: 3, paramsOf: leastOf });
      all.push(two);
      await awaitWorkers(two.server, 2);
    }
    started.set(wanted, { one, all });
  });
  // Only the first server waits for the end of its idle connection.
  afterAll(async () => {
    await all[1]?.server.stop();
  });

  it('answers with the data drawn for it', async () => {
    for (const { server, draws } of all) await awaitRightAnswer(server, firstDraw(draws), START_SECONDS);
    const { variant } = ready.get();
    for (const { name, draw: other } of drawAll(variant, { seed: 2, paramsOf: leastOf })) {
      for (const { server, draws } of all) await verify(server, drawOf(draws, name), 'in the contract test');
      const draw = drawOf(one.draws, name);
      const answer = await sendRequest(one.server, draw.requests[0]!);
      expect(answer.contentType).toMatch(/^application\/json\b/);
      expect(draw.check(answer, 0)).toBeUndefined();
      expect(other.check(answer, 0)).toMatch(/^wrong body/);
    }
  });

  it('reports the time of its work, and waits as long as it reports', async () => {
    for (const [workload, { timing, env, requests }] of Object.entries(one.draws)) {
      if (timing === undefined) continue;
      const { headers } = await fetch(`http://${one.server.host}:${one.server.port}${requests[0]?.path}`);
      const told = new RegExp(`^${timing};dur=(\\d+\\.\\d{3})$`).exec(headers.get('server-timing') ?? '');
      expect({ workload, told: told?.[0] }).toEqual({ workload, told: expect.any(String) });
      if (timing === 'gather') continue;
      expect(Number(headers.get('x-process-time')) * 1000).toBeCloseTo(Number(told?.[1]), 2);
      // Timers of Node and Python may be a ms early.
      expect(Number(told?.[1])).toBeGreaterThanOrEqual(Number(env?.['BENCH_WAIT_MS'] ?? 0) - 1);
    }
  });

  it('attests its manifest and its versions in each worker', async () => {
    const { variant, stack, runtime } = ready.get();
    const ran = runtime === undefined ? {} : { version: runtime.version };
    for (const { server, workers } of all) {
      const told = server.attestations();
      expect(countWorkers(told)).toBe(workers);
      expect(new Set(told.map(({ pid }) => pid)).size).toBe(told.length);
      for (const attestation of told) {
        expect(attestation).toMatchObject({ ...variant.attest, version: expect.any(String), ...ran });
        // Both servers were asked for workers, and only the second for threads.
        const takesThreads = variant.command.some((word) => word.includes('{threads}'));
        expect(attestation['threads']).toBe(takesThreads && workers === 2 ? 3 : undefined);
        expect(String(attestation['framework']).split(' ')[0]).toBe(
          variant.class === 'raw' ? 'undefined' : stack.framework,
        );
      }
      const versions = told.flatMap(({ framework }) =>
        typeof framework === 'string' ? (framework.split(' ')[1] ?? []) : [],
      );
      const wrong = versions.filter((version) => !locksOf(stack).includes(version));
      expect(wrong, `the locks of ${stack.name} lack these versions`).toEqual([]);
    }
  });

  it('listens on one port of the loopback address only', async ({ skip }) => {
    skip(process.platform !== 'linux', 'needs /proc/net/tcp');
    for (const { server } of all) expect(listenersOf(server)).toEqual([loopback(server.port)]);
  });

  it('has the accept queue of the contract, and sends answers immediately', async ({ skip }) => {
    const { deviates } = ready.get().variant;
    for (const { server, draws } of all) {
      const [request] = firstDraw(draws).requests;
      const connection = await vi.waitFor(() => openConnection(server, request!), START_SECONDS * 1000);
      if (server === one.server) started.get(wanted)!.connection = connection;
      // A server that closes each connection has none that is idle, but it waits for a request on this one.
      const waiting = connect(server.port, server.host);
      const look = async (): Promise<boolean> => {
        const seen = await readSockets(server);
        if (seen === undefined) return false;
        expect({ seen, backlog: seen.backlog >= leastBacklog(), nodelay: seen.noDelay }).toMatchObject({
          backlog: !deviates.includes('backlog'),
          nodelay: !deviates.includes('nodelay'),
        });
        return true;
      };
      // A server sets the options of a connection after the kernel has accepted it.
      const isSeen = await vi.waitFor(look, { timeout: 10_000 }).finally(() => waiting.destroy());
      if (server !== one.server) connection.close();
      skip(!isSeen, 'needs Linux, and the right to look at the sockets of other processes');
    }
  });
}

function testEnd(wanted: Target, ready: Need<Prepared>, started: Map<Target, Started>): void {
  afterAll(async () => {
    const servers = started.get(wanted);
    servers?.connection?.close();
    await servers?.one.server.stop();
  });

  it(`keeps a connection that was idle for ${IDLE_SECONDS} s`, async () => {
    const servers = started.get(wanted)!;
    const { one } = servers;
    // The targets in between took most of that time, or all that a server waits if their environments were missing.
    if (servers.connection === undefined || servers.connection.idleSeconds() > LONGEST_IDLE_SECONDS) {
      servers.connection?.close();
      servers.connection = await openConnection(one.server, firstDraw(one.draws).requests[0]!);
    }
    const idle = servers.connection;
    await sleep(Math.max(0, IDLE_SECONDS - idle.idleSeconds()) * 1000);
    expect(await idle.isReused()).toBe(!ready.get().variant.deviates.includes('keep-alive'));
  });

  it('stops on SIGTERM', async () => {
    for (const { server } of started.get(wanted)!.all) {
      // The second one was already stopped: this returns how.
      const { trouble } = await server.stop();
      expect({ trouble, end: server.ended() }).toEqual({ trouble: [], end: 'exit status 0' });
    }
  });
}

/** Returns the text that pins the versions of a stack: its locks, the lock of its language's workspace, and the catalog. */
function locksOf({ root }: Stack): string {
  const own = globSync(['requirements*.txt', 'go.mod', '*.csproj', 'package.json'], { cwd: root });
  const shared = ['../rustcontract/Cargo.lock', '../../pnpm-workspace.yaml'];
  const files = [...own, ...(existsSync(join(root, 'Cargo.toml')) ? shared : shared.slice(1))];
  return files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
}

function firstDraw(draws: Running['draws']): Draw {
  return drawOf(draws, Object.keys(draws)[0] ?? 'any workload');
}

function drawOf(draws: Running['draws'], workload: string): Draw {
  const draw = draws[workload];
  if (draw === undefined) throw new Error(`nothing was drawn for ${workload}`);
  return draw;
}

/**
 * Waits until that many workers have attested, or until the server has ended or has had its time: the tests then report
 * what is wrong. Returns the attestations. Asking the server until it answers would take as much CPU as its start.
 */
async function awaitWorkers(server: Server, workers: number): Promise<Attestation[]> {
  const settled = (): boolean =>
    server.ended() !== undefined || countWorkers(server.attestations()) >= workers;
  const milliseconds = (START_SECONDS * 1000) / 2;
  await pWaitFor(settled, { interval: POLL_MS, timeout: { milliseconds, fallback: () => {} } });
  return server.attestations();
}

/**
 * Describes how a target starts its workers: what stacks of one language share does that, in its own way for each server
 * that it attests.
 */
function kindOf({ stack: { language }, variant }: Prepared, attested?: Attestation): string {
  const threads = variant.command.some((word) => word.includes('{threads}'));
  return JSON.stringify([language, attested?.['server'], threads]);
}

/** Returns parameters that no server assumes by itself, or the least if every response would take too long. */
function otherOf(workload: Workload): Params {
  const usual = Object.entries(completeParams(workload, {}));
  const other = Object.fromEntries(usual.map(([name, value]) => [name, value + 1]));
  const waitSeconds = workload.waitSeconds?.(other) ?? 0;
  return waitSeconds > LONGEST_WAIT_SECONDS ? leastOf(workload) : other;
}

/** Returns the least parameters, whose response differs from the usual one. */
function leastOf({ params = {} }: Workload): Params {
  return Object.fromEntries(Object.entries(params).map(([name, { least }]) => [name, least]));
}
