/** Sample values with defaults, which a test overrides where it needs others: nothing here is measured. */

import { RECORD_SCHEMA } from 'bench-model/versions';
import type { Reason } from 'bench-model/reasons';
import type { Measured } from 'bench-model/measured';
import type { LoadResult, OwnLoadResult } from 'bench-model/load';
import type { FailedTrial, OkTrial, SuspectTrial, Trial, TrialHead } from 'bench-model/record';
import type { Target } from 'bench-model/target';
import type { Counts, Resources } from 'bench-model/figures';
import type { BackgroundUse } from 'bench-model/companions';
import { METRIC_IDS } from 'bench-model/metrics';
import type { BenchOptions } from 'bench-model/options';
import type { Stack, Variant } from 'bench-model/stack';
import { BenchError } from 'bench-model/errors';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import BENCH from 'bench-http/commands/bench';
import { makePlan } from 'bench-http/plan/plan';
import type { Plan } from 'bench-model/plan';
import type { Evidence } from 'bench-analysis/judge/judge';
import { readRun, type StoredRun } from 'bench-analysis/results/store';

const GOLDEN_RUN = fileURLToPath(new URL('fixtures/run/', import.meta.url));

/** The committed run: eight trials as they were measured and four that were edited by hand. */
export function readGoldenRun(): StoredRun {
  return readRun(GOLDEN_RUN);
}

/** The text of a file beside the tests. */
export function readFixture(path: string): string {
  return readFileSync(new URL(`fixtures/${path}`, import.meta.url), 'utf8');
}

