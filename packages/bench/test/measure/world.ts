/** Fake effects that launch and send nothing: they record every step in order. */

import type { RunEvent } from 'bench-model/planned';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import type { Attestation, Target } from 'bench-model/target';
import type { BackgroundUse } from 'bench-model/companions';
import type { LoadResult } from 'bench-model/load';
import type { Trial } from 'bench-model/record';
import type { Server, Stopped } from 'bench-machine/launch';
import type { LoadSession, Window } from 'bench-load/engine';
import type { LoadSpec, Turn } from 'bench-load/protocol';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { Sampled } from 'bench-machine/resources/sampler';
import type { SeenServer } from '../../src/measure/outside.ts';
import type { RunEffects } from '../../src/measure/run.ts';
import type { Plan } from 'bench-model/plan';
import { beginTrial as beginBackground, type Background } from '../../src/services/background/companion.ts';
import type { RunningCompanion } from '../../src/services/companion.ts';
import { beginTrial as beginTable } from '../../src/services/database/companion.ts';
import { beginTrial as beginUpstream } from '../../src/services/upstream/companion.ts';
import type { UpstreamLook } from '../../src/services/upstream/upstream.ts';
import {
  sampleCounts,
  sampleBackground,
  sampleLoad,
  sampleStack,
} from '../../../bench-lab/testing/samples.ts';

/** Every step that can fail. */
export type Step =
  | 'launch'
  | 'ready'
  | 'verify before the load'
  | 'verify after the load'
  | 'collect garbage'
  | 'resources'
  | 'idle'
  | 'open'
  | 'arm'
  | 'fire'
  | 'turn'
  | 'sample start'
  | 'sample stop'
  | 'look'
  | 'table'
  | 'count rows'
  | 'drop'
  | 'stop';

/** The differences from a world without errors. */
export interface Twist {
  /** Runs at the beginning of a step; the step throws what it throws. */
  at?: Partial<Record<Step, (count: number) => void | Promise<void>>>;
  load?: LoadResult;
  /** Returns the result of each window, instead of `load`. */
  fire?: (window: Window) => LoadResult;
  /** The number of responses that are checked until the server is ready, and at each verification. */
  asks?: { ready: number; verify: number };
  /** The processes that collect garbage before the load; without it there is no Node server. */
  collected?: number;
  /** The cores that the server may use when its window opens, and when it has closed; without it, they are unknown. */
  cores?: [opened: number[], closed: number[]];
  /** What is seen of the server from outside. */
  seen?: Partial<SeenServer>;
  /** True for a server that was already running. */
  isAttached?: boolean;
  /** The result of each check of the upstream; without it there is no upstream. */
  looks?: UpstreamLook[];
  /** The number of rows at the end; without it there is no database. */
  stored?: number;
  sampled?: Sampled | 'none';
  attestations?: () => Attestation[];
  /** Records which server each window loads, and for how long. */
  tellWindows?: boolean;
  /** Reads the CPU of each companion; by default it cannot be read between turns. */
  besideUs?: () => number;
  /** Lets the engine take short turns, between which the CPU of the servers can be read. */
  turns?: boolean;
  /** The correct responses of each short turn. */
  answers?: number;
  /** The CPU of a server in a turn, that of its responses in the rest after it, in µs, and its upkeep in µs per second. */
  cpuUs?: { turn: number; rest: number; upkeep?: number };
  /** Returns how the server ended; undefined while it runs. */
  ended?: () => string | undefined;
  /** The number of answers to background requests so far. */
  answeredBeside?: number;
  /** The outcome of a background request. */
  background?: BackgroundUse;
  stopped?: Stopped;
  decide?: (trials: Trial[]) => 'continue' | 'stop';
  due?: RunEffects['due'];
  interrupted?: () => boolean;
}

export interface World {
  effects: RunEffects;
  /** The steps so far. */
  done: string[];
  events: RunEvent[];
  recorded: Trial[];
  /** Has the server on a port use CPU, in µs. */
  spend(port: number, us: number): void;
}

export const SAMPLED = {
  server: {
    source: 'cgroup v2',
    scope: 'process tree',
    seconds: 5,
    cpuUserUs: 2e6,
    cpuSystemUs: 0.5e6,
    coresUsed: 0.5,
    idleBytes: 40e6,
    loadedBytes: 50e6,
    peakBytes: 60e6,
    contextSwitches: 100_000,
    processes: 1,
  },
  host: { otherProcessesCores: 0.01, harnessCores: 0.01 },
} satisfies Sampled;

