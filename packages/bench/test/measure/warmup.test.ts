import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BenchError } from 'bench-model/errors';
import type { LoadSession } from 'bench-load/engine';
import type { Turn } from 'bench-load/protocol';
import type { Server } from 'bench-machine/launch';
import { startReference } from '../../src/measure/reference.ts';
import type { TrialEffects } from '../../src/measure/life.ts';
import { observeProcess } from '../../src/measure/warmup.ts';
import { pairsOf } from 'bench-analysis/warmup/study';
import type { StudiedProcess } from 'bench-model/study';
import { samplePlan, sampleCounts, sampleLoad } from '../../../bench-lab/testing/samples.ts';
import { createWorld, prepareFor } from './world.ts';

const placed = {
  placement: { kind: 'separate' as const, server: [1], generator: [0] },
  server: [],
  generator: [],
};
/** The pace of every server of this world. */
const ANSWERS_PER_SECOND = 10_000;
/** The CPU of an answer of the reference. */
const REFERENCE_US = 10;

/** The differences from a world in which all goes well. */
interface Twist {
  /** The CPU of an answer of the fresh process, by the number of its answers so far. */
  costUs?: (answers: number) => number;
  /** The CPU that the fresh process uses between two of its turns. */
  besideUs?: number;
  /** Called before each turn with its number. */
  onTurn?: (turn: number, which: 'fresh' | 'reference') => void;
  isStopped?: () => boolean;
}

const answersIn = (seconds: number) => Math.round(seconds * ANSWERS_PER_SECOND);

/** A world with a separate clock: a turn takes exactly its time. */
async function observe(twist: Twist, seconds = 2): Promise<{ studied: StudiedProcess; turns: string[] }> {
  const plan = samplePlan('--connections 10 --rounds 1 --no-interleave', ['vanilla', 'fastify']);
  const world = createWorld();
  const turns: string[] = [];
  const launched = new Map<Server, 'fresh' | 'reference'>();
  const cpuUs = { fresh: 0, reference: 0 };
  const session = (which: 'fresh' | 'reference'): LoadSession => {
    let ok = 10;
    const take = async ({ rampSeconds, windowSeconds }: Turn) => {
      turns.push(which);
      // While one side has its turn, the other rests.
      if (which === 'reference') cpuUs.fresh += twist.besideUs ?? 0;
      twist.onTurn?.(turns.length, which);
      const length = rampSeconds + windowSeconds;
      const answers = answersIn(length);
      const cost = which === 'fresh' ? (twist.costUs ?? (() => REFERENCE_US))(ok) : REFERENCE_US;
      cpuUs[which] += answers * cost;
      ok += answers;
      vi.advanceTimersByTime(1000 * length);
      return { seconds: length, answers, goodputPerSecond: answers / length };
    };
    return {
      pids: [],
      beside: () => session('fresh'),
      arm: async () => {},
      count: async () => sampleCounts({ ok }),
      fire: () => Promise.reject(new Error('a long window')),
      turns: { take, collect: async () => sampleLoad() },
      async [Symbol.asyncDispose]() {},
    };
  };
  const effects: TrialEffects = {
    ...world.effects,
    companions: [],
    async launch(prepared, planned, draw) {
      const server = await world.effects.launch(prepared, planned, draw);
      launched.set(server, planned.target === 'reference' ? 'reference' : 'fresh');
      return server;
    },
    meter: (server) => ({
      source: 'cgroup v2',
      readUs: () => cpuUs[launched.get(server) ?? 'fresh'],
    }),
    load: () => ({ name: 'fake', open: () => session('reference') }),
  };
  await using reference = await startReference(plan, placed, effects);
  const planned = plan.trials[0]!;
  const prepared = prepareFor(plan).find(({ target }) => target.id === planned.target)!;
  const setup = { reference, effects, seconds, isStopped: twist.isStopped ?? (() => false) };
  const studied = await observeProcess(
    { planned, context: { plan, placed, prepared, target: prepared.target } },
    setup,
  );
  return { studied, turns };
}

/** The ratios of CPU per request, rounded. */
const ratiosOf = (studied: StudiedProcess) =>
  pairsOf(studied).map(({ cpuRatio }) => Number(cpuRatio.toFixed(3)));

describe('the observation of a fresh process', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('takes turns with the reference so that a drift of the machine affects both alike', async () => {
    const { studied, turns } = await observe({});
    expect(
      turns
        .slice(0, 9)
        .map(([first]) => first)
        .join(''),
    ).toBe('rfrrffrrf');
    expect(studied).toMatchObject({ status: 'ok', reasons: [], process: 1, cpuSource: 'cgroup v2' });
    expect(studied.course?.seconds.at(-1)).toBeGreaterThan(1.5);
    expect(new Set(ratiosOf(studied))).toEqual(new Set([1]));
  });

  it('finds the cost of each stretch of its life, and its age', async () => {
    const { studied } = await observe({ costUs: (answers) => (answers < 5000 ? 20 : 15) });
    const pairs = pairsOf(studied);
    const dear = pairs.filter(({ cpuRatio }) => cpuRatio > 1.9);
    expect(new Set(ratiosOf(studied))).toEqual(new Set([2, 1.5]));
    // The answers are those of the process: ten before its first turn, and all of its turns.
    expect(dear.at(-1)?.answers).toBeGreaterThanOrEqual(5000);
    expect(dear.at(-2)?.answers).toBeLessThan(5000);
    expect(pairs[0]?.answers).toBe(10 + (studied.course?.fresh.answers[0] ?? 0));
    const seconds = pairs.map((pair) => pair.seconds);
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
  });

  it('counts the work that a server does between its turns apart', async () => {
    const { studied } = await observe({ besideUs: 500 });
    const { cpuUs = [], answers, restsCpuUs } = studied.course!.fresh;
    expect(cpuUs).toEqual(answers.map((count) => count * REFERENCE_US));
    // One turn of the reference for each turn of the process.
    expect(restsCpuUs).toBeCloseTo(500 * cpuUs.length, -3);
    expect(studied.course?.reference.restsCpuUs).toBe(0);
  });

  it('keeps what it has seen of a process that fails', async () => {
    const { studied } = await observe({
      onTurn(turn) {
        if (turn === 8) throw new BenchError('trial', 'the server died under load (exit status 1)');
      },
    });
    expect(studied).toMatchObject({
      status: 'failed',
      reasons: [{ text: 'the server died under load (exit status 1)' }],
    });
    expect(studied.course?.seconds).toHaveLength(3);
    expect(studied.course?.fresh.answers).toHaveLength(3);
  });

  it('keeps what it has seen when it is interrupted', async () => {
    let isStopped = false;
    const { studied } = await observe({
      isStopped: () => isStopped,
      onTurn(turn) {
        if (turn !== 8) return;
        isStopped = true;
        throw new BenchError('trial', 'the server died under load (interrupted)');
      },
    });
    expect(studied).toMatchObject({ status: 'cut', reasons: [] });
    expect(studied.course?.seconds).toHaveLength(3);
    expect(studied.course?.fresh.answers).toHaveLength(3);
  });
});
