import { describe, expect, it } from 'vitest';
import { BenchError } from 'bench-model/errors';
import type { Trial } from 'bench-model/record';
import { placeOn, type PinnedCommands } from 'bench-machine/placement';
import { run } from '../../src/measure/run.ts';
import type { Plan } from 'bench-model/plan';
import { benchOptions } from 'bench-model/options';
import { makePlan } from '../../src/plan/plan.ts';
import {
  failedTrial,
  okTrial,
  sampleMeasured,
  samplePlan,
  sampleStack,
} from '../../../bench-lab/testing/samples.ts';
import { createWorld, prepareFor, type Twist, type World } from './world.ts';

const placed: PinnedCommands = { placement: { kind: 'unpinned' }, server: [], generator: [] };

const PLAN = samplePlan('--rounds 2 --connections 10,100', ['vanilla', 'fastify']);

async function runIn(
  twist: Twist,
  plan: Plan = PLAN,
  before: Trial[] = [],
): Promise<{ world: World; trials: Trial[] }> {
  const world = createWorld(twist);
  const trials = await run(plan, { placed, prepared: prepareFor(plan), before }, world.effects);
  return { world, trials };
}

const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

describe('run', () => {
  it('measures every trial of the plan, in order', async () => {
    const { world, trials } = await runIn({});
    expect(trials).toHaveLength(8);
    expect(idsOf(trials)).toEqual(idsOf(PLAN.trials));
    expect(
      trials.map(({ target, connections, round, seed, order }) => [
        target.id,
        connections,
        round,
        seed,
        order,
      ]),
    ).toEqual(
      PLAN.trials.map(({ target, connections, round, seed, order }) => [
        target,
        connections,
        round,
        seed,
        order,
      ]),
    );
    expect(world.recorded).toEqual(trials);
  });

  it('records each trial after its server has stopped and before the next begins', async () => {
    const { world } = await runIn({});
    const marks = world.done.filter((what) => /^(launch|stop|record)/.test(what));
    expect(marks).toEqual(PLAN.trials.flatMap(({ id }) => [`launch ${id}`, 'stop', `record ${id}`]));
  });

  it('reports its progress', async () => {
    const { world, trials } = await runIn({});
    expect(world.events).toEqual(
      PLAN.trials.flatMap((planned, done) => [
        { kind: 'started', planned, done, of: 8 },
        { kind: 'ended', trial: trials[done], done: done + 1, of: 8 },
      ]),
    );
  });

  it('measures each size of a server with its own workers, threads and cores', async () => {
    const options = benchOptions({ targets: ['granian'], connections: [10], rounds: 1, scale: [1, 2] });
    const granian = sampleStack('granian', { asgi: { command: ['granian', '--threads={threads}'] } });
    const plan = makePlan({ ...options, machineCores: 8 }, [granian], 'a-run', 1);
    const cores = Array.from({ length: 8 }, (_, id) => ({ id, siblings: [id] }));
    const eight = placeOn(cores, { serverCores: 2, generators: plan.generators });
    const { effects } = createWorld({ attestations: () => [{ pid: 1, workers: 2 }] });
    const trials = await run(plan, { placed: eight, prepared: prepareFor(plan), before: [] }, effects);
    const found = trials.map(({ target, workers, threads, cores: own, placement }) => [
      target.id,
      { workers, threads, cores: own, server: placement.server, generator: placement.generator },
    ]);
    const generator = [0, 1, 2, 3, 4, 5];
    expect(Object.fromEntries(found)).toEqual({
      'granian (1 worker)': { workers: 1, threads: 1, cores: 1, server: [7], generator },
      'granian (2 threads)': { workers: 1, threads: 2, cores: 2, server: [6, 7], generator },
      'granian (2 workers)': { workers: 2, threads: 1, cores: 2, server: [6, 7], generator },
    });
  });

  it('continues after a failed trial, and records it', async () => {
    const { world, trials } = await runIn({
      at: {
        launch: (count) => {
          if (count === 3) throw new BenchError('trial', 'port 3000 is taken');
        },
        arm: (count) => {
          if (count === 5) throw new Error('no such generator');
        },
      },
    });
    expect(trials.map(({ status }) => status)).toEqual([
      'ok',
      'ok',
      'failed',
      'ok',
      'ok',
      'failed',
      'ok',
      'ok',
    ]);
    expect(world.recorded).toEqual(trials);
    expect(trials[2]).toMatchObject({ reasons: [{ code: 'trial', text: 'port 3000 is taken' }] });
    expect(world.done.filter((what) => what === 'stop')).toHaveLength(7);
  });

  it('does not repeat recorded trials', async () => {
    const before = PLAN.trials.slice(0, 3).map(({ id, target, connections, round, order }) => ({
      ...okTrial(target, sampleMeasured(), { connections, round, order }),
      id,
    }));
    const { world, trials } = await runIn({}, PLAN, before);
    expect(trials.slice(0, 3)).toEqual(before);
    expect(idsOf(trials)).toEqual(idsOf(PLAN.trials));
    expect(idsOf(world.recorded)).toEqual(idsOf(PLAN.trials.slice(3)));
    expect(world.events[0]).toMatchObject({ kind: 'started', done: 3, of: 8 });
  });

  it('does not repeat failed trials, and measures nothing if all are recorded', async () => {
    const [first] = PLAN.trials;
    const failed = { ...failedTrial(first!.target, 'it died'), id: first!.id };
    const { world } = await runIn({}, PLAN, [failed]);
    expect(idsOf(world.recorded)).toEqual(idsOf(PLAN.trials.slice(1)));
    const again = await runIn({}, PLAN, [failed, ...world.recorded]);
    expect(again.world.done).toEqual([]);
  });

  it('stops when it is decided, and keeps the trials so far', async () => {
    const { world, trials } = await runIn({ decide: (kept) => (kept.length >= 3 ? 'stop' : 'continue') });
    expect(idsOf(trials)).toEqual(idsOf(PLAN.trials.slice(0, 3)));
    expect(world.done.filter((what) => what.startsWith('launch'))).toHaveLength(3);
  });

  it('omits trials that are no longer due, and corrects the number of trials', async () => {
    const { world, trials } = await runIn({
      due: (kept) => (planned) => kept.length < 4 || planned.target === 'vanilla',
    });
    const last = PLAN.trials.slice(4).filter(({ target }) => target === 'vanilla');
    expect(idsOf(trials)).toEqual(idsOf([...PLAN.trials.slice(0, 4), ...last]));
    expect(world.events.at(-1)).toMatchObject({ kind: 'ended', done: 6, of: 6 });
  });

  it('stops the server of an interrupted trial, and drops the trial', async () => {
    let interrupted = false;
    const { world, trials } = await runIn({
      interrupted: () => interrupted,
      at: {
        fire: (count) => {
          // Two slices of warm-up before the window of each trial.
          interrupted ||= count === 5;
        },
      },
    });
    expect(trials).toHaveLength(1);
    expect(world.recorded).toHaveLength(1);
    expect(world.done.at(-1)).toBe('stop');
  });

  it('decides by all trials, including earlier ones', async () => {
    const seen: number[] = [];
    const before = [{ ...okTrial('vanilla', sampleMeasured()), id: PLAN.trials[0]!.id }];
    await runIn(
      {
        decide: (trials) => {
          seen.push(trials.length);
          return trials.length > 1 ? 'stop' : 'continue';
        },
      },
      PLAN,
      before,
    );
    expect(seen).toEqual([1, 2]);
  });

  it('omits targets that could not be prepared', async () => {
    const world = createWorld();
    const prepared = prepareFor(PLAN).filter(({ target }) => target.id === 'fastify');
    const trials = await run(PLAN, { placed, prepared, before: [] }, world.effects);
    expect(new Set(trials.map(({ target }) => target.id))).toEqual(new Set(['fastify']));
    expect(world.events.at(-1)).toMatchObject({ done: 4, of: 4 });
  });

  it('measures a running server with the workload url, and records the request', async () => {
    const plan = samplePlan('http://127.0.0.1:3000/a --rounds 2 --connections 10', []);
    const sent = { requests: [{ method: 'GET', path: '/a', weight: 1, headers: [], check: 'bytes' }] };
    const world = createWorld();
    const prepared = plan.targets.map((target) => ({ target, attached: true as const, version: 'node' }));
    const trials = await run(plan, { placed, prepared, before: [] }, world.effects);
    expect(
      trials.map(({ status, target, workload, requests }) => [status, target.class, workload, requests]),
    ).toEqual([1, 2].map(() => ['ok', 'unknown', 'requests', sent]));
  });

  it('stops if a trial cannot be recorded', async () => {
    const world = createWorld();
    world.effects.record = async () => {
      throw new BenchError('usage', 'no space left on device');
    };
    const attempt = run(PLAN, { placed, prepared: prepareFor(PLAN), before: [] }, world.effects);
    await expect(attempt).rejects.toThrow('no space left');
    expect(world.done.filter((what) => what.startsWith('launch'))).toHaveLength(1);
    expect(world.done.at(-1)).toBe('stop');
  });
});