export function createWorld(twist: Twist = {}): World {
  const done: string[] = [];
  const events: RunEvent[] = [];
  const recorded: Trial[] = [];
  const counts = new Map<Step, number>();
  let hasMeasured = false;
  /** The CPU of each server so far by its port, and that of its responses for the next rest, in µs, without its upkeep. */
  const spent = new Map<string, number>();
  const owed = new Map<string, number>();
  let nowMs = 0;
  /** The windows of each server so far by its port. */
  const windows = new Map<string, number>();
  const reach = async (step: Step, what = ''): Promise<void> => {
    done.push(`${step}${what}`);
    const count = (counts.get(step) ?? 0) + 1;
    counts.set(step, count);
    await twist.at?.[step]?.(count);
  };
  const session = ({ port: bound, requests: [request] }: LoadSpec, port = String(bound)): LoadSession => ({
    pids: [4711],
    beside: (spec) => session(spec),
    async leave() {
      done.push('leave');
    },
    async arm() {
      await reach('arm', twist.tellWindows ? ` ${request?.path}` : '');
    },
    async fire(window, mark) {
      mark('opened');
      await reach('fire', twist.tellWindows ? ` ${port} ${window.windowSeconds}` : '');
      mark('closed');
      // The load of all windows so far.
      const load = twist.load ?? sampleLoad();
      if (window.windowSeconds > 0) {
        hasMeasured = true;
        windows.set(port, (windows.get(port) ?? 0) + 1);
      }
      return (
        twist.fire?.(window) ?? { ...load, windowSeconds: load.windowSeconds * (windows.get(port) ?? 1) }
      );
    },
    ...(twist.turns === true && {
      turns: {
        async take({ windowSeconds }: Turn) {
          await reach('turn', ` ${port} ${windowSeconds}`);
          spent.set(port, (spent.get(port) ?? 0) + (twist.cpuUs?.turn ?? 10_000));
          owed.set(port, twist.cpuUs?.rest ?? 0);
          nowMs += 25;
          return { seconds: 0.025, answers: twist.answers ?? 1000, goodputPerSecond: 40_000 };
        },
        async collect() {
          done.push(`collect ${port}`);
          return twist.load ?? sampleLoad();
        },
      },
    }),
    async replace([first]) {
      done.push(`replace ${port} ${first?.path}`);
    },
    count: async () => (twist.load ?? sampleLoad()).lifetime ?? sampleCounts(),
    async [Symbol.asyncDispose]() {
      done.push('close');
    },
  });
  let launched = 0;
  const effects: RunEffects = {
    async launch(_prepared, planned, { env: { DATABASE_URL: url } = {} }) {
      await reach('launch', ` ${planned.id}${url === undefined ? '' : ` with ${url}`}`);
      return createServer(twist, reach, launched++);
    },
    async awaitRightAnswer(_server, draw) {
      await reach('ready');
      check(draw, twist.asks?.ready);
    },
    async verify(_server, draw, when) {
      await reach(`verify ${when}` as Step);
      check(draw, twist.asks?.verify);
      return [{ bytes: 541, sha256: 'abc' }];
    },
    async collect() {
      if (twist.collected !== undefined) await reach('collect garbage');
      return twist.collected;
    },
    load: () => ({
      name: 'fake',
      version: '0',
      open(spec) {
        done.push('open');
        // `open` is the only step that nobody waits for.
        void twist.at?.open?.(1);
        return session(spec);
      },
    }),
    readCores: () => twist.cores?.[hasMeasured ? 1 : 0],
    seeServer: async () => ({ attested: [], ...twist.seen }),
    async readCode(_server, { from }) {
      done.push('read code');
      return { from };
    },
    async resources() {
      await reach('resources');
      if (twist.sampled === 'none') return undefined;
      return {
        async idle() {
          await reach('idle');
          return 40e6;
        },
        start: (pids) => reach('sample start', ` ${pids.join()}`),
        async stop() {
          await reach('sample stop');
          return twist.sampled === undefined || twist.sampled === 'none' ? SAMPLED : twist.sampled;
        },
        [Symbol.dispose]() {
          done.push('sample end');
        },
      };
    },
    meter({ pid = 0 }) {
      // The pids of companions are higher than those of servers.
      if (pid > FIRST_PID) return twist.besideUs && { readUs: twist.besideUs };
      if (twist.turns !== true) return undefined;
      const port = String(FIRST_PORT + FIRST_PID - pid);
      let seen = 0;
      return {
        source: 'fake',
        readUs() {
          done.push(`read CPU ${port}`);
          const us = spent.get(port) ?? 0;
          // A reading that sees no turn follows a rest.
          const rested = us === seen ? us + (owed.get(port) ?? 0) : us;
          if (us === seen) owed.delete(port);
          spent.set(port, rested);
          seen = rested;
          return rested + ((twist.cpuUs?.upkeep ?? 0) * nowMs) / 1000;
        },
      };
    },
    companions: [
      ...(twist.looks === undefined ? [] : [createUpstream(twist.looks, reach)]),
      ...(twist.stored === undefined ? [] : [createDatabase(twist.stored, reach)]),
      createBackground(twist, done),
    ],
    now: () => Date.UTC(2026, 10, 20, 12),
    clock: {
      nowMs: () => nowMs,
      async pause(seconds) {
        done.push(`pause ${seconds}`);
        nowMs += 1000 * seconds;
      },
    },
    async record(trials) {
      for (const { id } of trials) done.push(`record ${id}`);
      recorded.push(...trials);
    },
    due: twist.due ?? (() => () => true),
    decide: twist.decide ?? (() => 'continue'),
    interrupted: twist.interrupted ?? (() => false),
    on: (event) => {
      events.push(event);
    },
  };
  const spend = (port: number, us: number): void => {
    spent.set(String(port), (spent.get(String(port)) ?? 0) + us);
  };
  return { effects, done, events, recorded, spend };
}