/** Returns the error for users that a call must throw. */
export function errorOf(call: () => unknown): BenchError {
  try {
    call();
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** One stack whose variants all run the same command. */
export function sampleStack(name: string, variants: Record<string, Partial<Variant>> = { node: {} }): Stack {
  const complete = Object.entries(variants).map(([variant, given]): [string, Variant] => [
    variant,
    {
      command: ['{runtime}', 'server.ts', '{port}'],
      groups: [],
      build: [],
      env: {},
      workloads: ['devices'],
      class: 'framework',
      scheme: 'http',
      attest: {},
      deviates: [],
      ...given,
    },
  ]);
  return {
    name,
    language: 'typescript',
    framework: name,
    runtime: 'node',
    build: [],
    runtimes: [],
    default: Object.keys(variants)[0] ?? '',
    variants: Object.fromEntries(complete),
    root: `/stacks/${name}`,
    manifest: `stacks/${name}/stack.json`,
  };
}

/** A machine that holds many servers at the same time. */
export const CAPACITY = { servers: 100, connections: 100_000 };

/** Options of a plan that no command line sets. */
interface PlanGiven extends Partial<BenchOptions> {
  /** The schedule of its sequential test. */
  looks?: string;
}

/** Reads a command line of `bench` whose words name targets, also those that no manifest has. */
export function parseBench(words: readonly string[]): ReturnType<typeof BENCH.parse> {
  const { revisions = [], targets, ...rest } = BENCH.parse(words);
  return { ...rest, targets: [...targets, ...revisions] };
}

/** The plan that a command line, with quotes as in a shell, asks for, of stacks with these names. */
export function samplePlan(
  line: string,
  names = ['vanilla', 'fastify'],
  { looks, seed = 1, ...given }: PlanGiven = {},
): Plan {
  const words = line.match(/"[^"]*"|\S+/g) ?? [];
  const options = BENCH.parse(words.map((word) => word.replaceAll('"', '')));
  const { sequentialTest, workload, servers } = options;
  const stacks = names.map((name) => sampleStack(name, { node: { workloads: [workload] } }));
  return makePlan(
    {
      ...options,
      ...(sequentialTest !== undefined && looks !== undefined
        ? { sequentialTest: { ...sequentialTest, looks } }
        : {}),
      ...given,
      targets: servers ? [] : names,
    },
    stacks,
    '20261120-120000-devices',
    seed,
  );
}

/** The same for servers that take turns, whatever the number of rounds. */
export function sampleTurns(line = '', names?: string[]): Plan {
  return samplePlan(line, names, { interleave: true });
}

/** Counts in which `sent` is the sum of the others. */
export function sampleCounts(given: Partial<Counts> = {}): Counts {
  const parts = {
    ok: 0,
    non2xx: 0,
    mismatch: 0,
    timeout: 0,
    reset: 0,
    closedEarly: 0,
    inFlight: 0,
    ...given,
  };
  const { ok, non2xx, mismatch, timeout, reset, closedEarly, inFlight } = parts;
  return { sent: ok + non2xx + mismatch + timeout + reset + closedEarly + inFlight, ...parts };
}

/** The sum of the parts of an account, which must equal `sent`. */
export function sumOf(counts: Counts): number {
  const { ok, non2xx, mismatch, timeout, reset, closedEarly, inFlight } = counts;
  return ok + non2xx + mismatch + timeout + reset + closedEarly + inFlight;
}

/** A quiet window of 5 s: 10 connections, a cycle of 1 ms, 50,000 correct responses, a generator at a quarter. */
export function sampleLoad(given: Partial<OwnLoadResult> = {}): OwnLoadResult {
  const counts = given.counts ?? sampleCounts({ ok: 50_000, inFlight: 10 });
  return {
    engine: 'autocannon',
    connect: { planned: 10, established: 10, seconds: 0.02, refused: 0, retried: 0 },
    windowSeconds: 5,
    openedAtMs: 1_795_180_000_000,
    closedAtMs: 1_795_180_005_000,
    counts,
    lifetime: counts,
    statusCodes: { 200: counts.ok },
    goodputPerSecond: counts.ok / 5,
    completionsPerSecond: (counts.sent - counts.inFlight) / 5,
    latencyUs: { mean: 980, p50: 950, p99: 2000, max: 9000 },
    latencyHistogram: undefined,
    meanCycleUs: 1000,
    silentConnections: 0,
    slices: { milliseconds: 250, ok: Array<number>(20).fill(2500) },
    bodyBytes: 541,
    bodiesHashed: 782,
    generators: [{ cpuUs: 1_250_000, seconds: 5, utilisation: 0.25 }],
    ...given,
  };
}

/** Seven requests that were answered, and one that was cancelled. */
export function sampleBackground(given: Partial<BackgroundUse> = {}): BackgroundUse {
  return { seconds: 7, sent: 8, statusCodes: { 200: 7 }, lost: 0, cancelled: 1, ...given };
}

/** A process tree that used this many cores for 5 s. */
export function sampleResources(coresUsed: number): Resources {
  return {
    source: 'cgroup v2',
    scope: 'process tree',
    seconds: 5,
    cpuUserUs: coresUsed * 4e6,
    cpuSystemUs: coresUsed * 1e6,
    coresUsed,
  };
}

/** The evidence of a quiet window of a server with one core. */
export function sampleEvidence(given: Partial<Evidence> = {}): Evidence {
  return {
    load: sampleLoad(),
    server: sampleResources(0.5),
    budgetCores: 1,
    isShared: false,
    workers: 1,
    attested: [],
    host: {},
    companions: [],
    mode: { mode: 'closed' },
    ...given,
  };
}

/** A sample load by another engine, which reports only the required fields. */
export function sampleTold(given: Partial<LoadResult> = {}): LoadResult {
  return {
    engine: 'wrk',
    connect: { planned: 10 },
    windowSeconds: 5,
    openedAtMs: 1_795_180_000_000,
    closedAtMs: 1_795_180_005_000,
    counts: { ok: 50_000 },
    goodputPerSecond: 10_000,
    completionsPerSecond: 10_000,
    latencyUs: undefined,
    generators: [{ cpuUs: 1_250_000, seconds: 5, cores: 2 }],
    ...given,
  };
}

/** The target of a stack's default variant. */
export function sampleTarget(id: string): Target {
  return {
    id,
    stack: id,
    variant: 'node',
    class: 'framework',
    language: 'typescript',
    framework: id,
    runtime: { kind: 'node', spec: '26' },
  };
}

function sampleHead(target: string, given: Partial<TrialHead>): TrialHead {
  const { connections = 10, round = 1, order = 0 } = given;
  return {
    schema: RECORD_SCHEMA,
    id: `${String(order + 1).padStart(3, '0')}-${target}-c${connections}-r${round}`,
    run: '20261120-120000-devices',
    target: sampleTarget(target),
    attested: [],
    workload: 'devices',
    connections,
    round,
    order,
    seed: 1,
    startedAt: '2026-11-20T12:00:00.000Z',
    engine: 'autocannon',
    load: { mode: 'closed' },
    workers: 1,
    placement: { kind: 'separate', server: [1], generator: [0] },
    warmupSeconds: 2,
    timeoutSeconds: 10,
    ...given,
  };
}

/** The result of a window, with these figures. */
export function sampleMeasured(
  figures: { goodput?: number; cpu?: number; given?: Partial<Measured> } = {},
): Measured {
  const { goodput, cpu, given } = figures;
  return {
    load: sampleLoad(goodput === undefined ? {} : { goodputPerSecond: goodput }),
    ...(cpu === undefined ? {} : { cpuUsPerRequest: cpu }),
    limit: 'waiting',
    shape: 'flat',
    host: {},
    ...given,
  };
}

export function okTrial(target: string, measured: Measured, head: Partial<TrialHead> = {}): OkTrial {
  return { ...sampleHead(target, head), files: [], status: 'ok', reasons: [], measured };
}

export function suspectTrial(
  target: string,
  measured: Measured,
  reasons: Reason[],
  head: Partial<TrialHead> = {},
): SuspectTrial {
  return { ...sampleHead(target, head), files: [], status: 'suspect', reasons, measured };
}

export function failedTrial(target: string, text: string, head: Partial<TrialHead> = {}): FailedTrial {
  const reason: Reason = {
    code: 'trial',
    text,
    invalidates: [...METRIC_IDS],
  };
  return { ...sampleHead(target, head), files: [], status: 'failed', reasons: [reason] };
}

/** A trial as it reads back from a file. */
export function asStored(trial: Trial): Record<string, unknown> {
  return JSON.parse(JSON.stringify(trial)) as Record<string, unknown>;
}