/** Passes answers to the check of a draw. */
function check(draw: Draw, count = 0): void {
  for (let answer = 0; answer < count; answer++)
    draw.check({ status: 200, contentType: 'text/plain', body: Buffer.alloc(0) }, 0);
}

/** Returns a companion for every target for which `head` returns a record. */
function companion(
  name: RunningCompanion['name'],
  head: (target: Target) => unknown,
  begin: RunningCompanion['begin'],
): RunningCompanion {
  return { name, head, begin, async [Symbol.asyncDispose]() {} };
}

function createDatabase(stored: number, reach: (step: Step) => Promise<void>): RunningCompanion {
  const opened = {
    env: { DATABASE_URL: 'postgresql://127.0.0.1/trial' },
    async countInserts() {
      await reach('count rows');
      return stored;
    },
    [Symbol.asyncDispose]: () => reach('drop'),
  };
  const head = { kind: 'embedded', version: '18.4', maxConnections: 500 };
  return companion(
    'database',
    () => head,
    async ({ table = { rows: [] } }) => {
      await reach('table');
      return beginTable(opened, table, () => undefined);
    },
  );
}

function createUpstream(looks: UpstreamLook[], reach: (step: Step) => Promise<void>): RunningCompanion {
  const left = [...looks];
  const upstream = {
    env: {},
    process: () => ({ pid: 4720 }),
    async look() {
      await reach('look');
      return left.shift() ?? { requests: 0, fetchUs: 0 };
    },
  };
  return companion(
    'upstream',
    () => ({ kind: 'nginx', version: '1.22.1' }),
    ({ fetches = 0 }) => beginUpstream(upstream, fetches, () => {}),
  );
}

/** Returns a companion for the targets that the plan disturbs, by the request in their ids. */
function createBackground(twist: Twist, done: string[]): RunningCompanion {
  const request = { method: 'GET', path: '/fib/42' };
  const keep = (): Background => {
    done.push(`disturb by ${request.method} ${request.path}`);
    let ended = false;
    const end = (): BackgroundUse => {
      if (!ended) done.push('leave in peace');
      ended = true;
      return twist.background ?? sampleBackground();
    };
    return { answers: () => twist.answeredBeside ?? 0, end, [Symbol.dispose]: () => void end() };
  };
  return companion(
    'background',
    ({ repeats }) => (repeats?.kind === 'background' ? request : undefined),
    async () => beginBackground(request, keep),
  );
}

/** The first server of a world; the next ones have higher ports and lower pids. */
const [FIRST_PORT, FIRST_PID] = [3000, 4710];

function createServer(twist: Twist, reach: (step: Step) => Promise<void>, index: number): Server {
  return {
    host: '127.0.0.1',
    port: FIRST_PORT + index,
    pid: () => FIRST_PID - index,
    cgroup: undefined,
    startedAtMs: twist.isAttached === true ? undefined : performance.now() - 250,
    ended: () => twist.ended?.(),
    log: () => '',
    logTail: () => ['the last line'],
    attestations: () => twist.attestations?.() ?? [],
    async stop() {
      await reach('stop');
      return twist.stopped ?? { files: ['logs/a.log'], trouble: [] };
    },
    async [Symbol.asyncDispose]() {
      await this.stop();
    },
  };
}

/** Returns a prepared server for every target of a plan. */
export function prepareFor(plan: Plan, attest: Attestation = {}): Prepared[] {
  return plan.targets.map((target) => {
    const stack = sampleStack(target.stack, { node: { attest } });
    const variant = stack.variants['node']!;
    return {
      target,
      stack,
      variant,
      command: variant.command,
      env: {},
      claims: variant.attest,
      digest: target.copy?.name ?? 'abc',
      installed: [],
    };
  });
}
